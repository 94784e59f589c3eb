import { assert, describe, it } from "@effect/vitest"
import { Effect, Exit, Layer } from "effect"
import * as NodeClock from "../../../src/base/NodeClock.ts"
import { heightScript } from "../../../src/consensus/block.ts"
import { regtestParams, withOverrides } from "../../../src/consensus/params.ts"
import { blockSubsidy } from "../../../src/consensus/subsidy.ts"
import { templateHeader } from "../../../src/mempool/mining/blockTemplate.ts"
import * as Miner from "../../../src/mempool/mining/Miner.ts"
import { mineParent, minimalAuxpow, parentCoinbase } from "../../../src/mempool/mining/minimalAuxpow.ts"
import { makeAuxpow } from "../../../src/protocol/auxpow.ts"
import { concat, displayHash, toHex } from "../../../src/protocol/bytes.ts"
import { Header, type Header as HeaderType } from "../../../src/protocol/header.ts"
import { nameKey } from "../../../src/protocol/keys.ts"
import { Op } from "../../../src/protocol/script.ts"
import type { Transaction } from "../../../src/protocol/transaction.ts"
import { chainLayer, temporaryDirectory, type TestChain, testChain } from "../../support/chain.ts"
import { chunkOf, entryOf, FakePool } from "../../support/pool.ts"
import {
  ANYONE,
  currency,
  input,
  nameNew,
  nameTransaction,
  type Outpoint,
  saltOf,
  text
} from "../../support/regtest.ts"

type Parts = {
  readonly chain: TestChain
  readonly miner: typeof Miner.Miner.Service
  readonly clock: typeof NodeClock.MockTime.Service
  readonly pool: FakePool
}

/** Runs a test on a chain, a pool and a miner of its own. */
const withMiner = <A, E>(use: (parts: Parts) => Effect.Effect<A, E>, params = regtestParams) =>
  Effect.gen(function*() {
    const directory = yield* temporaryDirectory
    const pool = new FakePool()
    const parts = Effect.gen(function*() {
      return yield* use({
        chain: yield* testChain,
        miner: yield* Miner.Miner,
        clock: yield* NodeClock.MockTime,
        pool
      })
    })
    const node = Miner.layer().pipe(Layer.provideMerge(Layer.merge(chainLayer(directory, params), pool.layer)))
    return yield* Effect.provide(parts, Layer.provideMerge(node, NodeClock.layer()))
  })

const now = () => Math.floor(Date.now() / 1000)

const blockAt = (chain: Parts["chain"], height: number) =>
  Effect.gen(function*() {
    const header = (yield* chain.headerAt(height)) ?? assert.fail(`no block at ${height}`)
    return yield* chain.block(header.hash)
  })

/** The reward of the block at a height. */
const rewardAt = (chain: Parts["chain"], height: number) =>
  Effect.map(blockAt(chain, height), ({ transactions: [coinbase] }): Outpoint => ({
    transaction: coinbase ?? assert.fail(),
    vout: 0
  }))

/** A transaction that spends the first output of another one and pays a fee. */
const spending = (spent: Outpoint, fee: number, overrides: { readonly lockTime?: number } = {}): Transaction =>
  currency(
    [input(spent)],
    [{ value: (spent.transaction.outputs[spent.vout]?.value ?? 0) - fee, script: ANYONE }],
    overrides
  )

const hashOf = (header: HeaderType) => displayHash(header.hash)

/** A proof of a header, good or with a parent that has no work. */
const proofOf = (header: HeaderType, good: boolean) => {
  const coinbase = parentCoinbase(header.hash)
  const work = { coinbase, bits: header.bits, powLimit: regtestParams.powLimit }
  if (good) return minimalAuxpow(coinbase, mineParent(work, { first: 0, count: 1_000 }) ?? assert.fail("no nonce"))
  for (let nonce = 0;; nonce++) {
    if (mineParent(work, { first: nonce, count: 1 }) !== undefined) continue
    const bytes = (mineParent(work, { first: 0, count: 1_000 }) ?? assert.fail()).bytes.slice()
    new DataView(bytes.buffer).setUint32(76, nonce, true)
    return makeAuxpow({ coinbase, coinbaseBranch: [], chainBranch: [], chainIndex: 0, parent: new Header(bytes) })
  }
}

describe("generate", () => {
  it.scopedLive("mines blocks that connect, each with a merged-mining proof", () =>
    withMiner(({ chain, miner }) =>
      Effect.gen(function*() {
        const script = Uint8Array.of(Op.OP_1, Op.OP_DROP, Op.OP_1)
        const before = now()
        const hashes = yield* miner.generate(30, script, Miner.DEFAULT_MAX_TRIES)
        assert.lengthOf(hashes, 30)
        assert.strictEqual((yield* chain.tip).height, 30)
        for (const [i, hash] of hashes.entries()) {
          const height = i + 1
          const { auxpow, header, transactions } = yield* blockAt(chain, height)
          assert.strictEqual(hashOf(header), displayHash(hash))
          assert.strictEqual(header.version, 0x00010104)
          assert.isDefined(auxpow)
          assert.isAtLeast(header.time, before)
          const [coinbase] = transactions
          assert.strictEqual(coinbase?.version, 1)
          assert.strictEqual(coinbase?.lockTime, height - 1)
          assert.deepStrictEqual(coinbase?.inputs[0]?.scriptSig, concat(heightScript(height), Uint8Array.of(0)))
          assert.strictEqual(coinbase?.inputs[0]?.sequence, 0xfffffffe)
          assert.deepStrictEqual(coinbase?.outputs[0], { value: 50e8, script })
          assert.match(toHex(coinbase?.outputs[1]?.script ?? assert.fail()), /^6a24aa21a9ed/)
        }
        assert.deepStrictEqual(miner.last(), { weight: 8_000, transactions: 0 })
      })
    ))

  it.scopedLive("stops when the tries are used up", () =>
    withMiner(({ chain, miner }) =>
      Effect.gen(function*() {
        assert.isEmpty(yield* miner.generate(1, ANYONE, 0))
        assert.isEmpty(yield* miner.generate(0, ANYONE, 1_000))
        assert.isEmpty(yield* miner.generate(-1, ANYONE, 1_000))
        const made = yield* miner.generate(100, ANYONE, 4)
        assert.isBelow(made.length, 100)
        assert.strictEqual((yield* chain.tip).height, made.length)
      })
    ))

  it.scopedLive("goes by the clock of the node, and never back behind the median", () =>
    withMiner(({ chain, clock, miner }) =>
      Effect.gen(function*() {
        const time = now() + 3_600
        yield* clock.set(time)
        yield* miner.generate(1, ANYONE, 1_000)
        assert.strictEqual((yield* chain.tip).header.time, time)
        yield* miner.generate(12, ANYONE, 1_000)
        const tip = yield* chain.tip
        assert.strictEqual(tip.header.time, ((yield* chain.headerAt(tip.height - 1))?.medianTimePast ?? 0) + 1)
        yield* clock.set(time - 1_000)
        yield* miner.generate(1, ANYONE, 1_000)
        const { header, height } = yield* chain.tip
        assert.strictEqual(header.time, ((yield* chain.headerAt(height - 1))?.medianTimePast ?? 0) + 1)
      })
    ))

  it.scopedLive("mines no commitment to witnesses into the coinbase's witness before segwit", () =>
    withMiner(
      ({ chain, miner }) =>
        Effect.gen(function*() {
          yield* miner.generate(3, ANYONE, 1_000)
          const witnesses = [1, 2, 3].map((height) =>
            Effect.map(blockAt(chain, height), ({ transactions: [coinbase] }) => coinbase?.hasWitness)
          )
          assert.deepStrictEqual(yield* Effect.all(witnesses), [false, false, true])
        }),
      withOverrides(regtestParams, { activation: { segwit: 3 } })
    ))

  it.scopedLive(
    "mines the transactions of the pool, claims their fees, and registers names when they are mature",
    () =>
      withMiner(({ chain, miner, pool }) =>
        Effect.gen(function*() {
          yield* miner.generate(101, ANYONE, 10_000)
          const [name, rand] = [text("d/mined"), saltOf(1)]
          const reward = yield* rewardAt(chain, 1)
          const commitment = nameTransaction(nameNew(name, rand), [reward])
          // Its name output is the first; it holds 0.01 of the 50.
          const change = spending({ transaction: commitment, vout: 1 }, 5_000)
          pool.hold(chunkOf(entryOf(commitment, { fee: 0, modifiedFee: 10 }), entryOf(change, { fee: 5_000 })))
          yield* miner.generate(1, ANYONE, 1_000)
          const mined = yield* blockAt(chain, 102)
          assert.deepStrictEqual(mined.transactions.slice(1).map(({ txidKey }) => txidKey), [
            commitment.txidKey,
            change.txidKey
          ])
          assert.strictEqual(mined.transactions[0]?.outputs[0]?.value, blockSubsidy(102, regtestParams) + 5_000)
          assert.strictEqual(miner.last()?.transactions, 2)

          const registration = nameTransaction({ op: "name_firstupdate", name, rand, value: text("x") }, [
            { transaction: commitment, vout: 0 }
          ])
          pool.hold(chunkOf(entryOf(registration)))
          const claim = chain.coins.atTip((state) => Effect.sync(() => state.claim(nameKey(name))))
          yield* miner.generate(11, ANYONE, 10_000)
          assert.isUndefined(yield* claim, "at 113, eleven blocks later")
          assert.lengthOf((yield* blockAt(chain, 113)).transactions, 1)
          yield* Effect.flip(miner.generate(1, ANYONE, 1_000)).pipe(
            Effect.tap((failure) => assert.strictEqual(failure._tag, "TemplateInvalid")),
            // The entry declares a fee that it does not pay: only this test makes such a pool.
            Effect.zipRight(Effect.sync(() => pool.hold(chunkOf(entryOf(registration, { fee: 0, modifiedFee: 10 })))))
          )
          yield* miner.generate(1, ANYONE, 1_000)
          assert.strictEqual((yield* claim)?.height, 114)
        })
      ),
    60_000
  )
})

describe("template", () => {
  it.scopedLive("is the same until the tip changes, or the pool and five seconds have passed", () =>
    withMiner(({ clock, miner, pool }) =>
      Effect.gen(function*() {
        const time = now()
        yield* clock.set(time)
        const first = yield* miner.template
        assert.strictEqual(first.template.version, 0x00010004)
        yield* clock.set(time + 1_000)
        assert.isTrue((yield* miner.template) === first)
        pool.hold()
        const second = yield* miner.template
        assert.isFalse(second === first)
        assert.deepStrictEqual([first.changes, second.changes], [0, 1])
        // A changed fee is not an acceptance and no removal, and yet changes the block.
        pool.changes++
        yield* clock.set(time + 1_005)
        assert.isTrue((yield* miner.template) === second)
        yield* clock.set(time + 1_006)
        const third = yield* miner.template
        assert.isFalse(third === second)
        yield* miner.generate(1, ANYONE, 1_000)
        const fourth = yield* miner.template
        assert.strictEqual(fourth.template.height, 2)
      })
    ))

  it.scopedLive(
    "fails if the pool holds an invalid transaction",
    () =>
      withMiner(({ chain, miner, pool }) =>
        Effect.gen(function*() {
          yield* miner.generate(101, ANYONE, 10_000)
          const young = yield* rewardAt(chain, 50)
          pool.hold(chunkOf(entryOf(spending(young, 1_000), { fee: 1_000 })))
          const failure = yield* Effect.flip(miner.template)
          assert.match(
            failure.message,
            /^TestBlockValidity failed: bad-txns-premature-spend-of-coinbase, tried to spend/
          )
          pool.hold()
          assert.strictEqual((yield* miner.template).template.height, 102)
        })
      ),
    60_000
  )
})

describe("generateWith", () => {
  it.scopedLive(
    "mines exactly the given transactions, claims no fees, and submits the block only on request",
    () =>
      withMiner(({ chain, miner, pool }) =>
        Effect.gen(function*() {
          yield* miner.generate(102, ANYONE, 10_000)
          const [first, second] = [
            spending(yield* rewardAt(chain, 1), 1_000),
            spending(yield* rewardAt(chain, 2), 2_000)
          ]
          pool.hold(chunkOf(entryOf(first, { fee: 1_000 })))
          const kept = yield* miner.generateWith(ANYONE, [second], false)
          assert.strictEqual((yield* chain.tip).height, 102)
          const block = yield* miner.generateWith(ANYONE, [second], true)
          assert.strictEqual(displayHash((yield* chain.tip).hash), displayHash(block.hash))
          for (const { auxpow, transactions } of [kept, block]) {
            assert.isDefined(auxpow)
            assert.deepStrictEqual(transactions.slice(1).map(({ txidKey }) => txidKey), [second.txidKey])
            assert.strictEqual(transactions[0]?.outputs[0]?.value, blockSubsidy(103, regtestParams))
          }
          const failure = yield* Effect.flip(miner.generateWith(ANYONE, [second], true))
          assert.match(failure.message, /^TestBlockValidity failed: bad-txns-inputs-missingorspent/)
          const young = yield* Effect.flip(miner.generateWith(ANYONE, [spending(yield* rewardAt(chain, 50), 0)], true))
          assert.match(young.message, /bad-txns-premature-spend-of-coinbase/)
        })
      ),
    60_000
  )
})

describe("merged mining", () => {
  it.scopedLive("makes a new candidate after a fee change and a minute", () =>
    withMiner(({ clock, miner, pool }) =>
      Effect.gen(function*() {
        const time = now()
        yield* clock.set(time)
        const first = yield* miner.auxCandidate(ANYONE)
        pool.changes++
        yield* clock.set(time + 60)
        assert.isTrue((yield* miner.auxCandidate(ANYONE)) === first)
        yield* clock.set(time + 61)
        const second = yield* miner.auxCandidate(ANYONE)
        assert.isFalse(second === first)
        yield* clock.set(time + 1_000)
        assert.isTrue((yield* miner.auxCandidate(ANYONE)) === second)
      })
    ))

  it.scopedLive("gives a candidate, and takes it with a good proof alone", () =>
    withMiner(({ chain, miner }) =>
      Effect.gen(function*() {
        const candidate = yield* miner.auxCandidate(ANYONE)
        assert.isTrue((yield* miner.auxCandidate(ANYONE)) === candidate)
        assert.strictEqual(candidate.header.version, 0x00010104)
        assert.strictEqual(candidate.header.nonce, 0)
        assert.strictEqual(hashOf(candidate.header), hashOf(templateHeader(candidate.template, true)))
        const { hash } = candidate.header
        const other = yield* miner.auxCandidate(Uint8Array.of(Op.OP_2))
        assert.notStrictEqual(hashOf(other.header), hashOf(candidate.header))

        const wrong = proofOf(candidate.header, false)
        assert.isFalse(yield* miner.submitAux(hash, wrong), "no work")
        assert.isFalse(yield* miner.submitAux(hash, proofOf(other.header, true)), "another block's proof")
        assert.strictEqual((yield* chain.tip).height, 0)
        const good = proofOf(candidate.header, true)
        assert.isTrue(yield* miner.submitAux(hash, good))
        assert.strictEqual(displayHash((yield* chain.tip).hash), displayHash(hash))
        assert.isTrue(yield* miner.submitAux(hash, good), "again")

        const next = yield* miner.auxCandidate(ANYONE)
        assert.strictEqual(next.template.height, 2)
        const gone = yield* Effect.exit(miner.submitAux(hash, good))
        assert.isTrue(
          Exit.isFailure(gone) && gone.cause._tag === "Fail" && gone.cause.error._tag === "CandidateUnknown"
        )
        assert.strictEqual((yield* Effect.flip(miner.candidate(new Uint8Array(32)))).message, "block hash unknown")
      })
    ))

  it.scopedLive("makes another candidate when the pool has changed and a minute has passed", () =>
    withMiner(({ clock, miner, pool }) =>
      Effect.gen(function*() {
        const time = now()
        yield* clock.set(time)
        const first = yield* miner.auxCandidate(ANYONE)
        pool.hold()
        yield* clock.set(time + 60)
        assert.isTrue((yield* miner.auxCandidate(ANYONE)) === first)
        yield* clock.set(time + 61)
        const second = yield* miner.auxCandidate(ANYONE)
        assert.notStrictEqual(hashOf(second.header), hashOf(first.header))
        assert.isTrue(yield* miner.submitAux(first.header.hash, proofOf(first.header, true)), "the old one is good too")
      })
    ))
})
