// An installed svcd with the chain of test/fixtures, on regtest and without peers.

import { spawn } from "node:child_process"
import { once } from "node:events"
import { createServer } from "node:net"
import { join } from "node:path"
import { setTimeout as sleep } from "node:timers/promises"
import { fileURLToPath } from "node:url"

/** The folder of the chain, and of what the reference node says about it. */
export const fixtures = fileURLToPath(new URL("../test/fixtures/regtest-names/", import.meta.url))

/** A loopback port that nobody listens on. */
export const freePort = () =>
  new Promise((resolve) => {
    const server = createServer().listen(0, "127.0.0.1", () => {
      const { port } = server.address()
      server.close(() => resolve(port))
    })
  })

/** Starts svcd, imports the chain, lets `use` work with it, and stops it. Whatever happens, nothing goes on running. */
export const withDaemon = async (programs, datadir, use) => {
  const address = `127.0.0.1:${await freePort()}`
  const node = spawn(join(programs, "svcd"), [
    ...["-network", "regtest", "-datadir", datadir, "-rpcaddr", address, "-maxpeers", "0"],
    ...["-loadblock", join(fixtures, "blocks.dat.gz"), "-loglevel", "warn"]
  ], { stdio: "inherit" })

  const untilReady = async () => {
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

  try {
    await untilReady()
    await use({ address, call })
  } finally {
    if (node.exitCode === null) {
      const ended = once(node, "exit")
      node.kill("SIGTERM")
      await Promise.race([ended, sleep(15_000, undefined, { ref: false })])
      node.kill("SIGKILL")
    }
  }
  if (node.exitCode !== 0) throw new Error(`svcd ended with ${node.exitCode ?? node.signalCode}`)
}
