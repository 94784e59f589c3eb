import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { COIN } from "../../src/protocol/amount.ts"
import { type TxidKey, txidKey } from "../../src/protocol/keys.ts"
import { outpointKey, type Transaction } from "../../src/protocol/transaction.ts"
import type { Wallet } from "../../src/wallet/Wallet.ts"
import { temporaryDirectory } from "../support/chain.ts"
import { eventually } from "../support/eventually.ts"
import { fundedDirectory, type LiveNode, withWallets } from "../support/liveWallets.ts"
import { ADDRESS } from "../support/mempool.ts"
import { text } from "../support/regtest.ts"
import { keptTxids, shown, to } from "./liveDocument.ts"

/** Blocks that make transactions of wallets impossible. */

const OTHER = { name: "other", privateKeys: true, blank: false, passphrase: undefined, loadOnStart: true } as const

/** Loads a second wallet after the default one, or before it. */
const withSecond = (node: LiveNode, order: "after" | "before") =>
  Effect.gen(function*() {
    const second = yield* node.wallets.create(OTHER)
    if (order === "before") {
      yield* node.wallets.unload("", undefined)
      yield* node.wallets.load("", undefined)
    }
    return second
  })

const stateIn = (wallet: Wallet, key: TxidKey) => wallet.ledger.transaction(key)?.state

/** Waits until all wallets have done what the blocks call for, while the mempool had processed them or had not. */
const allSettled = ({ wallets }: LiveNode) =>
  Effect.forEach(wallets.loaded(), ({ settled }) => settled, { discard: true })

describe("a block that spends the coin of a payment otherwise", () => {
  for (const order of ["after", "before"] as const) {
    it.scopedLive(
      `makes it a conflict in both wallets, the second loaded ${order} the payer`,
      () =>
        Effect.gen(function*() {
          const directory = yield* fundedDirectory
          const key = yield* withWallets(directory, (node) =>
            Effect.gen(function*() {
              const payee = yield* withSecond(node, order)
              const { script } = yield* payee.keys.newAddress({ type: "legacy", label: "" })
              const { transaction } = yield* node.wallet.payments.pay(to(script, 2 * COIN))
              const { funded } = yield* node.wallet.payments.bump(transaction.txidKey, {})
              const raised = funded.transaction.txidKey
              yield* node.mine(1, { transactions: [transaction] })
              const conflicted = { type: "conflicted", height: 102 } as const
              for (const wallet of [node.wallet, payee]) {
                assert.deepStrictEqual(stateIn(wallet, raised), conflicted)
                yield* wallet.settled
                assert.deepStrictEqual(stateIn(wallet, raised), conflicted)
                assert.deepInclude(stateIn(wallet, transaction.txidKey), { type: "confirmed", height: 102 })
              }
              yield* node.mine(1)
              yield* allSettled(node)
              assert.deepStrictEqual(stateIn(node.wallet, raised), conflicted)
              return raised
            }))
          yield* withWallets(directory, ({ wallets }) =>
            Effect.sync(() => {
              assert.strictEqual(wallets.loaded().length, 2)
              for (const wallet of wallets.loaded()) {
                assert.deepStrictEqual(stateIn(wallet, key), { type: "conflicted", height: 102 })
              }
            }))
        }),
      60_000
    )

    it.scopedLive(
      `lets a registration make another NAME_NEW, with a second wallet loaded ${order} it`,
      () =>
        Effect.gen(function*() {
          yield* withWallets(yield* fundedDirectory, (node) =>
            Effect.gen(function*() {
              yield* withSecond(node, order)
              const rival = yield* node.wallet.payments.fund(to(ADDRESS, COIN))
              const { newTxid } = yield* node.wallet.names.register(text("d/lost"), text("{}"), {})
              yield* node.mine(1, { transactions: [rival.transaction] })
              assert.strictEqual(stateIn(node.wallet, txidKey(newTxid))?.type, "conflicted")
              const made = () =>
                [...node.pool.entries()].some(({ transaction }) => transaction.txidKey !== txidKey(newTxid))
              yield* eventually("another name_new", made)
              yield* node.minePool
              yield* eventually("it goes on", () => node.wallet.names.registrations()[0]?.step === "maturing")
            }))
        }),
      60_000
    )
  }

  it.scopedLive(
    "forbids it still after a reorg of a later block that forbade it as well, even after a restart",
    () =>
      Effect.gen(function*() {
        const directory = yield* fundedDirectory
        const { key, second } = yield* withWallets(directory, (node) =>
          Effect.gen(function*() {
            const { mine, wallet } = node
            // The payment spends two coins, and each of two blocks spends one of them.
            yield* node.fund
            const rivals: Array<Transaction> = []
            for (const coin of wallet.ledger.coins().filter((each) => !wallet.ledger.isReused(each)).slice(0, 2)) {
              const inputs = [{ outpoint: coin.outpoint }]
              rivals.push((yield* wallet.payments.fund({ ...to(ADDRESS, COIN), inputs, addInputs: false })).transaction)
            }
            const { transaction } = yield* wallet.payments.pay(to(ADDRESS, 70 * COIN))
            assert.strictEqual(transaction.inputs.length, 2)
            yield* mine(1, { transactions: rivals.slice(0, 1) })
            const block = yield* mine(1, { transactions: rivals.slice(1) })
            return { key: transaction.txidKey, second: block.header.hash }
          }))
        yield* withWallets(directory, ({ chain, wallet }) =>
          Effect.gen(function*() {
            const { height } = wallet.ledger.lastBlock()
            const first = { type: "conflicted", height: height - 1 } as const
            assert.deepStrictEqual(stateIn(wallet, key), first)
            yield* chain.control.invalidate(second)
            assert.strictEqual(wallet.ledger.lastBlock().height, height - 1)
            assert.deepStrictEqual(stateIn(wallet, key), first)
          }))
        yield* withWallets(directory, ({ chain, wallet }) =>
          Effect.gen(function*() {
            const { hash, height } = wallet.ledger.lastBlock()
            assert.deepStrictEqual(stateIn(wallet, key), { type: "conflicted", height })
            yield* chain.control.invalidate(hash)
            assert.deepStrictEqual(stateIn(wallet, key), { type: "inactive", abandoned: false })
          }))
      }),
    60_000
  )
})

describe("a transaction of the mempool in the place of a payment", () => {
  it.scopedLive(
    "frees the coins that only the payment spends, even after a restart, until it is gone itself",
    () =>
      Effect.gen(function*() {
        const directory = yield* fundedDirectory
        const { child, key, rival } = yield* withWallets(directory, (node) =>
          Effect.gen(function*() {
            const { pool, wallet } = node
            yield* node.fund
            const [, coin] = wallet.ledger.coins()
            if (coin === undefined) return assert.fail("no second coin")
            const rate = { feeRate: 1_000_000, inputs: [{ outpoint: coin.outpoint }], addInputs: false }
            const rival = (yield* wallet.payments.fund({ ...to(ADDRESS, 2 * COIN), ...rate })).transaction
            const { transaction } = yield* wallet.payments.pay(to(ADDRESS, 70 * COIN))
            const { transaction: child } = yield* wallet.payments.pay(to(ADDRESS, COIN))
            assert.strictEqual(wallet.ledger.coins().length, 1)
            yield* pool.accept(rival)
            return { child: child.txidKey, key: transaction.txidKey, rival }
          }), { keepPool: true })
        yield* withWallets(directory, ({ mine, pool, wallet }) =>
          Effect.gen(function*() {
            yield* wallet.settled
            for (const displaced of [key, child]) {
              assert.isUndefined(pool.get(displaced))
              assert.deepStrictEqual(stateIn(wallet, displaced), { type: "inactive", abandoned: false })
            }
            const values = wallet.ledger.coins().map(({ output }) => output.value)
            assert.strictEqual(values.length, 2, "the change of the rival, and the coin that it does not spend")
            assert.include(values, 50 * COIN)
            yield* mine(1, { transactions: [rival] })
            assert.strictEqual(stateIn(wallet, child)?.type, "conflicted")
          }), { keepPool: true })
      }),
    60_000
  )
})

describe("a block reward that a reorg orphaned", () => {
  it.scopedLive(
    "is the same after a restart, and leaves wallet.json when a block has it for good",
    () =>
      Effect.gen(function*() {
        const directory = yield* temporaryDirectory
        const { hash, transaction } = yield* withWallets(directory, ({ address, chain, mine, wallet }) =>
          Effect.gen(function*() {
            const { header, transactions: [transaction] } = yield* mine(1, { script: yield* address })
            if (transaction === undefined) {
              return assert.fail("no coinbase")
            }
            yield* mine(1)
            yield* chain.control.invalidate(header.hash)
            assert.deepStrictEqual(stateIn(wallet, transaction.txidKey), { type: "inactive", abandoned: true })
            return { hash: header.hash, transaction }
          }))
        yield* withWallets(directory, ({ chain, mine, wallet }) =>
          Effect.gen(function*() {
            assert.deepStrictEqual(stateIn(wallet, transaction.txidKey), { type: "inactive", abandoned: true })
            assert.deepStrictEqual(keptTxids(directory), [shown(transaction)])
            assert.deepStrictEqual(yield* wallet.ledger.balances, { trusted: 0, untrustedPending: 0, immature: 0 })
            yield* chain.control.reconsider(hash)
            assert.deepInclude(stateIn(wallet, transaction.txidKey), { type: "confirmed", height: 1 })
            yield* mine(4)
            assert.deepStrictEqual(keptTxids(directory), [])
          }))
      }),
    60_000
  )
})

const registered = (node: LiveNode, name: Uint8Array) =>
  Effect.gen(function*() {
    yield* node.wallet.names.register(name, text("first"), { renew: false })
    yield* node.minePool
    yield* node.mine(12)
    yield* allSettled(node)
    yield* node.minePool
    yield* allSettled(node)
  })

describe("an update that waits until its name has expired", () => {
  it.scopedLive(
    "is abandoned with what depends on it, so that their coins are free",
    () =>
      Effect.gen(function*() {
        yield* withWallets(yield* fundedDirectory, (node) =>
          Effect.gen(function*() {
            const { mine, wallet } = node
            const waiting = () =>
              wallet.ledger.transactions().flatMap(({ state, transaction }) =>
                state.type === "pending" ? [transaction] : []
              )
            yield* wallet.names.register(text("d/late"), text("first"), { renew: false })
            yield* mine(1, { transactions: waiting() })
            yield* mine(12)
            yield* allSettled(node)
            assert.lengthOf(waiting(), 1)
            yield* mine(1, { transactions: waiting() })
            yield* allSettled(node)
            const update = yield* wallet.names.nameUpdate({ name: text("d/late"), value: text("second") })
            const child = yield* wallet.payments.pay({
              ...to(ADDRESS, COIN),
              inputs: wallet.ledger.coins().filter(({ height }) => height === undefined).filter(({ name }) =>
                name === undefined
              ).map(({ outpoint }) => ({ outpoint }))
            })
            // The next block would find the name expired.
            yield* mine(29)
            yield* allSettled(node)
            for (const { txidKey: key } of [update, child.transaction]) {
              assert.deepStrictEqual(stateIn(wallet, key), { type: "inactive", abandoned: true })
            }
            assert.isTrue(wallet.ledger.coins().every(({ height }) => height !== undefined))
          }))
      }),
    60_000
  )

  it.scopedLive(
    "waits again when a reorg brings the name back, even after a restart, but not what the owner abandoned",
    () =>
      Effect.gen(function*() {
        const directory = yield* fundedDirectory
        const { expiry, keys } = yield* withWallets(directory, (node) =>
          Effect.gen(function*() {
            const { mine, wallet } = node
            const name = text("d/late")
            yield* registered(node, name)
            const spendChange = Effect.suspend(() => {
              const free = wallet.ledger.coins().filter(({ height, name }) =>
                height === undefined && name === undefined
              )
              return wallet.payments.pay({ ...to(ADDRESS, COIN), inputs: free.map(({ outpoint }) => ({ outpoint })) })
            })
            const update = yield* wallet.names.nameUpdate({ name, value: text("second") })
            const child = yield* spendChange
            const given = yield* spendChange
            const { header } = yield* mine(29)
            yield* allSettled(node)
            const keys = [update, child.transaction, given.transaction].map(({ txidKey: key }) => key)
            for (const key of keys) assert.deepStrictEqual(stateIn(wallet, key), { type: "inactive", abandoned: true })
            yield* wallet.payments.abandon(keys[2] ?? assert.fail())
            return { expiry: header.hash, keys }
          }))
        const abandoned = ({ wallet }: LiveNode) =>
          keys.map((key) => {
            const state = stateIn(wallet, key)
            return state?.type === "inactive" && state.abandoned
          })
        yield* withWallets(directory, (node) =>
          Effect.gen(function*() {
            assert.deepStrictEqual(abandoned(node), [true, true, true])
            yield* node.chain.control.invalidate(expiry)
            yield* allSettled(node)
            assert.deepStrictEqual(abandoned(node), [false, false, true])
          }))
        yield* withWallets(directory, (node) =>
          Effect.gen(function*() {
            yield* node.chain.control.reconsider(expiry)
            yield* allSettled(node)
            assert.deepStrictEqual(abandoned(node), [true, true, true])
          }))
      }),
    60_000
  )

  it.scopedLive(
    "is sent again when a reorg brings the name back, so that no renewal waits for it in vain",
    () =>
      Effect.gen(function*() {
        yield* withWallets(yield* fundedDirectory, (node) =>
          Effect.gen(function*() {
            const { chain, mine, pool, wallet } = node
            const name = text("d/late")
            yield* registered(node, name)
            const { txidKey: key } = yield* wallet.names.nameUpdate({ name, value: text("second") })
            yield* mine(29)
            yield* allSettled(node)
            assert.deepStrictEqual(stateIn(wallet, key), { type: "inactive", abandoned: true })
            assert.isUndefined(pool.get(key))
            const { height } = yield* chain.tip
            const { hash } = (yield* chain.headerAt(height - 3)) ?? assert.fail("no header")
            yield* chain.control.invalidate(hash)
            yield* mine(1)
            yield* allSettled(node)
            assert.isDefined(pool.get(key))
            assert.deepStrictEqual(stateIn(wallet, key), { type: "pending" })
          }))
      }),
    60_000
  )

  for (const spends of ["another", "the same"] as const) {
    it.scopedLive(
      spends === "another"
        ? "waits again once the mempool replaces the payment that had taken its coin"
        : "is still given up once the mempool replaces that payment by one of the same coin",
      () =>
        Effect.gen(function*() {
          yield* withWallets(yield* fundedDirectory, (node) =>
            Effect.gen(function*() {
              const { chain, mine, pool, wallet } = node
              yield* node.fund
              const name = text("d/late")
              yield* registered(node, name)
              const update = yield* wallet.names.nameUpdate({ name, value: text("second") })
              const { header } = yield* mine(29)
              yield* allSettled(node)
              const used = new Set(update.inputs.map(({ prevout }) => outpointKey(prevout)))
              const coins = wallet.ledger.coins().filter(({ expired, name }) => !expired && name === undefined)
              const taken = coins.find(({ outpoint }) => used.has(outpoint)) ?? assert.fail("no freed coin")
              const other = coins.find(({ outpoint }) => !used.has(outpoint)) ?? assert.fail("no other coin")
              const only = (...inputs: typeof coins) => ({
                inputs: inputs.map(({ outpoint }) => ({ outpoint })),
                addInputs: false
              })
              const rival = yield* wallet.payments.fund({
                ...to(ADDRESS, COIN),
                ...only(spends === "another" ? other : taken),
                feeRate: 1_000_000
              })
              const payment = yield* wallet.payments.pay({ ...to(ADDRESS, COIN), ...only(taken, other) })
              yield* chain.control.invalidate(header.hash)
              yield* allSettled(node)
              assert.isDefined(pool.get(payment.transaction.txidKey))
              assert.deepStrictEqual(stateIn(wallet, update.txidKey), { type: "inactive", abandoned: true })
              yield* pool.accept(rival.transaction)
              yield* eventually(
                "the wallet knows the rival",
                Effect.sync(() => stateIn(wallet, rival.transaction.txidKey)?.type === "pending")
              )
              const abandoned = spends === "the same"
              assert.deepStrictEqual(stateIn(wallet, update.txidKey), { type: "inactive", abandoned })
              assert.isUndefined(pool.get(payment.transaction.txidKey))
            }))
        }),
      60_000
    )
  }
})
