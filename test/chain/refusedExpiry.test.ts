import { assert, describe, it } from "@effect/vitest"
import { Effect, Exit, Layer, Logger, Scope } from "effect"
import { cpSync } from "node:fs"
import { join } from "node:path"
import type { Submission } from "../../src/chain/ChainSink.ts"
import { ChainDatabase } from "../../src/chain/state/ChainDatabase.ts"
import { coinKey, encodeCoin } from "../../src/chain/state/coinCodec.ts"
import { regtestParams } from "../../src/consensus/params.ts"
import { reject } from "../../src/consensus/Reject.ts"
import type { Coin } from "../../src/consensus/view.ts"
import type { Block } from "../../src/protocol/block.ts"
import { binaryString, equal, toHex } from "../../src/protocol/bytes.ts"
import { Op } from "../../src/protocol/script.ts"
import { runSteps } from "../../src/protocol/steps.ts"
import { StorageCorrupted } from "../../src/storage/errors.ts"
import { chainLayer, temporaryDirectory, testChain, withChain } from "../support/chain.ts"
import { BATCH_LIMITS, openState, openStores, stateOn } from "../support/chainState.ts"
import { commit, first, keyOf, mineEmpty, NAME, register } from "../support/connecting.ts"
import {
  ANYONE,
  buildBlock,
  currency,
  emptyChain,
  input,
  makeCoinbase,
  mine,
  nameOutput,
  rewardOf,
  text
} from "../support/regtest.ts"

/** The block that registers the name, and the block that removes its coin. */
const REGISTERED = 120
const EXPIRY = REGISTERED + 29

/** A chain with one name, up to the block before its expiry, and blocks of all kinds that can follow. */
const makeBlocks = () => {
  const memory = emptyChain(103)
  const commitment = commit(1, rewardOf(memory, 1))
  mine(memory, [commitment])
  mineEmpty(memory, REGISTERED - 1)
  const registration = register(1, first(commitment))
  mine(memory, [registration])
  mineEmpty(memory, EXPIRY - 1)
  const blocks = Array.from({ length: EXPIRY - 1 }, (_, i) => memory.blockAt(i + 1))
  const spent = rewardOf(memory, 2)
  const coinbase = (extra: number) => {
    const reward = { value: 50e8, script: ANYONE }
    return makeCoinbase(EXPIRY, [reward], { extra: Uint8Array.of(Op.OP_0, extra) })
  }
  const failing = currency([input(spent, { scriptSig: Uint8Array.of(Op.OP_RETURN) })], [{ value: 1, script: ANYONE }])
  return {
    blocks,
    holder: keyOf(first(registration)),
    plain: buildBlock(memory),
    other: buildBlock(memory, [], { coinbase: coinbase(1) }),
    failing: buildBlock(memory, [failing]),
    greedy: buildBlock(memory, [], { coinbase: makeCoinbase(EXPIRY, [{ value: 50e8 + 1, script: ANYONE }]) })
  }
}

const { blocks, failing, greedy, holder, other, plain } = makeBlocks()

const connectBlocks = (directory: string, some: ReadonlyArray<Block> = blocks) =>
  withChain(directory, (chain) => Effect.map(chain.sink.deliver(some, true), ({ judged }) => judged.length))

/** Changes the coin of the name in the database of a closed chain. */
const setHolder = (directory: string, coin: Coin | undefined): void => {
  const database = new ChainDatabase(join(directory, "chainstate"), 4096)
  const state = database.state() ?? assert.fail()
  database.commit({
    ...state,
    pages: [],
    claims: [],
    coins: coin === undefined ? [] : [[coinKey(holder), encodeCoin(coin)]],
    spent: coin === undefined ? [coinKey(holder)] : []
  })
  database.close()
}

/** A directory with the chain up to the block before the expiry, with the given coin in place of the name's coin. */
const withHolder = (coin: Coin | undefined) =>
  Effect.gen(function*() {
    const directory = join(yield* temporaryDirectory, "node")
    assert.strictEqual(yield* connectBlocks(directory), EXPIRY - 1)
    setHolder(directory, coin)
    return directory
  })

const reasonOf = (submission: Submission): string =>
  submission.type === "rejected" ? submission.reject.reason : submission.type

/** Opens a chain until the scope closes, and collects its warnings and errors. */
const openLogged = (directory: string, said: Array<string>) => {
  const logger = Logger.make(({ logLevel, message }) => {
    if (logLevel.ordinal >= 30_000) said.push(String(Array.isArray(message) ? message[0] : message))
  })
  const logging = Logger.replace(Logger.defaultLogger, logger)
  return Layer.build(chainLayer(directory, regtestParams, 1e8, logging))
}

const COINS: ReadonlyArray<readonly [what: string, coin: Coin | undefined, found: string]> = [
  ["no coin", undefined, "which is not a coin there"],
  [
    "the coin of another name",
    { ...nameOutput({ op: "name_update", name: text("d/other"), value: text("") }), height: 120, coinbase: false },
    `a coin that holds name ${toHex(text("d/other"))}`
  ],
  ["a coin without a name", { value: 1, script: ANYONE, height: 120, coinbase: false }, "a coin that holds no name"]
]

describe("a name that expires where its claim has", () => {
  for (const [what, coin, found] of COINS) {
    it.scopedLive(`${what}: refuses the block and keeps the chain running`, () =>
      Effect.gen(function*() {
        const directory = yield* withHolder(coin)
        const said: Array<string> = []
        const scope = yield* Scope.make()
        yield* Effect.gen(function*() {
          const chain = yield* testChain
          const submission = yield* chain.sink.submit(plain)
          assert.strictEqual(reasonOf(submission), "bad-names-expiry")
          assert.include(submission.type === "rejected" ? submission.reject.detail : "", `${toHex(NAME)} (hex)`)
          assert.include(submission.type === "rejected" ? submission.reject.detail : "", found)
          assert.strictEqual(reasonOf(yield* chain.sink.submit(plain)), "duplicate-invalid")
          assert.strictEqual(reasonOf(yield* chain.sink.submit(other)), "bad-names-expiry")
          const [best, ...failed] = yield* chain.branches
          assert.deepStrictEqual(failed.concat(best ?? assert.fail()).map(({ status }) => status).sort(), [
            "active",
            "invalid",
            "invalid"
          ])
          assert.strictEqual((yield* chain.tip).height, EXPIRY - 1)
          assert.deepStrictEqual(said, ["invalid block refused", "invalid block refused"])
          // Simulates a kill: the second start has only the files of the first.
          cpSync(directory, `${directory}-killed`, { recursive: true })
        }).pipe(Effect.provide(yield* Scope.extend(openLogged(directory, said), scope)))
        yield* Scope.close(scope, Exit.void)

        const again: Array<string> = []
        yield* Effect.gen(function*() {
          const chain = yield* testChain
          assert.strictEqual((yield* chain.tip).height, EXPIRY - 1)
          assert.strictEqual(reasonOf(yield* chain.sink.submit(plain)), "duplicate-invalid")
          assert.deepStrictEqual(again, [])
        }).pipe(Effect.provide(yield* openLogged(`${directory}-killed`, again)))
      }), 60_000)
  }

  it.scopedLive(
    "no coin: a block that was stored before a crash is checked once only",
    () =>
      Effect.gen(function*() {
        const directory = yield* withHolder(undefined)
        const state = openState(directory)
        assert.strictEqual(state.acceptBlock(plain).type, "new")
        state.flush()
        state.close()
        for (const said of [["invalid block refused"], []]) {
          const heard: Array<string> = []
          yield* Effect.scoped(Effect.gen(function*() {
            const context = yield* openLogged(directory, heard)
            assert.deepStrictEqual(heard, said)
            assert.strictEqual(
              (yield* Effect.provide(Effect.flatMap(testChain, ({ tip }) => tip), context)).height,
              148
            )
            // A copy made while the chain is open holds what is stored at this moment.
            cpSync(directory, `${directory}-next`, { recursive: true })
          }))
          cpSync(`${directory}-next`, directory, { recursive: true, force: true })
        }
      }),
    60_000
  )

  it.scopedLive("no coin: the first reason of the reference node is reported", () =>
    Effect.gen(function*() {
      const directory = yield* withHolder(undefined)
      yield* withChain(directory, (chain) =>
        Effect.gen(function*() {
          const scripts = "mempool-script-verify-flag-failed (OP_RETURN was encountered)"
          assert.strictEqual((yield* chain.sink.judge(failing))?.reason, scripts)
          assert.strictEqual((yield* chain.sink.judge(greedy))?.reason, "bad-cb-amount")
          assert.strictEqual((yield* chain.sink.judge(plain))?.reason, "bad-names-expiry")
          assert.strictEqual(reasonOf(yield* chain.sink.submit(failing)), scripts)
          assert.strictEqual(reasonOf(yield* chain.sink.submit(greedy)), "bad-cb-amount")
          assert.strictEqual(reasonOf(yield* chain.sink.submit(plain)), "bad-names-expiry")
        }))
    }), 60_000)

  it.scopedLive("no coin: earlier blocks of the same batch are kept", () =>
    Effect.gen(function*() {
      const directory = yield* temporaryDirectory
      yield* connectBlocks(directory, blocks.slice(0, EXPIRY - 11))
      setHolder(directory, undefined)
      yield* withChain(directory, (chain) =>
        Effect.gen(function*() {
          const { judged } = yield* chain.sink.deliver([...blocks.slice(EXPIRY - 11), plain], true)
          const refused = judged.flatMap(({ hash, reject }) => reject === undefined ? [] : [{ hash, ...reject }])
          assert.strictEqual(judged.length, 11)
          assert.deepStrictEqual(refused.map(({ reason }) => reason), ["bad-names-expiry"])
          assert.isTrue(equal(refused[0]?.hash ?? new Uint8Array(0), plain.hash))
          assert.strictEqual((yield* chain.tip).height, EXPIRY - 1)
        }))
    }), 60_000)

  it.scopedLive("a row that does not decode: the chain fails with StorageCorrupted, and the block stays valid", () =>
    Effect.gen(function*() {
      const directory = yield* withHolder(undefined)
      const stores = openStores(directory)
      const state = stateOn(stores)
      stores.database.coin = () => {
        throw stores.database.corrupted("a row does not decode (coin)")
      }
      assert.strictEqual(state.acceptBlock(plain).type, "new")
      const batch = runSteps(state.connector.prepare(state.index.find(plain.hash), BATCH_LIMITS, () => {}))
      assert.throws(() => state.connector.settle(batch, undefined), "a row does not decode")
      const id = state.index.find(plain.hash)
      assert.isFalse(state.index.isFailed(id))
      assert.instanceOf(batch.thrown?.cause, StorageCorrupted)
      state.close()
    }))

  it.scopedLive("no coin: a failing script of the refused block takes precedence, whichever thread finds it", () =>
    Effect.gen(function*() {
      const directory = yield* withHolder(undefined)
      const state = openState(directory)
      state.acceptBlock(failing)
      const given: Array<readonly [block: number, txids: ReadonlyArray<string>]> = []
      const batch = runSteps(state.connector.prepare(state.index.find(failing.hash), BATCH_LIMITS, (block, checks) => {
        given.push([block, checks.map(({ transaction }) => transaction.txidKey)])
      }))
      const second = failing.transactions[1] ?? assert.fail()
      assert.deepStrictEqual(given, [[0, [binaryString(second.txid)]]])
      assert.strictEqual(batch.refused?.reject.reason, "bad-names-expiry")
      const settled = state.connector.settle(batch, { block: 0, reject: reject("bad-script") })
      assert.deepStrictEqual(settled.connected, [])
      assert.deepStrictEqual(settled.refused, { id: state.index.find(failing.hash), reject: reject("bad-script") })
      state.close()
    }))
})
