import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { gunzipSync } from "node:zlib"
import { decodeBlock } from "../../src/protocol/block.ts"
import { displayHash } from "../../src/protocol/bytes.ts"
import { ROOT } from "./nodeProcess.ts"

const LOAD = join(ROOT, "../shared/fixtures/regtest-load")

/** The load chain: 6,000 blocks that Namecoin Core has judged. */
export interface LoadChain {
  /** A file of its own, in the format of the block files. */
  readonly file: string
  /** The bytes of that file. */
  readonly bytes: Buffer
  readonly tipHash: string
  readonly transactions: number
  readonly blockFileBytes: number
}

/** The blocks of a block file. */
export const recordsOf = (bytes: Buffer): ReadonlyArray<Uint8Array> => {
  const found: Array<Uint8Array> = []
  for (let at = 0; at < bytes.length;) {
    const size = bytes.readUInt32LE(at + 4)
    found.push(bytes.subarray(at + 8, at + 8 + size))
    at += 8 + size
  }
  return found
}

/** Runs a measurement with the load chain, which is next to the project; says so where it is missing. */
export const withLoad = async <A extends object>(
  use: (load: LoadChain) => Promise<A>
): Promise<A | { readonly skipped: string }> => {
  if (!existsSync(LOAD)) return { skipped: "shared/fixtures/regtest-load is not there" }
  const expected: Omit<LoadChain, "file" | "bytes"> = JSON.parse(readFileSync(join(LOAD, "expected.json"), "utf8"))
  const directory = mkdtempSync(join(tmpdir(), "svcd-bench-"))
  const file = join(directory, "blk00000.dat")
  const bytes = gunzipSync(readFileSync(join(LOAD, "blocks.dat.gz")))
  writeFileSync(file, bytes)
  try {
    return await use({ file, bytes, ...expected })
  } finally {
    rmSync(directory, { recursive: true, force: true })
  }
}

/** A file beside that of the chain with its first blocks, from the genesis block to a height. */
export const firstBlocks = (
  { bytes, file }: LoadChain,
  height: number
): { readonly file: string; readonly tip: string } => {
  const records = recordsOf(bytes).slice(0, height + 1)
  const last = records.at(-1)
  if (last === undefined) throw new Error("the load chain has no blocks")
  const part = `${file}.part`
  writeFileSync(part, bytes.subarray(0, records.reduce((sum, record) => sum + record.length + 8, 0)))
  return { file: part, tip: displayHash(decodeBlock(last).header.hash) }
}
