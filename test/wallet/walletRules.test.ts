import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { destinationOf, scriptOf } from "../../src/protocol/address.ts"
import { COIN } from "../../src/protocol/amount.ts"
import type { WalletRules } from "../../src/wallet/WalletRules.ts"
import { FEW_KEYS, fundedDirectory, type LiveNode, withWallets } from "../support/liveWallets.ts"
import { ADDRESS } from "../support/mempool.ts"

const to = (script: Uint8Array, value: number) => ({ outputs: [{ value, script }] })

/** Runs work on a node whose wallet has one reward, under rules. */
const under = <A, E>(rules: Partial<WalletRules>, use: (node: LiveNode) => Effect.Effect<A, E>) =>
  Effect.gen(function*() {
    const directory = yield* fundedDirectory
    return yield* withWallets(directory, use, { rules: { ...FEW_KEYS, ...rules } })
  })

const P2WPKH = scriptOf({ kind: "witness", version: 0, program: new Uint8Array(20).fill(3) })

describe("the operator's rules for wallets", () => {
  it.scopedLive("the minimum fee rate is that of the rules or of relay, except for a caller that may pay any", () =>
    under({ minTxFee: 150_000 }, ({ wallet }) =>
      Effect.gen(function*() {
        const request = { ...to(ADDRESS, COIN), feeRate: 149_000 }
        assert.deepInclude(yield* Effect.flip(wallet.payments.fund(request)), {
          reason: "Fee rate (149.000 sat/vB) is lower than the minimum fee rate setting (150.000 sat/vB)"
        })
        const { fee, transaction } = yield* wallet.payments.fund({ ...request, anyRate: true })
        assert.strictEqual(fee, Math.ceil(transaction.virtualSize * 149))
        assert.strictEqual((yield* wallet.payments.fund(to(ADDRESS, COIN))).feeReason, "Minimum Required Fee")
      })))

  it.scopedLive("without an estimate a payment takes the fallback, and fails if that is 0", () =>
    Effect.gen(function*() {
      yield* under({ fallbackFee: 200_000 }, ({ wallet }) =>
        Effect.gen(function*() {
          const { fee, feeReason, transaction } = yield* wallet.payments.fund(to(ADDRESS, COIN))
          assert.deepStrictEqual([fee, feeReason], [Math.ceil(transaction.virtualSize * 200), "Fallback fee"])
        }))
      yield* under({ fallbackFee: 0 }, ({ wallet }) =>
        Effect.gen(function*() {
          const refused = yield* Effect.flip(wallet.payments.fund(to(ADDRESS, COIN)))
          assert.deepInclude(refused, { _tag: "InvalidWalletRequest", code: "no-fee-estimate" })
        }))
    }))

  it.scopedLive("no fee is above the maximum, and the rules say whether payments can be replaced", () =>
    under({ maxTxFee: 20_000, walletRbf: false }, ({ wallet }) =>
      Effect.gen(function*() {
        assert.deepInclude(yield* Effect.flip(wallet.payments.fund(to(ADDRESS, COIN))), { code: "fee-too-high" })
        const { transaction } = yield* wallet.payments.fund({ ...to(ADDRESS, COIN), feeRate: 1_000, anyRate: true })
        assert.strictEqual(transaction.inputs[0]?.sequence, 0xfffffffe)
      })))

  it.scopedLive("change has the type of the rules, or that of the payment unless addresses are of the oldest type", () =>
    Effect.gen(function*() {
      const changeOf = (node: LiveNode) =>
        Effect.map(
          node.wallet.payments.fund(to(P2WPKH, COIN)),
          ({ changePosition, transaction }) =>
            destinationOf(transaction.outputs[changePosition]?.script ?? assert.fail("no change"))?.kind
        )
      assert.strictEqual(yield* under({}, changeOf), "pubkeyhash")
      assert.strictEqual(yield* under({ addressType: "p2sh-segwit" }, changeOf), "witness")
      assert.strictEqual(yield* under({ changeType: "p2sh-segwit" }, changeOf), "scripthash")
    }))

  it.scopedLive("unconfirmed change is not a coin if it may not be spent", () =>
    under({ spendZeroConfChange: false }, ({ wallet }) =>
      Effect.gen(function*() {
        yield* wallet.payments.pay(to(ADDRESS, COIN))
        assert.strictEqual((yield* wallet.ledger.balances).trusted, 0)
        assert.deepInclude(yield* Effect.flip(wallet.payments.fund(to(ADDRESS, COIN))), { _tag: "FundsMissing" })
      })))

  it.scopedLive("a chain of payments that is too long for the mempool is refused, or stays in the wallet", () =>
    Effect.gen(function*() {
      const fill = ({ pool, wallet }: LiveNode, most?: number) =>
        Effect.gen(function*() {
          const count = most ?? pool.policy.cluster.count
          for (let i = 0; i < count; i++) yield* wallet.payments.pay(to(ADDRESS, COIN / 10))
          assert.strictEqual(pool.info().size, count)
          return yield* Effect.either(wallet.payments.pay(to(ADDRESS, COIN / 10)))
        })
      // Nodes of an earlier version take 25.
      const refused = yield* under({}, (node) => fill(node, 25))
      assert.deepInclude(refused._tag === "Left" ? refused.left : assert.fail("sent"), {
        reason: "Unconfirmed UTXOs are available, but spending them creates a chain of transactions that will be " +
          "rejected by the mempool"
      })
      assert.strictEqual((yield* under({ walletRejectLongChains: false }, (node) => fill(node)))._tag, "Right")
    }))

  it.scopedLive("a wallet that may not send keeps its payments", () =>
    under({ walletBroadcast: false }, ({ mine, pool, wallet }) =>
      Effect.gen(function*() {
        const { transaction } = yield* wallet.payments.pay(to(ADDRESS, COIN))
        yield* mine(2)
        yield* wallet.settled
        assert.strictEqual(pool.info().size, 0)
        assert.deepInclude(wallet.ledger.transaction(transaction.txidKey)?.state, { type: "inactive" })
      })))

  it.scopedLive("the wallet watches as many unused addresses as the rules say", () =>
    under({ keypool: 3 }, ({ wallet }) => Effect.sync(() => assert.strictEqual(wallet.keys.keypool().receive % 3, 0))))
})
