import { closeSync, existsSync, mkdirSync, openSync, readFileSync, renameSync, writeFileSync, writeSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { blockWork } from "../../src/consensus/difficulty.ts"
import type { ChainAnchor, ConsensusParams } from "../../src/consensus/params.ts"
import { type Block, decodeBlock } from "../../src/protocol/block.ts"
import { displayHash, parseDisplayHash } from "../../src/protocol/bytes.ts"
import { sha256 } from "../../src/protocol/hash.ts"
import { answersDigest } from "./answersDigest.ts"
import { ANCHOR_HEIGHT, type ChainShape, MAINNET_SHAPE, ShapedChain } from "./shapedChain.ts"
import { shapedParams } from "./shapedNetwork.ts"

/** Files of generated chains: they are made once, outside of the project. */

/** To be raised with each change of what the generator makes. */
const GENERATOR = 1

/** What a generated chain has. */
export interface ShapedFacts {
  readonly tip: string
  readonly height: number
  readonly anchor: { readonly height: number; readonly hash: string; readonly chainwork: string }
  readonly bytes: number
  readonly headerBytes: number
  readonly transactions: number
  readonly operationsInWindow: number
  /** Names that live at the tip, and the digest of them (`answersDigest`). */
  readonly living: number
  readonly answers: string
  /** Names that were changed in the last blocks. */
  readonly recent: ReadonlyArray<string>
  /** Some living names. */
  readonly samples: ReadonlyArray<string>
}

export interface ShapedFile {
  /** A block file, as `-loadblock` takes it. */
  readonly blocks: string
  readonly facts: ShapedFacts
  readonly directory: string
}

/** The directory of what benchmarks make once: `SVCD_BENCH_CACHE`, or one in the system's temporary directory. */
export const benchCache = (): string => process.env["SVCD_BENCH_CACHE"] ?? join(tmpdir(), "svcd-bench-cache")

const CHUNK = 1 << 22

/** The names of the last so many blocks count as changed recently. */
const RECENT = 100

const text = (bytes: Uint8Array): string => Buffer.from(bytes).toString("latin1")

const generate = (shape: ChainShape, params: ConsensusParams, path: string): ShapedFacts => {
  const chain = new ShapedChain(params, shape)
  const file = openSync(path, "w")
  const chunk = Buffer.alloc(CHUNK + (1 << 20))
  let used = 0
  let [bytes, headerBytes, transactions, before] = [0, 0, 0, 0]
  let work = 0n
  let anchor: ShapedFacts["anchor"] | undefined
  let last: Block = decodeBlock(params.network.genesisBlock)
  work += blockWork(last.header.bits)
  const put = (record: Uint8Array): void => {
    chunk.set(params.network.magic, used)
    chunk.writeUInt32LE(record.length, used + 4)
    chunk.set(record, used + 8)
    used += 8 + record.length
    if (used < CHUNK) return
    writeSync(file, chunk, 0, used)
    used = 0
  }
  put(last.bytes)
  while (chain.height < shape.height) {
    last = chain.step()
    put(last.bytes)
    work += blockWork(last.header.bits)
    bytes += last.size
    headerBytes += 80 + (last.auxpow?.bytes.length ?? 0)
    transactions += last.transactions.length
    if (chain.height === shape.before.to) before = chain.nameOperations
    if (chain.height === ANCHOR_HEIGHT) {
      anchor = { height: ANCHOR_HEIGHT, hash: displayHash(last.hash), chainwork: work.toString() }
    }
  }
  writeSync(file, chunk, 0, used)
  closeSync(file)
  if (anchor === undefined) throw new RangeError("the chain ends below its anchor")
  const { living } = chain
  return {
    tip: displayHash(last.hash),
    height: shape.height,
    anchor,
    bytes,
    headerBytes,
    transactions,
    operationsInWindow: chain.nameOperations - before,
    living: living.length,
    answers: answersDigest(living),
    recent: living.filter(({ height }) => height > shape.height - RECENT).map(({ name }) => text(name)),
    samples: living.filter((_, i) => i % Math.ceil(living.length / 10_000) === 0).map(({ name }) => text(name))
  }
}

/** The chain of a shape, from the cache or made now: mainnet's takes some minutes. `params`: the rules that it follows. */
export const shapedFile = (shape: ChainShape = MAINNET_SHAPE, params = shapedParams()): ShapedFile => {
  const made = [GENERATOR, shape, displayHash(params.network.genesisHash)]
  const key = Buffer.from(sha256(Buffer.from(JSON.stringify(made)))).toString("hex").slice(0, 16)
  const directory = join(benchCache(), `chain-${key}`)
  const [blocks, factsFile] = [join(directory, "blk00000.dat"), join(directory, "facts.json")]
  if (!existsSync(factsFile)) {
    mkdirSync(directory, { recursive: true })
    const draft = `${blocks}.${process.pid}`
    const facts = generate(shape, params, draft)
    renameSync(draft, blocks)
    writeFileSync(`${factsFile}.${process.pid}`, JSON.stringify(facts))
    renameSync(`${factsFile}.${process.pid}`, factsFile)
  }
  const facts: ShapedFacts = JSON.parse(readFileSync(factsFile, "utf8"))
  return { blocks, facts, directory }
}

/** The anchor of a generated chain. */
export const anchorOf = ({ anchor: { chainwork, hash, height } }: ShapedFacts): ChainAnchor => {
  const bytes = parseDisplayHash(hash)
  if (bytes === undefined) throw new TypeError(`not a hash: ${hash}`)
  return { height, hash: bytes, chainwork: BigInt(chainwork) }
}
