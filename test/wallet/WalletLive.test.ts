import { assert, describe, it } from "@effect/vitest"
import SQLite from "better-sqlite3"
import { Effect, Exit } from "effect"
import { copyFileSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { scriptOf } from "../../src/protocol/address.ts"
import { COIN } from "../../src/protocol/amount.ts"
import { displayHash, toHex } from "../../src/protocol/bytes.ts"
import { hash160 } from "../../src/protocol/hash.ts"
import { txidKey } from "../../src/protocol/keys.ts"
import { NAME_TX_VERSION, nameScript } from "../../src/protocol/nameOperation.ts"
import { outpoint, outpointKey, type Transaction } from "../../src/protocol/transaction.ts"
import { type InvalidWalletRequest } from "../../src/wallet/errors.ts"
import { decodeDocument } from "../../src/wallet/keys/WalletDocument.ts"
import { IndexStore } from "../../src/wallet/ledger/IndexStore.ts"
import {
  makeProvider,
  NO_PROVIDER,
  publicKeyOf,
  type SigningProvider
} from "../../src/wallet/signing/SigningProvider.ts"
import { DEFAULT_RULES } from "../../src/wallet/WalletRules.ts"
import { temporaryDirectory } from "../support/chain.ts"
import { eventually } from "../support/eventually.ts"
import { fundedDirectory, withWallets } from "../support/liveWallets.ts"
import { ADDRESS, pay as payAnyone } from "../support/mempool.ts"
import { nameNew, saltOf, text } from "../support/regtest.ts"
import { withoutChecksum } from "../support/walletText.ts"

const documentOf = (directory: string) => {
  const document = decodeDocument(readFileSync(join(directory, "wallet.json"), "utf8"))
  if (document._tag === "Left") throw new Error(document.left)
  return document.right.document
}

const keptTxids = (directory: string) => documentOf(directory).transactions.map(({ txid }) => txid)

/** A transaction that no wallet has. */
const UNKNOWN = txidKey(new Uint8Array(32))

const shown = (transaction: Transaction): string => displayHash(transaction.txid)

const to = (script: Uint8Array, value: number) => ({ outputs: [{ value, script }] })

describe("Wallet", () => {
  it.scopedLive("a reward is immature for a hundred blocks, then trusted", () =>
    Effect.gen(function*() {
      const directory = yield* temporaryDirectory
      yield* withWallets(directory, ({ address, mine, wallet }) =>
        Effect.gen(function*() {
          const script = yield* address
          yield* mine(1, { script })
          yield* mine(99)
          assert.deepStrictEqual(yield* wallet.ledger.balances, {
            trusted: 0,
            untrustedPending: 0,
            immature: 50 * COIN
          })
          yield* mine(1)
          assert.deepStrictEqual(yield* wallet.ledger.balances, {
            trusted: 50 * COIN,
            untrustedPending: 0,
            immature: 0
          })
          assert.strictEqual(wallet.ledger.lastBlock().height, 101)
        }))
    }))

  it.scopedLive("a payment is on disk before it is offered, then pending, and leaves wallet.json six blocks deep", () =>
    Effect.gen(function*() {
      const directory = yield* fundedDirectory
      const seen: Array<boolean> = []
      yield* withWallets(directory, ({ mine, minePool, pool, wallet }) =>
        Effect.gen(function*() {
          const { fee, transaction } = yield* wallet.payments.pay(to(ADDRESS, 3 * COIN))
          assert.deepStrictEqual(seen, [true])
          assert.isTrue(pool.isUnbroadcast(transaction.txidKey))
          assert.strictEqual(wallet.ledger.transaction(transaction.txidKey)?.state.type, "pending")
          assert.deepStrictEqual(yield* wallet.ledger.balances, {
            trusted: 47 * COIN - fee,
            untrustedPending: 0,
            immature: 0
          })
          assert.strictEqual(fee, Math.ceil(transaction.virtualSize * 100))
          yield* minePool
          assert.deepInclude(wallet.ledger.transaction(transaction.txidKey)?.state, {
            type: "confirmed",
            height: 102,
            index: 1
          })
          yield* mine(4)
          assert.deepStrictEqual(keptTxids(directory), [shown(transaction)], "five deep")
          yield* mine(1)
          assert.deepStrictEqual(keptTxids(directory), [], "six deep")
          assert.strictEqual(wallet.ledger.transaction(transaction.txidKey)?.state.type, "confirmed")
        }), {
        mempool: (pool) => ({
          ...pool,
          accept: (transaction) =>
            Effect.suspend(() => {
              seen.push(keptTxids(directory).includes(shown(transaction)))
              return pool.accept(transaction)
            })
        })
      })
    }))

  it.scopedLive("a confirmed payment survives the loss of the last blocks and of the index", () =>
    Effect.gen(function*() {
      const directory = yield* fundedDirectory
      const txid = yield* withWallets(directory, ({ mine, minePool, wallet }) =>
        Effect.gen(function*() {
          const { transaction } = yield* wallet.payments.pay(to(ADDRESS, COIN))
          yield* minePool
          yield* mine(4)
          return transaction.txidKey
        }))
      for (const lost of ["chainstate", "blocks", "names.db"]) {
        rmSync(join(directory, lost), { recursive: true, force: true })
      }
      yield* withWallets(directory, ({ wallet }) =>
        Effect.sync(() => {
          assert.strictEqual(wallet.ledger.transaction(txid)?.state.type, "inactive")
        }))
    }))

  it.scopedLive("the wallet syncs the index before it removes a confirmed payment from wallet.json", () =>
    Effect.gen(function*() {
      const directory = yield* fundedDirectory
      const keptAtSync: Array<ReadonlyArray<string>> = []
      const { sync } = IndexStore.prototype
      yield* Effect.acquireRelease(
        Effect.sync(() => {
          IndexStore.prototype.sync = function() {
            keptAtSync.push(keptTxids(directory))
            sync.call(this)
          }
        }),
        () => Effect.sync(() => void (IndexStore.prototype.sync = sync))
      )
      yield* withWallets(directory, ({ mine, minePool, wallet }) =>
        Effect.gen(function*() {
          const { transaction } = yield* wallet.payments.pay(to(ADDRESS, COIN))
          yield* minePool
          yield* mine(8)
          assert.deepStrictEqual(keptAtSync, [[shown(transaction)]])
          assert.deepStrictEqual(keptTxids(directory), [])
        }))
    }))

  it.scopedLive("the wallet rebuilds an index of an older version whose row holds another transaction", () =>
    Effect.gen(function*() {
      const directory = yield* temporaryDirectory
      const file = join(directory, "chainstate", "wallet.db")
      const before = yield* withWallets(
        directory,
        ({ fund, wallet }) => Effect.zipRight(fund, Effect.sync(() => wallet.ledger.transactions().length))
      )
      assert.isAbove(before, 0)
      for (
        const change of [
          "bytes = CAST(substr(bytes, 1, length(bytes) - 1) || x'01' AS BLOB)",
          "bytes = zeroblob(length(bytes))"
        ]
      ) {
        const database = new SQLite(file)
        database.exec(`UPDATE transactions SET ${change}`)
        database.close()
        // Without the checksums of its pages only the rows show the damage.
        rmSync(`${file}.sums`)
        const after = yield* withWallets(
          directory,
          ({ wallet }) => Effect.sync(() => wallet.ledger.transactions().length)
        )
        assert.strictEqual(after, before)
      }
    }))

  it.scopedLive("the wallet refuses a registration whose salt does not open its NAME_NEW, in any transaction", () =>
    Effect.gen(function*() {
      const directory = yield* fundedDirectory
      const file = join(directory, "wallet.json")
      yield* withWallets(directory, ({ mine, minePool, wallet }) =>
        Effect.gen(function*() {
          yield* wallet.names.nameNew(text("d/salted"), {})
          yield* minePool
          yield* mine(6)
          assert.deepStrictEqual(keptTxids(directory), [])
        }))
      const whole = withoutChecksum(readFileSync(file, "utf8"))
      const damaged = whole.replace(/"rand": "(.)/, (_, digit) => `"rand": "${digit === "0" ? "1" : "0"}`)
      assert.notStrictEqual(damaged, whole)
      writeFileSync(file, damaged)
      const failure = yield* Effect.flip(withWallets(directory, () => Effect.void))
      assert.deepInclude(failure, {
        _tag: "WalletDamaged",
        found: "registrations.0: name or salt do not open its NAME_NEW"
      })
      assert.strictEqual(readFileSync(file, "utf8"), damaged)
    }))

  it.scopedLive("a transaction that the mempool refuses stays in the wallet until it is abandoned", () =>
    Effect.gen(function*() {
      const directory = yield* fundedDirectory
      yield* withWallets(directory, ({ mine, pool, wallet }) =>
        Effect.gen(function*() {
          const nonstandard = new Uint8Array([0x61])
          const { transaction } = yield* wallet.payments.pay(to(nonstandard, COIN))
          assert.isUndefined(pool.get(transaction.txidKey))
          const state = () => wallet.ledger.transaction(transaction.txidKey)?.state
          assert.deepStrictEqual(state(), { type: "inactive", abandoned: false })
          assert.deepStrictEqual(keptTxids(directory), [shown(transaction)])
          assert.strictEqual(wallet.ledger.coins().length, 0)
          yield* mine(1)
          assert.deepStrictEqual(state(), { type: "inactive", abandoned: false })
          yield* wallet.payments.abandon(transaction.txidKey)
          assert.strictEqual(wallet.ledger.coins().length, 1)
        }))
    }))

  it.scopedLive("simultaneous payments that fund and keep exclusively spend different coins", () =>
    Effect.gen(function*() {
      const directory = yield* temporaryDirectory
      yield* withWallets(directory, ({ fund, wallet }) =>
        Effect.gen(function*() {
          for (let i = 0; i < 3; i++) yield* fund
          const one = wallet.payments.exclusively(Effect.gen(function*() {
            const funded = yield* wallet.payments.fund(to(ADDRESS, COIN))
            yield* wallet.payments.commit(funded.transaction)
            return funded.transaction
          }))
          const made = yield* Effect.all([one, wallet.payments.pay(to(ADDRESS, COIN)), one], {
            concurrency: "unbounded"
          })
          const spent = made.flatMap((each) => ("inputs" in each ? each : each.transaction).inputs)
          const outpoints = spent.map(({ prevout }) => outpointKey(prevout))
          assert.strictEqual(new Set(outpoints).size, outpoints.length)
          assert.strictEqual(wallet.ledger.transactions().filter(({ state }) => state.type === "pending").length, 3)
        }))
    }))

  it.scopedLive("a caller may name coins that an unconfirmed payment spends, to replace it", () =>
    Effect.gen(function*() {
      yield* withWallets(yield* fundedDirectory, ({ minePool, wallet }) =>
        Effect.gen(function*() {
          const { transaction } = yield* wallet.payments.pay(to(ADDRESS, COIN))
          const inputs = transaction.inputs.map(({ prevout }) => ({ outpoint: outpointKey(prevout) }))
          const named = { ...to(ADDRESS, 2 * COIN), inputs, addInputs: false }
          const external = { known: NO_PROVIDER, weights: new Map() }
          const again = yield* wallet.payments.fund({ ...named, external })
          assert.deepStrictEqual(again.transaction.inputs[0]?.prevout, transaction.inputs[0]?.prevout)
          assert.strictEqual((yield* Effect.flip(wallet.payments.fund(named)))._tag, "FundsMissing", "not by a caller")
          yield* minePool
          assert.strictEqual((yield* Effect.flip(wallet.payments.fund({ ...named, external })))._tag, "FundsMissing")
        }))
    }))

  it.scopedLive("a reorganisation makes a payment pending again, and a block of the other branch confirms it", () =>
    Effect.gen(function*() {
      const directory = yield* fundedDirectory
      yield* withWallets(directory, ({ chain, mine, minePool, wallet }) =>
        Effect.gen(function*() {
          const { transaction } = yield* wallet.payments.pay({ ...to(ADDRESS, COIN), comment: "rent" })
          const block = yield* minePool
          assert.deepStrictEqual(keptTxids(directory), [shown(transaction)], "a note is kept")
          yield* chain.control.invalidate(block.header.hash)
          assert.strictEqual(wallet.ledger.transaction(transaction.txidKey)?.state.type, "pending")
          assert.strictEqual(wallet.ledger.lastBlock().height, 101)
          yield* mine(1)
          assert.strictEqual(wallet.ledger.transaction(transaction.txidKey)?.state.type, "pending")
          yield* mine(1, { transactions: [transaction] })
          assert.deepInclude(wallet.ledger.transaction(transaction.txidKey)?.state, { type: "confirmed", height: 103 })
          assert.strictEqual(wallet.ledger.transaction(transaction.txidKey)?.comment, "rent")
        }))
    }))

  it.scopedLive("coins that were spent together with an orphaned block reward are free, also after a restart", () =>
    Effect.gen(function*() {
      const directory = yield* fundedDirectory
      const { txidKey } = yield* withWallets(directory, ({ address, chain, mine, wallet }) =>
        Effect.gen(function*() {
          const reward = yield* mine(1, { script: yield* address })
          yield* mine(100)
          const { transaction } = yield* wallet.payments.pay(to(ADDRESS, 70 * COIN))
          assert.strictEqual(transaction.inputs.length, 2)
          yield* chain.control.invalidate(reward.header.hash)
          yield* eventually(
            "the other coin is free",
            Effect.map(wallet.ledger.balances, ({ trusted }) => trusted === 50 * COIN)
          )
          yield* mine(1)
          return transaction
        }))
      yield* withWallets(directory, ({ wallet }) =>
        Effect.gen(function*() {
          assert.deepInclude(wallet.ledger.transaction(txidKey)?.state, { type: "inactive", abandoned: true })
          assert.strictEqual((yield* wallet.ledger.balances).trusted, 50 * COIN)
        }))
    }))

  it.scopedLive("a transaction that is not final yet is refused, or stays in the wallet if the caller wants that", () =>
    Effect.gen(function*() {
      const directory = yield* fundedDirectory
      yield* withWallets(directory, ({ wallet }) =>
        Effect.gen(function*() {
          const { transaction } = yield* wallet.payments.fund({ ...to(ADDRESS, COIN), lockTime: 1_000 })
          assert.deepInclude(yield* Effect.flip(wallet.payments.commit(transaction)), { kind: "premature" })
          assert.isUndefined(wallet.ledger.transaction(transaction.txidKey))
          yield* wallet.payments.commit(transaction, { keepPremature: true })
          assert.strictEqual(wallet.ledger.transaction(transaction.txidKey)?.state.type, "inactive")
        }))
    }))

  it.scopedLive("an abandoned transaction that was sent again is not abandoned after a restart", () =>
    Effect.gen(function*() {
      const directory = yield* fundedDirectory
      const paid = yield* withWallets(
        directory,
        ({ wallet }) => Effect.map(wallet.payments.pay(to(ADDRESS, COIN)), ({ transaction }) => transaction)
      )
      yield* withWallets(directory, ({ pool, wallet }) =>
        Effect.gen(function*() {
          yield* wallet.payments.abandon(paid.txidKey)
          assert.isTrue(documentOf(directory).transactions[0]?.abandoned)
          yield* pool.accept(paid)
          yield* eventually(
            "the file knows it",
            () => documentOf(directory).transactions[0]?.abandoned === false
          )
          assert.strictEqual(wallet.ledger.transaction(paid.txidKey)?.state.type, "pending")
        }), { rules: { ...DEFAULT_RULES, broadcast: false } })
    }))

  it.scopedLive("a confirmed double spend makes a payment conflicted, and a reorg of it makes the payment valid", () =>
    Effect.gen(function*() {
      const directory = yield* fundedDirectory
      yield* withWallets(directory, ({ chain, mine, wallet }) =>
        Effect.gen(function*() {
          const rival = yield* wallet.payments.fund(to(ADDRESS, 2 * COIN))
          const { transaction } = yield* wallet.payments.pay(to(ADDRESS, COIN))
          const block = yield* mine(1, { transactions: [rival.transaction] })
          assert.deepStrictEqual(wallet.ledger.transaction(transaction.txidKey)?.state, {
            type: "conflicted",
            height: 102
          })
          assert.deepStrictEqual(wallet.ledger.conflictsOf(transaction.txidKey), [shown(rival.transaction)])
          assert.strictEqual((yield* wallet.ledger.balances).trusted, 48 * COIN - rival.fee)
          yield* chain.control.invalidate(block.header.hash)
          yield* eventually(
            "not conflicted",
            () => wallet.ledger.transaction(transaction.txidKey)?.state.type !== "conflicted"
          )
        }))
    }))

  it.scopedLive("after a restart the wallet is unchanged, and offers what the mempool lost again", () =>
    Effect.gen(function*() {
      const directory = yield* fundedDirectory
      const before = yield* withWallets(directory, ({ mine, minePool, wallet }) =>
        Effect.gen(function*() {
          yield* wallet.payments.pay(to(ADDRESS, COIN))
          yield* minePool
          yield* mine(1)
          const waiting = yield* wallet.payments.pay({ ...to(ADDRESS, COIN), commentTo: "landlord" })
          return {
            balances: yield* wallet.ledger.balances,
            waiting,
            order: wallet.ledger.transactions().map((tx) => tx.time)
          }
        }))
      yield* withWallets(directory, ({ pool, wallet }) =>
        Effect.gen(function*() {
          const { txidKey } = before.waiting.transaction
          yield* eventually("in the pool", () => pool.get(txidKey) !== undefined)
          assert.strictEqual(wallet.ledger.transaction(txidKey)?.state.type, "pending")
          assert.deepStrictEqual(yield* wallet.ledger.balances, before.balances)
          assert.deepStrictEqual(wallet.ledger.transactions().map((tx) => tx.time), before.order)
          assert.strictEqual(wallet.ledger.transaction(txidKey)?.commentTo, "landlord")
        }))
    }))

  it.scopedLive("the wallet rebuilds a deleted index from the blocks", () =>
    Effect.gen(function*() {
      const directory = yield* temporaryDirectory
      const balances = yield* withWallets(
        directory,
        ({ fund, wallet }) => Effect.zipRight(fund, wallet.ledger.balances)
      )
      for (const end of ["", "-wal", "-shm"]) {
        rmSync(join(directory, "chainstate", `wallet.db${end}`), { force: true })
      }
      yield* withWallets(directory, ({ wallet }) =>
        Effect.gen(function*() {
          assert.deepStrictEqual(yield* wallet.ledger.balances, balances)
        }))
    }))

  it.scopedLive("the wallet finds payments in one block to addresses beyond those that it gave out", () =>
    Effect.gen(function*() {
      const directory = yield* temporaryDirectory
      const other = yield* temporaryDirectory
      // The scripts of the first wallet, paid in reverse to the second, which knows only the first hundred.
      const scripts = yield* withWallets(directory, ({ address }) => Effect.replicateEffect(address, 180))
      const [early, late] = [scripts[90], scripts[170]]
      if (early === undefined || late === undefined) return assert.fail("no scripts")
      yield* withWallets(other, ({ wallets }) => wallets.unload("", undefined))
      copyFileSync(join(directory, "wallet.json"), join(other, "wallet.json"))
      const reset = withoutChecksum(readFileSync(join(other, "wallet.json"), "utf8")).replace(
        /"receive": 180/,
        "\"receive\": 0"
      )
      writeFileSync(join(other, "wallet.json"), reset)
      yield* withWallets(other, ({ fund, mine, wallet }) =>
        Effect.gen(function*() {
          assert.isUndefined(wallet.keys.own(late))
          yield* mine(1, { script: ADDRESS })
          yield* fund
          const paidLate = yield* wallet.payments.fund(to(late, COIN))
          yield* mine(1, { script: early, transactions: [paidLate.transaction] })
          assert.isDefined(wallet.keys.own(late))
          assert.isTrue(wallet.ledger.coins().some(({ output }) => toHex(output.script) === toHex(late)))
          assert.strictEqual(documentOf(other).accounts.find(({ purpose }) => purpose === 44)?.receive, 171)
        }))
    }))

  it.scopedLive("locked coins stay locked after a restart", () =>
    Effect.gen(function*() {
      const directory = yield* fundedDirectory
      const key = yield* withWallets(directory, ({ wallet }) =>
        Effect.gen(function*() {
          const [coin] = wallet.ledger.coins()
          if (coin === undefined) return assert.fail("no coin")
          yield* wallet.ledger.lockCoins([coin.outpoint], "lock-persistently")
          assert.strictEqual(wallet.ledger.coins()[0]?.locked, true)
          assert.strictEqual((yield* Effect.flip(wallet.payments.pay(to(ADDRESS, COIN))))._tag, "FundsMissing")
          return coin.outpoint
        }))
      yield* withWallets(directory, ({ wallet }) =>
        Effect.gen(function*() {
          assert.deepStrictEqual(wallet.ledger.coins().map(({ locked, outpoint }) => [locked, outpoint]), [[true, key]])
          yield* wallet.ledger.lockCoins([key], "unlock")
          assert.deepStrictEqual(documentOf(directory).lockedCoins, [])
          yield* wallet.payments.pay(to(ADDRESS, COIN))
        }))
    }))

  it.scopedLive("a payment is replaced by one with a higher fee, and both record the other", () =>
    Effect.gen(function*() {
      const directory = yield* fundedDirectory
      yield* withWallets(directory, ({ pool, wallet }) =>
        Effect.gen(function*() {
          const first = yield* wallet.payments.pay(to(ADDRESS, COIN))
          const { funded, oldFee } = yield* wallet.payments.bump(first.transaction.txidKey, {})
          assert.strictEqual(oldFee, first.fee)
          assert.isAtLeast(funded.fee, first.fee + first.transaction.virtualSize * 100)
          assert.isUndefined(pool.get(first.transaction.txidKey))
          assert.isDefined(pool.get(funded.transaction.txidKey))
          assert.deepInclude(funded.transaction.outputs, { value: COIN, script: ADDRESS })
          yield* eventually("inactive", () =>
            wallet.ledger.transaction(first.transaction.txidKey)?.state.type === "inactive")
          assert.strictEqual(
            wallet.ledger.transaction(first.transaction.txidKey)?.replacedBy,
            shown(funded.transaction)
          )
          assert.strictEqual(wallet.ledger.transaction(funded.transaction.txidKey)?.replaces, shown(first.transaction))
          const again = yield* Effect.flip(wallet.payments.bump(first.transaction.txidKey, {}))
          assert.match(again.message, /already bumped|descendants/)
          const low = yield* Effect.flip(wallet.payments.bump(funded.transaction.txidKey, { feeRate: 200_000 }))
          assert.match(low.message, /Insufficient total fee/)
        }))
    }))

  it.scopedLive("a NAME_NEW cannot be replaced", () =>
    Effect.gen(function*() {
      const directory = yield* fundedDirectory
      yield* withWallets(directory, ({ address, wallet }) =>
        Effect.gen(function*() {
          const script = nameScript(nameNew(text("d/bump"), saltOf(1)), yield* address)
          const { transaction } = yield* wallet.payments.pay({ ...to(script, COIN / 100), version: NAME_TX_VERSION })
          const coin = wallet.ledger.coins().find(({ name }) => name !== undefined)
          assert.isDefined(coin, "it is among the coins")
          assert.strictEqual((yield* wallet.ledger.balances).untrustedPending, 0)
          const refused = yield* Effect.flip(wallet.payments.bump(transaction.txidKey, {}))
          assert.deepInclude(refused, { _tag: "InvalidWalletRequest", code: "not-eligible" })
          assert.match(refused.message, /name_new/)
        }))
    }))

  it.scopedLive("the fee rate is never below the wallet's minimum, nor the fee above the sane maximum", () =>
    Effect.gen(function*() {
      const directory = yield* fundedDirectory
      yield* withWallets(directory, ({ wallet }) =>
        Effect.gen(function*() {
          const low = yield* Effect.flip(wallet.payments.fund({ ...to(ADDRESS, COIN), feeRate: 99_999 }))
          assert.deepInclude(low, { code: "too-small" })
          const least = yield* wallet.payments.fund({ ...to(ADDRESS, COIN), feeRate: 100_000 })
          assert.strictEqual(least.feeReason, "PayTxFee set")
          const high = yield* Effect.flip(wallet.payments.fund({ ...to(ADDRESS, COIN), feeRate: 100_000_000 }))
          assert.deepInclude(high, { code: "fee-too-high" })
          assert.strictEqual((yield* wallet.payments.fund(to(ADDRESS, COIN))).feeReason, "Fallback fee")
        }))
    }))

  it.scopedLive("a transaction outside of the mempool can be abandoned, and its coins are free", () =>
    Effect.gen(function*() {
      const directory = yield* fundedDirectory
      const { txidKey } = yield* withWallets(directory, ({ wallet }) =>
        Effect.gen(function*() {
          const { transaction } = yield* wallet.payments.pay(to(ADDRESS, COIN))
          const refused = yield* Effect.flip(wallet.payments.abandon(transaction.txidKey))
          assert.deepInclude(refused, { code: "not-eligible" })
          return transaction
        }))
      yield* withWallets(directory, ({ wallet }) =>
        Effect.gen(function*() {
          assert.strictEqual(wallet.ledger.coins().length, 0)
          yield* wallet.payments.abandon(txidKey)
          assert.strictEqual(wallet.ledger.coins().length, 1)
          assert.deepStrictEqual(wallet.ledger.transaction(txidKey)?.state, { type: "inactive", abandoned: true })
          assert.deepInclude(yield* Effect.flip(wallet.payments.abandon(UNKNOWN)), {
            code: "unknown-transaction"
          })
          assert.deepStrictEqual(documentOf(directory).transactions.map(({ abandoned }) => abandoned), [true])
        }), {
        // The wallet offers nothing before the pool has loaded.
        mempool: (pool) => ({ ...pool, info: () => ({ ...pool.info(), loaded: false }) })
      })
    }))

  it.scopedLive("the queue keeps non-final transactions, sends them when final, and refuses invalid ones", () =>
    Effect.gen(function*() {
      const directory = yield* fundedDirectory
      const transaction = yield* withWallets(directory, ({ wallet }) =>
        Effect.gen(function*() {
          const { transaction } = yield* wallet.payments.fund({ ...to(ADDRESS, COIN), lockTime: 103 })
          yield* wallet.payments.enqueue(transaction)
          assert.deepStrictEqual(wallet.payments.queue().map(({ txidKey }) => txidKey), [transaction.txidKey])
          const empty = payAnyone([], { fee: 0 })
          assert.match(
            (yield* Effect.flip(wallet.payments.enqueue(empty))).message,
            /Invalid transaction \(bad-txns-vin-empty\)/
          )
          return transaction
        }))
      yield* withWallets(directory, ({ mine, pool, wallet }) =>
        Effect.gen(function*() {
          assert.strictEqual(wallet.payments.queue().length, 1)
          yield* mine(1)
          assert.isUndefined(pool.get(transaction.txidKey))
          yield* mine(1)
          yield* wallet.settled
          assert.isDefined(pool.get(transaction.txidKey))
          assert.strictEqual(wallet.payments.queue().length, 0)
          assert.strictEqual(wallet.ledger.transaction(transaction.txidKey)?.state.type, "pending")
          assert.deepStrictEqual(keptTxids(directory), [shown(transaction)])
          assert.isFalse(yield* wallet.payments.dequeue(transaction.txidKey))
        }))
    }))

  it.scopedLive("the wallet shows payments of others in the mempool, and does not trust them", () =>
    Effect.gen(function*() {
      const directory = yield* temporaryDirectory
      yield* withWallets(directory, ({ address, mine, pool, wallet }) =>
        Effect.gen(function*() {
          const block = yield* mine(1)
          yield* mine(100)
          const coinbase = block.transactions[0]
          if (coinbase === undefined) return assert.fail("no coinbase")
          const script = yield* address
          const incoming = payAnyone([{ transaction: coinbase, vout: 0 }], { more: [{ value: COIN, script }] })
          yield* pool.accept(incoming)
          assert.strictEqual(wallet.ledger.transaction(incoming.txidKey)?.state.type, "pending")
          assert.deepStrictEqual(yield* wallet.ledger.balances, { trusted: 0, untrustedPending: COIN, immature: 0 })
          // It is known after a restart.
          assert.deepStrictEqual(keptTxids(directory), [shown(incoming)])
          yield* mine(1, { transactions: [incoming] })
          assert.strictEqual((yield* wallet.ledger.balances).trusted, COIN)
        }))
    }))

  it.scopedLive("an import finds the payments to its key, and an interrupted search is resumed", () =>
    Effect.gen(function*() {
      const directory = yield* temporaryDirectory
      const other = yield* temporaryDirectory
      const descriptor = yield* withWallets(
        directory,
        ({ wallet }) =>
          Effect.map(
            wallet.keys.descriptors(true),
            (list) => list.find((one) => one.descriptor.startsWith("pkh("))?.descriptor
          )
      )
      const script = yield* withWallets(directory, ({ address }) => address)
      if (descriptor === undefined) return assert.fail("no descriptor")
      const request = {
        descriptor,
        label: "",
        timestamp: 0,
        active: false,
        internal: false,
        range: [0, 20] as const,
        nextIndex: undefined
      }
      yield* withWallets(other, ({ mine, wallet }) =>
        Effect.gen(function*() {
          yield* mine(1, { script })
          yield* mine(100)
          assert.strictEqual(wallet.ledger.coins().length, 0)
          const read = yield* Effect.exit(wallet.keys.importDescriptor({ ...request, descriptor: "pkh(nonsense)" }))
          assert.isTrue(Exit.isFailure(read))
          yield* wallet.keys.importDescriptor(request)
          assert.strictEqual((yield* wallet.ledger.balances).trusted, 50 * COIN)
          assert.isUndefined(wallet.ledger.scanning())
          yield* wallet.payments.pay(to(ADDRESS, COIN))
        }))
      // As if the node had stopped during the scan.
      const database = new SQLite(join(other, "chainstate", "wallet.db"))
      database.exec("DELETE FROM sources WHERE descriptor LIKE 'pkh(%'; DELETE FROM transactions")
      database.close()
      yield* withWallets(
        other,
        ({ wallet }) =>
          eventually("found again", () =>
            wallet.ledger.coins().some(({ height }) => height === 1) ||
            wallet.ledger.transactions().some(({ state }) => state.type === "confirmed" && state.height === 1))
      )
    }))

  it.scopedLive("a rescan returns where it ended, and refuses invalid ranges", () =>
    Effect.gen(function*() {
      const directory = yield* fundedDirectory
      yield* withWallets(directory, ({ wallet }) =>
        Effect.gen(function*() {
          assert.strictEqual(yield* wallet.ledger.rescan(0, undefined), 101)
          assert.strictEqual(yield* wallet.ledger.rescan(5, 60), 60)
          for (const [from, to] of [[-1, undefined], [102, undefined], [0, 102], [5, 4]] as const) {
            const refused: InvalidWalletRequest | { readonly _tag: string } = yield* Effect.flip(
              wallet.ledger.rescan(from, to)
            )
            assert.deepInclude(refused, { code: "range" })
          }
        }))
    }))

  it.scopedLive("labels are kept, and mark addresses as the wallet's own", () =>
    Effect.gen(function*() {
      const directory = yield* temporaryDirectory
      const [mine, foreign] = yield* withWallets(directory, ({ wallet }) =>
        Effect.gen(function*() {
          const { address = "" } = yield* wallet.keys.newAddress({ type: "bech32", label: "shop" })
          const other = "mrrZuyGF4F9946R14M4bScSzhT2qjcXQHo"
          yield* wallet.keys.setLabel({ address: other, label: "friend" })
          return [address, other] as const
        }))
      yield* withWallets(directory, ({ wallet }) =>
        Effect.sync(() => {
          assert.deepStrictEqual(wallet.keys.labels().get(mine), { label: "shop", purpose: "receive" })
          assert.deepStrictEqual(wallet.keys.labels().get(foreign), { label: "friend", purpose: "send" })
        }))
    }))

  it.scopedLive("an output to a key outside of the wallet is no coin of the wallet", () =>
    Effect.gen(function*() {
      const directory = yield* fundedDirectory
      yield* withWallets(directory, ({ wallet }) =>
        Effect.gen(function*() {
          const foreign = outpointKey(outpoint(new Uint8Array(32).fill(7), 0))
          const refused = yield* Effect.flip(
            wallet.payments.pay({ ...to(ADDRESS, COIN), inputs: [{ outpoint: foreign }] })
          )
          assert.deepInclude(refused, { _tag: "FundsMissing", missing: foreign })
        }))
    }))

  it.scopedLive("a coin of others is an input if the caller knows its script or its weight", () =>
    Effect.gen(function*() {
      const directory = yield* fundedDirectory
      yield* withWallets(directory, ({ mine, pool, wallet }) =>
        Effect.gen(function*() {
          const key = new Uint8Array(32).fill(7)
          const pubkey = publicKeyOf({ privateKey: key, compressed: true })
          const script = scriptOf({ kind: "witness", version: 0, program: hash160(pubkey) })
          const block = yield* mine(1, { script })
          const coin = outpoint(block.transactions[0]?.txid ?? assert.fail(), 0)
          const request = { ...to(ADDRESS, 60 * COIN), inputs: [{ outpoint: outpointKey(coin) }], feeRate: 200_000 }
          const fund = (known: SigningProvider, weights: ReadonlyArray<number> = []) =>
            wallet.payments.fund({
              ...request,
              external: { known, weights: new Map(weights.map((weight) => [outpointKey(coin), weight])) }
            })

          const unsolved = yield* Effect.flip(fund(NO_PROVIDER))
          const txid = displayHash(coin.subarray(0, 32)).slice(0, 10)
          assert.deepInclude(unsolved, {
            code: "unsolvable",
            reason: `Not solvable pre-selected input COutPoint(${txid}, 0)`
          })

          const solved = yield* fund(makeProvider({ pubkeys: [pubkey] }))
          assert.strictEqual(solved.transaction.inputs.length, 2)
          assert.strictEqual(solved.coins[0]?.value, 50 * COIN)
          // The fee of the named weight replaces the estimate, which is 68 virtual bytes.
          const heavy = yield* fund(makeProvider({ pubkeys: [pubkey] }), [1_272])
          assert.strictEqual(heavy.fee - solved.fee, (1_272 / 4 - 68) * 200)
          assert.strictEqual((yield* fund(NO_PROVIDER, [1_272])).fee, heavy.fee)

          const gone = outpointKey(outpoint(new Uint8Array(32).fill(9), 0))
          const absent = yield* Effect.flip(
            wallet.payments.fund({
              ...request,
              inputs: [{ outpoint: gone }],
              external: { known: NO_PROVIDER, weights: new Map() }
            })
          )
          assert.deepInclude(absent, { code: "unsolvable", reason: "Unable to find UTXO for external input" })
          assert.strictEqual(pool.info().size, 0)
        }))
    }))
})
