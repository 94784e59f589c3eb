// Runs an installed svcd on the chain of test/fixtures and compares every name with what the reference node says of it.
// Usage: use-packed-node.mjs FOLDER-OF-PROGRAMS

import { execFileSync } from "node:child_process"
import { mkdtempSync, readFileSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { isDeepStrictEqual } from "node:util"
import { gunzipSync } from "node:zlib"
import { fixtures, withDaemon } from "./packed-daemon.mjs"

const programs = process.argv[2]
const expected = JSON.parse(gunzipSync(readFileSync(join(fixtures, "tip-names.json.gz"))).toString("utf8"))

/** A record as a node without a wallet gives it. */
const withoutOwner = ({ ismine: _, ...record }) => record

const compare = (what, got, wanted) => {
  if (isDeepStrictEqual(got, wanted)) return
  throw new Error(`${what}: got ${JSON.stringify(got)} instead of ${JSON.stringify(wanted)}`)
}

const datadir = mkdtempSync(join(tmpdir(), "svcd-packed-"))

try {
  await withDaemon(programs, datadir, async ({ address, call }) => {
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
  })
} finally {
  rmSync(datadir, { recursive: true, force: true })
}
