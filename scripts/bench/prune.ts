import { Effect, Layer, Logger } from "effect"
import { mkdirSync, mkdtempSync, readdirSync, rmSync, statSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { ChainControl } from "../../src/chain/ChainControl.ts"
import { ChainSink } from "../../src/chain/ChainSink.ts"
import { heightScript } from "../../src/consensus/block.ts"
import { meetsTarget } from "../../src/consensus/difficulty.ts"
import { regtestParams } from "../../src/consensus/params.ts"
import { type Block, decodeBlock, makeBlock } from "../../src/protocol/block.ts"
import { concat } from "../../src/protocol/bytes.ts"
import { makeHeader } from "../../src/protocol/header.ts"
import { Op } from "../../src/protocol/script.ts"
import { makeTransaction, NO_WITNESS, outpoint } from "../../src/protocol/transaction.ts"
import { benchChain } from "./chain.ts"

const MIB = 1024 * 1024

/** The smallest target that the option allows. */
const TARGET = 550 * MIB

/** Blocks of a megabyte, nearly as large as a block may be: twice as many as the target holds. */
const BLOCKS = 1_100
const OUTPUTS = 100
const OUTPUT_BYTES = 9_900

/** Blocks that arrive at once. */
const AT_ONCE = 16

const filler = (index: number): Uint8Array =>
  concat(Uint8Array.of(Op.OP_RETURN), new Uint8Array(OUTPUT_BYTES).fill(index))

/** A block of a megabyte on top of another one, with outputs that are unspendable. */
const blockAfter = ({ header }: Block, height: number): Block => {
  const prevout = outpoint(new Uint8Array(32), 0xffffffff)
  const scriptSig = concat(heightScript(height), Uint8Array.of(Op.OP_0))
  const coinbase = makeTransaction({
    version: 1,
    inputs: [{ prevout, scriptSig, sequence: 0xffffffff, witness: NO_WITNESS }],
    outputs: Array.from({ length: OUTPUTS }, (_, i) => ({ value: 0, script: filler(i) })),
    lockTime: 0
  })
  const parts = {
    version: 0x00010004,
    prevHash: header.hash,
    merkleRoot: coinbase.txid,
    time: header.time + 1,
    bits: header.bits
  }
  for (let nonce = 0;; nonce++) {
    const solved = makeHeader({ ...parts, nonce })
    if (meetsTarget(solved.hash, parts.bits, regtestParams.powLimit)) {
      return makeBlock({ header: solved, auxpow: undefined }, [coinbase])
    }
  }
}

/** Bytes of all files in a directory. */
const bytesIn = (directory: string): number =>
  readdirSync(directory).reduce((sum, name) => sum + statSync(join(directory, name)).size, 0)

/** The largest size of a pruned node's files while a chain of the largest blocks arrives. */
export const benchPrune = async (): Promise<object> => {
  const directory = mkdtempSync(join(tmpdir(), "svcd-bench-"))
  for (const name of ["blocks", "chainstate"]) mkdirSync(join(directory, name))
  const most = { blocks: 0, all: 0 }
  const look = Effect.sync(() => {
    const blocks = bytesIn(join(directory, "blocks"))
    most.blocks = Math.max(most.blocks, blocks)
    most.all = Math.max(most.all, blocks + bytesIn(join(directory, "chainstate")))
  })
  const program = Effect.gen(function*() {
    const sink = yield* ChainSink
    const { pruning } = yield* ChainControl
    yield* pruning.begin
    let last = decodeBlock(regtestParams.network.genesisBlock)
    for (let height = 1; height <= BLOCKS;) {
      const some: Array<Block> = []
      for (; some.length < AT_ONCE && height <= BLOCKS; height++) some.push(last = blockAfter(last, height))
      yield* sink.deliver(some, true)
      yield* look
    }
    return yield* pruning.prunedTo
  })
  try {
    const prunedTo = await Effect.runPromise(Effect.provide(
      program,
      benchChain(directory, { verifyThreads: 0, prune: { target: TARGET, after: 100 } }).pipe(
        Layer.provideMerge(Logger.remove(Logger.defaultLogger))
      )
    ))
    return {
      what: `files of a node that prunes, while ${BLOCKS} blocks of a megabyte arrive: MiB`,
      target: TARGET / MIB,
      most: most.blocks / MIB,
      mostWithChainState: most.all / MIB,
      prunedTo
    }
  } finally {
    rmSync(directory, { recursive: true, force: true })
  }
}
