import { assert, describe, it } from "@effect/vitest"
import { Effect, Exit } from "effect"
import { mkdirSync, readFileSync, renameSync, rmdirSync } from "node:fs"
import { join } from "node:path"
import { layer as nodeClock, MockTime } from "../../../src/base/NodeClock.ts"
import { regtestParams, withOverrides } from "../../../src/consensus/params.ts"
import { TransactionRejected } from "../../../src/mempool/errors.ts"
import type { Mempool } from "../../../src/mempool/Mempool.ts"
import { COIN } from "../../../src/protocol/amount.ts"
import { displayHash } from "../../../src/protocol/bytes.ts"
import type { Transaction } from "../../../src/protocol/transaction.ts"
import { StorageUnavailable } from "../../../src/storage/errors.ts"
import { eventually, settled } from "../../support/eventually.ts"
import { fundedDirectory, withWallets } from "../../support/liveWallets.ts"
import { ADDRESS } from "../../support/mempool.ts"

const to = (value: number) => ({ outputs: [{ value, script: ADDRESS }] })

const shown = ({ txid }: Transaction): string => displayHash(txid)

const kept = (directory: string): ReadonlyArray<{ readonly txid: string; readonly abandoned: boolean }> =>
  JSON.parse(readFileSync(join(directory, "wallet.json"), "utf8")).transactions

const keptTxids = (directory: string) => kept(directory).map(({ txid }) => txid)

/** A directory in the place of wallet.json cannot be replaced by a file: all writes fail. */
const blockWrites = (directory: string): void => {
  renameSync(join(directory, "wallet.json"), join(directory, "wallet.json.aside"))
  mkdirSync(join(directory, "wallet.json"))
}
const allowWrites = (directory: string): void => {
  rmdirSync(join(directory, "wallet.json"))
  renameSync(join(directory, "wallet.json.aside"), join(directory, "wallet.json"))
}

type Pool = typeof Mempool.Service

/** A mempool whose `accept` a test can replace. */
const broken = () => {
  const place: { accept: ((pool: Pool) => Pool["accept"]) | undefined } = { accept: undefined }
  return {
    place,
    mempool: (pool: Pool): Pool => ({
      ...pool,
      accept: (transaction) => Effect.suspend(() => (place.accept?.(pool) ?? pool.accept)(transaction))
    })
  }
}

const NO_SPACE = new StorageUnavailable({ file: "chain.db", doing: "reading", reason: "EIO" })

describe("commit", () => {
  it.scopedLive("leaves nothing of a transaction that cannot be stored", () =>
    Effect.gen(function*() {
      const directory = yield* fundedDirectory
      yield* withWallets(directory, ({ chain, mine, pool, wallet }) =>
        Effect.gen(function*() {
          const before = wallet.ledger.coins()
          const known = wallet.ledger.transactions().length
          const nothingLeft = (why: string) => {
            assert.deepStrictEqual(wallet.ledger.coins(), before, why)
            assert.strictEqual(wallet.ledger.transactions().length, known, why)
            assert.deepStrictEqual(keptTxids(directory), [], why)
          }
          // No document can contain it.
          assert.isTrue(
            Exit.isFailure(yield* Effect.exit(wallet.payments.pay({ ...to(COIN), comment: "x".repeat(10_001) })))
          )
          nothingLeft("defect")
          blockWrites(directory)
          assert.isTrue(Exit.isFailure(yield* Effect.exit(wallet.payments.pay(to(COIN)))))
          allowWrites(directory)
          nothingLeft("failure")
          const block = yield* mine(1)
          assert.strictEqual(pool.info().size, 0)
          yield* chain.control.invalidate(block.header.hash)
          yield* eventually("the wallet went back", () => wallet.ledger.lastBlock().height === 101)
          const { transaction } = yield* wallet.payments.pay({ ...to(COIN), comment: "x".repeat(10_000) })
          assert.deepStrictEqual(keptTxids(directory), [shown(transaction)])
        }))
    }))

  it.scopedLive("refuses the later of two simultaneous transactions that spend the same coins", () =>
    Effect.gen(function*() {
      const directory = yield* fundedDirectory
      yield* withWallets(directory, ({ pool, wallet }) =>
        Effect.gen(function*() {
          const first = yield* wallet.payments.fund(to(COIN))
          // It pays more, so the mempool would accept it as a replacement.
          const second = yield* wallet.payments.fund({ ...to(2 * COIN), feeRate: 1_000_000 })
          const outcomes = yield* Effect.all([
            Effect.either(wallet.payments.commit(first.transaction)),
            Effect.either(wallet.payments.commit(second.transaction))
          ], { concurrency: "unbounded" })
          assert.deepStrictEqual(outcomes.map(({ _tag }) => _tag), ["Right", "Left"])
          assert.isDefined(pool.get(first.transaction.txidKey))
          assert.isUndefined(wallet.ledger.transaction(second.transaction.txidKey))
          assert.deepStrictEqual(keptTxids(directory), [shown(first.transaction)])
          const refused = yield* Effect.flip(wallet.payments.commit(second.transaction))
          assert.deepInclude(refused, { _tag: "InvalidWalletRequest", code: "not-eligible" })
          assert.include(refused.message, shown(first.transaction))
        }))
    }))

  it.scopedLive("accepts a replacement of the same kind, which can be replaced again", () =>
    Effect.gen(function*() {
      const directory = yield* fundedDirectory
      yield* withWallets(directory, ({ pool, wallet }) =>
        Effect.gen(function*() {
          const { transaction } = yield* wallet.payments.pay(to(COIN))
          const replaces = transaction.txidKey
          const inputs = wallet.ledger.transactions().flatMap((tx) =>
            tx.transaction.isCoinbase ? [] : tx.transaction.inputs
          )
          assert.strictEqual(inputs.length, 1)
          const { funded: next } = yield* wallet.payments.replacement(replaces, { feeRate: 500_000 })
          const { funded: other } = yield* wallet.payments.replacement(replaces, {
            ...to(2 * COIN),
            feeRate: 2_000_000
          })
          yield* wallet.payments.commit(next.transaction, { replaces })
          const late = yield* Effect.flip(wallet.payments.commit(other.transaction, { replaces }))
          assert.deepInclude(late, { _tag: "InvalidWalletRequest", code: "not-eligible" })
          assert.isDefined(pool.get(next.transaction.txidKey))
          const { funded } = yield* wallet.payments.bump(next.transaction.txidKey, {})
          assert.isDefined(pool.get(funded.transaction.txidKey))
        }))
    }))

  it.scopedLive("withdraws a transaction that the mempool fails on, and none that the mempool has", () =>
    Effect.gen(function*() {
      const directory = yield* fundedDirectory
      const { mempool, place } = broken()
      yield* withWallets(directory, ({ mine, pool, wallet }) =>
        Effect.gen(function*() {
          const before = wallet.ledger.coins()
          for (const failure of [Effect.fail(NO_SPACE), Effect.die(new Error("broken"))]) {
            place.accept = () => () => failure
            assert.isTrue(Exit.isFailure(yield* Effect.exit(wallet.payments.pay(to(COIN)))))
            assert.deepStrictEqual(wallet.ledger.coins(), before)
            assert.deepStrictEqual(keptTxids(directory), [])
          }
          place.accept = undefined
          yield* mine(1)
          assert.strictEqual(pool.info().size, 0)
          place.accept = (pool) => (transaction) => Effect.zipRight(pool.accept(transaction), Effect.fail(NO_SPACE))
          const { transaction } = yield* wallet.payments.pay(to(COIN))
          assert.strictEqual(wallet.ledger.transaction(transaction.txidKey)?.state.type, "pending")
          assert.deepStrictEqual(keptTxids(directory), [shown(transaction)])
        }), { mempool })
    }))

  it.scopedLive("keeps a transaction that the mempool refuses, and offers it again after the next block", () =>
    Effect.gen(function*() {
      const directory = yield* fundedDirectory
      const { mempool, place } = broken()
      yield* withWallets(directory, ({ mine, pool, wallet }) =>
        Effect.gen(function*() {
          place.accept = () => ({ txid }) =>
            new TransactionRejected({ txid: displayHash(txid), reason: "mempool full", kind: "underpaid" })
          const { transaction } = yield* wallet.payments.pay(to(COIN))
          assert.deepStrictEqual(keptTxids(directory), [shown(transaction)])
          yield* mine(1)
          assert.isUndefined(pool.get(transaction.txidKey))
          place.accept = undefined
          yield* mine(1)
          yield* eventually("sent", () => pool.isUnbroadcast(transaction.txidKey))
          assert.strictEqual(wallet.ledger.transaction(transaction.txidKey)?.state.type, "pending")
        }), { mempool })
    }))

  it.scopedLive("reports that a transaction is still live if it cannot be withdrawn", () =>
    Effect.gen(function*() {
      const directory = yield* fundedDirectory
      const { mempool, place } = broken()
      yield* withWallets(directory, ({ mine, pool, wallet }) =>
        Effect.gen(function*() {
          const { transaction } = yield* wallet.payments.fund(to(COIN))
          place.accept = () => () => Effect.zipRight(Effect.sync(() => blockWrites(directory)), Effect.fail(NO_SPACE))
          const failure = yield* Effect.flip(wallet.payments.commit(transaction))
          assert.strictEqual(failure._tag, "StorageUnavailable")
          assert.include(failure.message, `Transaction ${shown(transaction)} was not sent`)
          assert.include(failure.message, "it stays in the wallet and is sent later")
          assert.deepStrictEqual(wallet.ledger.transaction(transaction.txidKey)?.state, {
            type: "inactive",
            abandoned: false
          })
          assert.strictEqual(wallet.ledger.coins().length, 0)
          allowWrites(directory)
          place.accept = undefined
          yield* mine(1)
          yield* eventually("sent", () => pool.get(transaction.txidKey) !== undefined)
        }), { mempool })
    }))
})

describe("a waiting payment", () => {
  /** Seconds since 1970: about the time of the blocks of `fundedDirectory`. */
  const START = 1_296_688_602 + 102 * 600

  it.scopedLive("is announced again half a day later, at once, if a block came since", () =>
    Effect.gen(function*() {
      const directory = yield* fundedDirectory
      const clock = yield* MockTime
      yield* withWallets(directory, ({ mine, pool, scheduler, wallet }) =>
        Effect.gen(function*() {
          const { transaction: { txidKey } } = yield* wallet.payments.pay(to(COIN))
          pool.broadcastDone(txidKey)
          let announced = 0
          yield* pool.whenOffered(({ transaction }) => void (transaction.txidKey === txidKey && announced++))
          const later = (hours: number) =>
            Effect.gen(function*() {
              yield* clock.set(START + 3600 * hours)
              yield* scheduler.forward("1 minute")
              yield* settled("announced again", () => announced)
              return announced > 0
            })
          assert.isFalse(yield* later(11.9), "too early")
          assert.isFalse(yield* later(36), "it only waits for a block")
          yield* mine(2)
          assert.isFalse(yield* later(36.1), "at the block")
          assert.isTrue(yield* later(80))
        }))
    }).pipe(Effect.provide(nodeClock(START))))
})

describe("an abandoned payment", () => {
  it.scopedLive("stays abandoned when its conflict is gone, even after a restart", () =>
    Effect.gen(function*() {
      const directory = yield* fundedDirectory
      const { rival, transaction } = yield* withWallets(directory, ({ wallet }) =>
        Effect.gen(function*() {
          const rival = yield* wallet.payments.fund(to(2 * COIN))
          const { transaction } = yield* wallet.payments.pay(to(COIN))
          return { rival: rival.transaction, transaction }
        }))
      const { txidKey } = transaction
      const quiet = { mempool: (pool: Pool): Pool => ({ ...pool, info: () => ({ ...pool.info(), loaded: false }) }) }
      const block = yield* withWallets(directory, ({ mine, wallet }) =>
        Effect.gen(function*() {
          yield* wallet.payments.abandon(txidKey)
          const block = yield* mine(1, { transactions: [rival] })
          assert.deepStrictEqual(wallet.ledger.transaction(txidKey)?.state, { type: "conflicted", height: 102 })
          return block
        }), quiet)
      yield* withWallets(directory, ({ chain, mine, pool, wallet }) =>
        Effect.gen(function*() {
          assert.deepStrictEqual(wallet.ledger.transaction(txidKey)?.state, { type: "conflicted", height: 102 })
          yield* chain.control.invalidate(block.header.hash)
          yield* eventually("gone back", () => wallet.ledger.transaction(txidKey)?.state.type !== "conflicted")
          assert.deepStrictEqual(wallet.ledger.transaction(txidKey)?.state, { type: "inactive", abandoned: true })
          assert.strictEqual(kept(directory).find(({ txid }) => txid === shown(transaction))?.abandoned, true)
          yield* mine(2)
          assert.isUndefined(pool.get(txidKey))
        }))
    }))
})

describe("change", () => {
  const never = withOverrides(regtestParams, { activation: { taproot: Infinity } })

  it.scopedLive("of type bech32m is refused without active taproot, like addresses", () =>
    Effect.gen(function*() {
      const directory = yield* fundedDirectory
      yield* withWallets(directory, ({ wallet }) =>
        Effect.gen(function*() {
          const request = { ...to(COIN), changeType: "bech32m" } as const
          for (
            const refused of [
              yield* Effect.flip(wallet.payments.fund(request)),
              yield* Effect.flip(wallet.payments.pay(request)),
              yield* Effect.flip(wallet.keys.newChangeAddress("bech32m")),
              yield* Effect.flip(wallet.keys.newAddress({ type: "bech32m", label: "" }))
            ]
          ) {
            assert.deepInclude(refused, { _tag: "InvalidWalletRequest", code: "address-type" })
            assert.match(refused.message, /not safe on this network/)
          }
          const { changePosition } = yield* wallet.payments.fund({ ...request, changeType: "bech32" })
          assert.notStrictEqual(changePosition, -1)
        }), { params: never })
    }))

  it.scopedLive("of type bech32m is made with active taproot", () =>
    Effect.gen(function*() {
      const directory = yield* fundedDirectory
      yield* withWallets(directory, ({ wallet }) =>
        Effect.gen(function*() {
          const { changePosition, transaction } = yield* wallet.payments.fund({ ...to(COIN), changeType: "bech32m" })
          assert.strictEqual(transaction.outputs[changePosition]?.script[0], 0x51)
        }))
    }))
})

describe("a payment", () => {
  it.scopedLive("is drafted again if the tip is rolled back before the payment is offered", () =>
    Effect.gen(function*() {
      const directory = yield* fundedDirectory
      let beforeOffer: Effect.Effect<void> = Effect.void
      const offered: Array<number> = []
      yield* withWallets(directory, ({ chain, mine, wallet }) =>
        Effect.gen(function*() {
          const { header } = yield* mine(1)
          const { height } = yield* chain.tip
          beforeOffer = Effect.orDie(chain.control.invalidate(header.hash))
          const { transaction } = yield* wallet.payments.pay(to(COIN))
          assert.isAtLeast(offered.length, 1)
          assert.isAtMost(transaction.lockTime, height - 1)
          assert.deepStrictEqual(kept(directory).map(({ txid }) => txid), [shown(transaction)])
        }), {
        mempool: (pool) => ({
          ...pool,
          accept: (transaction) =>
            Effect.suspend(() => {
              offered.push(transaction.lockTime)
              const before = beforeOffer
              beforeOffer = Effect.void
              return Effect.zipRight(before, pool.accept(transaction))
            })
        })
      })
    }))
})
