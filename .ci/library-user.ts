// A program of somebody who installed svcd: counts what a block file holds. Usage: library-user BLOCKS

import { readFileSync } from "node:fs"
import { gunzipSync } from "node:zlib"
import { block, nameOperation, networks, version } from "svcd"

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
