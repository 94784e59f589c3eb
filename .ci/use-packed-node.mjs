// Runs an installed svcd on the chain of test/fixtures and compares every name with what the reference node says of it.
// Usage: use-packed-node.mjs FOLDER-OF-PROGRAMS

import { execFileSync, spawn } from "node:child_process"
import { mkdtempSync, readFileSync, rmSync } from "node:fs"
import { createServer } from "node:net"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { setTimeout as sleep } from "node:timers/promises"
import { fileURLToPath } from "node:url"
import { isDeepStrictEqual } from "node:util"
import { gunzipSync } from "node:zlib"

const programs = process.argv[2]
const fixtures = fileURLToPath(new URL("../test/fixtures/regtest-names/", import.meta.url))
const expected = JSON.parse(gunzipSync(readFileSync(join(fixtures, "tip-names.json.gz"))).toString("utf8"))

const freePort = () =>
  new Promise((resolve) => {
    const server = createServer().listen(0, "127.0.0.1", () => {
      const { port } = server.address()
      server.close(() => resolve(port))
    })
  })

const address = `127.0.0.1:${await freePort()}`
const datadir = mkdtempSync(join(tmpdir(), "svcd-packed-"))

const untilReady = async (node) => {
  for (const end = Date.now() + 120_000; Date.now() < end; await sleep(100)) {
    if (node.exitCode !== null) throw new Error(`svcd ended with ${node.exitCode}`)
    const answer = await fetch(`http://${address}/ready`).catch(() => undefined)
    if (answer?.status === 200) return
  }
  throw new Error("svcd was not ready after two minutes")
}

const call = async (method, ...params) => {
  const body = JSON.stringify({ jsonrpc: "2.0", id: 1, method, params })
  const { error, result } = await (await fetch(`http://${address}/`, { method: "POST", body })).json()
  if (error !== undefined) throw new Error(`${method} ${JSON.stringify(params)}: ${error.message}`)
  return result
}

/** A record as a node without a wallet gives it. */
const withoutOwner = ({ ismine: _, ...record }) => record

const compare = (what, got, wanted) => {
  if (isDeepStrictEqual(got, wanted)) return
  throw new Error(`${what}: got ${JSON.stringify(got)} instead of ${JSON.stringify(wanted)}`)
}

const node = spawn(join(programs, "svcd"), [
  ...["-network", "regtest", "-datadir", datadir, "-rpcaddr", address, "-maxpeers", "0"],
  ...["-loadblock", join(fixtures, "blocks.dat.gz")]
], { stdio: "inherit" })

try {
  await untilReady(node)
  const hex = { nameEncoding: "hex", valueEncoding: "hex" }
  for (const { history, nameHex, show } of expected.names) {
    compare(nameHex, withoutOwner(await call("name_show", nameHex, { ...hex, allowExpired: true })), show)
    compare(nameHex, (await call("name_history", nameHex, hex)).map(withoutOwner), history)
  }
  const cli = (...args) =>
    execFileSync(join(programs, "svcd-cli"), ["-rpcaddr", address, ...args], { encoding: "utf8" })
  compare("tip", cli("getbestblockhash").trim(), expected.tipHash)
  compare("name", JSON.parse(cli("name_show", "d/prairiefjord2763f65b")).expires_in, 23)
  console.log(`${expected.names.length} names and their histories are the reference node's`)
} finally {
  if (node.exitCode === null) {
    const ended = new Promise((resolve) => node.once("exit", resolve))
    node.kill("SIGTERM")
    await Promise.race([ended, sleep(15_000, undefined, { ref: false })])
    node.kill("SIGKILL")
  }
  rmSync(datadir, { recursive: true, force: true })
}
if (node.exitCode !== 0) throw new Error(`svcd ended with ${node.exitCode ?? node.signalCode}`)
