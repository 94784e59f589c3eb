import { assert, describe, it } from "@effect/vitest"
import { Effect, Fiber, Stream } from "effect"
import { COIN } from "../../src/protocol/amount.ts"
import { displayHash } from "../../src/protocol/bytes.ts"
import { txidKey } from "../../src/protocol/keys.ts"
import type { Transaction } from "../../src/protocol/transaction.ts"
import type { TransactionChange } from "../../src/wallet/Wallet.ts"
import { eventually } from "../support/eventually.ts"
import { fundedDirectory, type LiveNode, withWallets } from "../support/liveWallets.ts"
import { ADDRESS } from "../support/mempool.ts"

/** What a wallet knows of transactions: across restarts, of others, with proofs, and in its notifications. */

const to = (script: Uint8Array, value: number) => ({ outputs: [{ value, script }] })

/** A second wallet on the node that gets a payment of the first. */
const paidOther = ({ wallet, wallets }: LiveNode) =>
  Effect.gen(function*() {
    const other = yield* wallets.create({
      name: "other",
      privateKeys: true,
      blank: false,
      passphrase: undefined,
      loadOnStart: true
    })
    const { script } = yield* other.keys.newAddress({ type: "legacy", label: "" })
    const { transaction } = yield* wallet.payments.pay(to(script, COIN))
    yield* eventually("the other wallet knows it", () => other.ledger.transaction(transaction.txidKey) !== undefined)
    return { other, transaction, script }
  })

describe("payments of others", () => {
  it.scopedLive("are known after a restart, though no block has them", () =>
    Effect.gen(function*() {
      const directory = yield* fundedDirectory
      const { txidKey } = yield* withWallets(directory, (node) =>
        Effect.map(paidOther(node), ({ transaction }) => transaction))
      yield* withWallets(directory, ({ wallets }) =>
        Effect.sync(() => {
          const found = wallets.get("other")?.ledger.transaction(txidKey)
          assert.notStrictEqual(found?.state.type, "confirmed")
          assert.isDefined(found)
          assert.deepStrictEqual(wallets.get("other")?.ledger.coins(), [])
        }))
    }))
})

describe("addresses that a wallet has spent from", () => {
  it.scopedLive("are left out of balances and payments on request, even after a restart", () =>
    Effect.gen(function*() {
      const directory = yield* fundedDirectory
      yield* withWallets(directory, ({ address, mine, minePool, wallet }) =>
        Effect.gen(function*() {
          const [coin = assert.fail()] = wallet.ledger.coins()
          assert.isFalse(wallet.ledger.isReused(coin))
          yield* wallet.payments.pay(to(ADDRESS, 20 * COIN))
          yield* minePool
          // Another payment to the address of the first coin.
          yield* mine(1, { script: coin.own.script })
          yield* mine(101)
          const reused = wallet.ledger.coins().filter((each) => wallet.ledger.isReused(each))
          assert.deepStrictEqual(reused.map(({ output }) => output.value), [50 * COIN])
          const all = yield* wallet.ledger.balances
          const clean = yield* wallet.ledger.cleanBalances
          assert.strictEqual(all.trusted - clean.trusted, 50 * COIN)
          const request = to(ADDRESS, 40 * COIN)
          assert.strictEqual(
            (yield* Effect.flip(wallet.payments.fund({ ...request, avoidReuse: true })))._tag,
            "FundsMissing"
          )
          assert.isDefined((yield* wallet.payments.fund(request)).transaction)
          assert.isFalse(wallet.avoidsReuse())
          yield* wallet.setAvoidReuse(true)
          yield* address
        }))
      yield* withWallets(directory, ({ wallet }) =>
        Effect.gen(function*() {
          assert.isTrue(wallet.avoidsReuse())
          yield* wallet.setAvoidReuse(false)
        }))
      yield* withWallets(directory, ({ wallet }) => Effect.sync(() => assert.isFalse(wallet.avoidsReuse())))
    }))
})

describe("single transactions", () => {
  it.scopedLive("are removed, and come back with the proof of their block", () =>
    Effect.gen(function*() {
      const directory = yield* fundedDirectory
      const kept = yield* withWallets(directory, ({ chain, wallet }) =>
        Effect.gen(function*() {
          const [reward = assert.fail()] = wallet.ledger.transactions()
          const { state, transaction } = reward
          if (state.type !== "confirmed") return assert.fail("the reward is in a block")
          yield* wallet.ledger.remove(transaction.txidKey)
          assert.deepStrictEqual([wallet.ledger.coins(), wallet.ledger.transactions()], [[], []])
          const refused = yield* Effect.flip(wallet.ledger.remove(transaction.txidKey))
          assert.strictEqual(
            refused.message,
            `Transaction ${displayHash(transaction.txid)} does not belong to this wallet`
          )
          const { header } = yield* chain.header(state.hash)
          return { transaction, block: { height: state.height, hash: state.hash, time: header.time, position: 0 } }
        }))
      yield* withWallets(directory, ({ wallet }) =>
        Effect.gen(function*() {
          assert.deepStrictEqual(wallet.ledger.transactions(), [])
          yield* wallet.ledger.insert(kept.transaction, kept.block)
          assert.strictEqual((yield* wallet.ledger.balances).trusted, 50 * COIN)
        }))
      yield* withWallets(directory, ({ wallet }) =>
        Effect.gen(function*() {
          assert.strictEqual((yield* wallet.ledger.balances).trusted, 50 * COIN)
          yield* wallet.ledger.remove(kept.transaction.txidKey)
          yield* wallet.ledger.rescan(0, undefined)
          assert.strictEqual((yield* wallet.ledger.balances).trusted, 50 * COIN)
        }))
    }))

  it.scopedLive("a rescan is stopped on request, once", () =>
    Effect.gen(function*() {
      const directory = yield* fundedDirectory
      yield* withWallets(directory, ({ wallet }) =>
        Effect.gen(function*() {
          assert.isFalse(wallet.ledger.abortRescan())
          const running = yield* Effect.fork(wallet.ledger.rescan(0, undefined))
          yield* eventually("the rescan runs", () => wallet.ledger.scanning() !== undefined)
          assert.deepStrictEqual([wallet.ledger.abortRescan(), wallet.ledger.abortRescan()], [true, false])
          const failure = yield* Effect.flip(Fiber.join(running))
          assert.strictEqual(failure.message, "Rescan aborted.")
          assert.isUndefined(wallet.ledger.scanning())
          assert.strictEqual(yield* wallet.ledger.rescan(0, undefined), 101)
        }))
    }))
})

describe("changes of transactions", () => {
  it.scopedLive("are announced for each wallet: new, in a block, out of it, and seen by a rescan", () =>
    Effect.gen(function*() {
      const directory = yield* fundedDirectory
      yield* withWallets(directory, (node) =>
        Effect.gen(function*() {
          const { chain, minePool, wallets } = node
          const told: Array<TransactionChange> = []
          yield* Effect.forkScoped(Stream.runForEach(wallets.changes, (change) => Effect.sync(() => told.push(change))))
          const { other, transaction } = yield* paidOther(node)
          const of = ({ txid }: Transaction) =>
            told.filter((change) => txidKey(change.txid) === txidKey(txid))
              .map(({ block, wallet }) => `${wallet} ${block?.height ?? -1}`).sort()
          yield* eventually("both wallets announce the payment", () => of(transaction).length === 2)
          assert.deepStrictEqual(of(transaction), [" -1", "other -1"])
          told.length = 0
          const block = yield* minePool
          yield* eventually("both announce its block", () => of(transaction).length === 2)
          assert.deepStrictEqual(of(transaction), [" 102", "other 102"])
          told.length = 0
          yield* chain.control.invalidate(block.header.hash)
          yield* eventually("both announce that it has none", () => of(transaction).length >= 2)
          assert.deepStrictEqual(of(transaction), [" -1", "other -1"])
          yield* chain.control.reconsider(block.header.hash)
          told.length = 0
          yield* other.ledger.rescan(102, undefined)
          yield* eventually("the rescan announces it", () => of(transaction).includes("other 102"))
        }))
    }))
})
