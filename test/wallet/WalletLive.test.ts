import { assert, describe, it } from "@effect/vitest"
import SQLite from "better-sqlite3"
import { Effect } from "effect"
import { readFileSync, rmSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { COIN } from "../../src/protocol/amount.ts"
import { IndexStore } from "../../src/wallet/ledger/IndexStore.ts"
import { temporaryDirectory } from "../support/chain.ts"
import { eventually } from "../support/eventually.ts"
import { FEW_KEYS, fundedDirectory, withWallets } from "../support/liveWallets.ts"
import { ADDRESS, pay as payAnyone } from "../support/mempool.ts"
import { text } from "../support/regtest.ts"
import { withoutChecksum } from "../support/walletText.ts"
import { documentOf, keptTxids, shown, to } from "./liveDocument.ts"

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

  it.scopedLive("a reorganisation that disconnects a payment withdraws the addresses that it allowed", () =>
    Effect.gen(function*() {
      const directory = yield* fundedDirectory
      yield* withWallets(directory, ({ chain, mine, minePool, wallet }) =>
        Effect.gen(function*() {
          const { keys, ledger } = wallet
          const give = keys.newAddress({ type: "bech32", label: "" })
          const given = yield* Effect.replicateEffect(give, 4)
          assert.deepInclude(yield* Effect.flip(give), { code: "beyond-words" })
          const { transaction } = yield* wallet.payments.pay(to(given[2]?.script ?? assert.fail(), COIN))
          const block = yield* minePool
          yield* give
          assert.deepInclude(yield* keys.words, { beyond: 0, lost: 0 })
          yield* chain.control.invalidate(block.header.hash)
          assert.deepInclude(yield* Effect.flip(give), { code: "beyond-words" })
          assert.deepInclude(yield* keys.words, { beyond: 1, lost: 0 })
          yield* mine(1, { transactions: [transaction] })
          yield* give
          assert.strictEqual(ledger.transaction(transaction.txidKey)?.state.type, "confirmed")
        }), { rules: { ...FEW_KEYS, keypool: 4, reach: 4 } })
    }))

  it.scopedLive("gives out no address during the sync that the words may not find, and says what to do", () =>
    Effect.gen(function*() {
      const rules = { ...FEW_KEYS, keypool: 4, reach: 4 }
      const directory = yield* fundedDirectory
      yield* withWallets(directory, ({ wallet: { keys } }) =>
        Effect.gen(function*() {
          const give = keys.newAddress({ type: "bech32", label: "" })
          yield* Effect.replicateEffect(give, 4)
          const refusal = yield* Effect.flip(give)
          assert.deepInclude(refusal, { code: "beyond-words" })
          assert.match(refusal.message, /Wait until svcd has scanned the chain/)
          assert.isUndefined(yield* keys.words)
          // Change that serves twice is better than a coin that the words do not find.
          yield* Effect.replicateEffect(keys.newChangeAddress("bech32"), 6)
        }), { downloads: true, rules })
      yield* withWallets(directory, ({ wallet: { keys } }) =>
        Effect.gen(function*() {
          const { message } = yield* Effect.flip(keys.newAddress({ type: "bech32", label: "" }))
          assert.notInclude(message, "Wait until")
          assert.deepInclude(yield* keys.words, { left: 0, beyond: 0 })
        }), { rules })
    }))

  it.scopedLive("coins that were spent together with an orphaned block reward are free, even after a restart", () =>
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
})
