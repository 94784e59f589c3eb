// A program of somebody who installed svcd: counts what a block file holds, and asks an embedded client for a name.
// Usage: library-user BLOCKS

import { mkdtempSync, readFileSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { gunzipSync } from "node:zlib"
import { block, nameOperation, networks, version } from "svcd"
import { NameNotFound, newEmbeddedClient } from "svcd/promise"

const bytes = gunzipSync(readFileSync(process.argv[2] ?? ""))
const counts = { blocks: 0, transactions: 0, name_new: 0, name_firstupdate: 0, name_update: 0 }

for (let at = 0; at < bytes.length;) {
  if (networks.regtest.magic.some((byte, i) => bytes[at + i] !== byte)) throw new Error(`no record at ${at}`)
  const size = bytes.readUInt32LE(at + 4)
  const found = block.decodeBlock(bytes.subarray(at + 8, at + 8 + size))
  counts.blocks += 1
  counts.transactions += found.transactions.length
  for (const { outputs, version } of found.transactions) {
    if (version !== nameOperation.NAME_TX_VERSION) continue
    for (const { script } of outputs) {
      const operation = nameOperation.parseNameScript(script)?.operation
      if (operation !== undefined) counts[operation.op] += 1
    }
  }
  at += 8 + size
}

console.log(version, JSON.stringify(counts))

const dataDir = mkdtempSync(join(tmpdir(), "svcd-ci-"))
try {
  await using client = await newEmbeddedClient({ network: "regtest", dataDir, maxPeers: 0 })
  await client.resolveName("d/example")
} catch (error) {
  if (!(error instanceof NameNotFound)) throw error
  console.log(error._tag, error.message)
} finally {
  rmSync(dataDir, { recursive: true, force: true })
}
