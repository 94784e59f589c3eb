import { assert, describe, it } from "@effect/vitest"
import SQLite from "better-sqlite3"
import { Effect, Exit } from "effect"
import { copyFileSync, readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { scriptOf } from "../../src/protocol/address.ts"
import { COIN } from "../../src/protocol/amount.ts"
import { displayHash, toHex } from "../../src/protocol/bytes.ts"
import { hash160 } from "../../src/protocol/hash.ts"
import { outpoint, outpointKey } from "../../src/protocol/transaction.ts"
import type { InvalidWalletRequest } from "../../src/wallet/errors.ts"
import {
  makeProvider,
  NO_PROVIDER,
  publicKeyOf,
  type SigningProvider
} from "../../src/wallet/signing/SigningProvider.ts"
import { temporaryDirectory } from "../support/chain.ts"
import { eventually } from "../support/eventually.ts"
import { FEW_KEYS, fundedDirectory, withWallets } from "../support/liveWallets.ts"
import { ADDRESS } from "../support/mempool.ts"
import { withoutChecksum } from "../support/walletText.ts"
import { documentOf, to } from "./liveDocument.ts"

describe("Wallet", () => {
  it.scopedLive("the wallet finds payments in one block to addresses beyond those that it gave out", () =>
    Effect.gen(function*() {
      const directory = yield* temporaryDirectory
      const other = yield* temporaryDirectory
      // The scripts of the first wallet, paid in reverse to the second, which knows only the first hundred.
      const scripts = yield* withWallets(directory, ({ address }) => Effect.replicateEffect(address, 180), {
        rules: { ...FEW_KEYS, reach: 200 }
      })
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

  it.scopedLive("an output to a key outside of the wallet is not a coin of the wallet", () =>
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
