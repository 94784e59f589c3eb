// A block whose coinbase sets as many names as fit, and the block in which they expire: the cost of both in a node with
// names.db and txindex. Prints JSON. Arguments: names (40000), a file that gets the blocks (none).

import { Effect, Layer, Logger } from "effect"
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { ChainControl } from "../../src/chain/ChainControl.ts"
import { ChainSink } from "../../src/chain/ChainSink.ts"
import * as TxIndex from "../../src/chain/TxIndex.ts"
import { heightScript } from "../../src/consensus/block.ts"
import { meetsTarget } from "../../src/consensus/difficulty.ts"
import { regtestParams } from "../../src/consensus/params.ts"
import * as NameDb from "../../src/names/NameDb.ts"
import { type Block, decodeBlock, makeBlock } from "../../src/protocol/block.ts"
import { type Bytes, concat, EMPTY } from "../../src/protocol/bytes.ts"
import { makeHeader } from "../../src/protocol/header.ts"
import { merkleRoot } from "../../src/protocol/merkle.ts"
import { NAME_TX_VERSION, nameScript } from "../../src/protocol/nameOperation.ts"
import { Op } from "../../src/protocol/script.ts"
import { makeTransaction, outpoint, type TransactionOutput } from "../../src/protocol/transaction.ts"
import * as DataHealth from "../../src/storage/DataHealth.ts"
import { benchChain } from "./chain.ts"

const [count = "40000", file] = process.argv.slice(2)

/** Blocks from the one that sets the names to the one that removes their coins, on this network. */
const LIFE = 30

const ANYONE = Uint8Array.of(Op.OP_1)
const text = new TextEncoder()

const names: ReadonlyArray<TransactionOutput> = Array.from({ length: Number(count) }, (_, i) => ({
  value: 0,
  script: nameScript({ op: "name_update", name: text.encode(i.toString(36).padStart(5, "0")), value: EMPTY }, ANYONE)
}))

/** A block on another one with a coinbase of these outputs. */
const blockOn = (parent: Block, height: number, outputs: ReadonlyArray<TransactionOutput>): Block => {
  const coinbase = makeTransaction({
    version: NAME_TX_VERSION,
    inputs: [{
      prevout: outpoint(new Uint8Array(32), 0xffffffff),
      scriptSig: concat(heightScript(height), Uint8Array.of(Op.OP_0)),
      sequence: 0xffffffff,
      witness: []
    }],
    outputs,
    lockTime: 0
  })
  const root = merkleRoot([coinbase.txid]).root
  const { bits, time } = parent.header
  for (let nonce = 0;; nonce++) {
    const parts = { version: 0x00010004, prevHash: parent.hash, merkleRoot: root, time: time + 600, bits, nonce }
    const header = makeHeader(parts)
    if (meetsTarget(header.hash, bits, regtestParams.powLimit)) {
      return makeBlock({ header, auxpow: undefined }, [coinbase])
    }
  }
}

const blocks: Array<Bytes> = []
let last = decodeBlock(regtestParams.network.genesisBlock)
for (let height = 1; height <= LIFE; height++) {
  last = blockOn(last, height, height === 1 ? names : [{ value: 1, script: ANYONE }])
  blocks.push(last.bytes)
}
if (file !== undefined) {
  const { genesisBlock, magic } = regtestParams.network
  const records = [genesisBlock, ...blocks].map((bytes) => {
    const size = Buffer.alloc(4)
    size.writeUInt32LE(bytes.length)
    return concat(magic, size, bytes)
  })
  writeFileSync(file, concat(...records))
}

const directory = mkdtempSync(join(tmpdir(), "svcd-bench-"))
for (const name of ["blocks", "chainstate"]) mkdirSync(join(directory, name))

const program = Effect.gen(function*() {
  const control = yield* ChainControl
  const sink = yield* ChainSink
  const index = yield* TxIndex.TxIndex
  const db = yield* NameDb.NameDb
  yield* control.register(db.follower)
  if (index.follower !== undefined) yield* control.register(index.follower)
  const taken: Array<{ readonly seconds: number; readonly cpuSeconds: number }> = []
  for (const bytes of blocks) {
    const [started, before] = [performance.now(), process.cpuUsage()]
    const { type } = yield* sink.submit(decodeBlock(bytes))
    if (type !== "connected") throw new Error(`block ${taken.length + 1} is ${type}`)
    const { system, user } = process.cpuUsage(before)
    taken.push({
      seconds: Math.round(performance.now() - started) / 1000,
      cpuSeconds: Math.round((system + user) / 1000) / 1000
    })
  }
  const timings = yield* control.timings
  const rounded = Object.fromEntries(Object.entries(timings).map(([part, ms]) => [part, Math.round(ms)]))
  return { names: names.length, set: taken[0], expire: taken.at(-1), milliseconds: rounded }
})

const layers = Layer.mergeAll(
  benchChain(directory, { verifyThreads: 1 }),
  NameDb.layer({ filename: join(directory, "names.db"), pageSize: 4096 }),
  TxIndex.layer({ directory: join(directory, "chainstate"), pageSize: 4096 }),
  Logger.remove(Logger.defaultLogger)
).pipe(Layer.provide(DataHealth.layer))
const result = await Effect.runPromise(Effect.provide(program, layers))
rmSync(directory, { recursive: true, force: true })
console.log(JSON.stringify(result))
