import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { COIN } from "../../../src/protocol/amount.ts"
import { displayHash } from "../../../src/protocol/bytes.ts"
import { txidKey } from "../../../src/protocol/keys.ts"
import { outpointKey } from "../../../src/protocol/transaction.ts"
import type { AddressType } from "../../../src/wallet/keys/WalletKeys.ts"
import type { PaymentRequest } from "../../../src/wallet/payments/WalletPayments.ts"
import { fundedDirectory, type LiveNode, withWallets } from "../../support/liveWallets.ts"
import { ADDRESS } from "../../support/mempool.ts"
import { seeded } from "./coins.ts"

/** Payments of a wallet against the mempool of its own node: whatever the wallet funds, the mempool takes. */

const TYPES: ReadonlyArray<AddressType> = ["legacy", "p2sh-segwit", "bech32"]
const VERSIONS = [1, 2, 3]

const chosen = <A>(random: () => number, list: ReadonlyArray<A>): A => {
  const each = list[Math.floor(random() * list.length)]
  if (each === undefined) throw new Error("the list is empty")
  return each
}

/** Random amounts over some orders of magnitude, smallest units. */
const amountOf = (random: () => number, most: number): number => Math.max(60_000, Math.floor(most * random() ** 4))

const freshScript = ({ wallet }: LiveNode, type: AddressType) =>
  Effect.map(wallet.keys.newAddress({ type, label: "" }), ({ script }) => script)

/** A payment to the wallet itself, with several outputs, or to others. */
const anyRequest = (node: LiveNode, random: () => number) =>
  Effect.gen(function*() {
    const own = random() < 0.5
    const count = own ? 1 + Math.floor(random() * 3) : 1
    const most = Math.max(100_000, (yield* node.wallet.ledger.balances).trusted / (own ? 2 * count : 8))
    const scripts = own
      ? yield* Effect.forEach(Array.from({ length: count }), () => freshScript(node, chosen(random, TYPES)))
      : [ADDRESS]
    const request: PaymentRequest = {
      outputs: scripts.map((script) => ({ value: amountOf(random, most), script })),
      version: chosen(random, VERSIONS),
      feeRate: 100_000 * (1 + Math.floor(random() * 20)),
      avoidPartialSpends: random() < 0.2
    }
    return request
  })

describe("payments of a wallet", () => {
  it.scopedLive.each([1, 2, 3])(
    "are taken by the mempool, whatever waits in it (seed %d)",
    (seed) =>
      Effect.gen(function*() {
        const random = seeded(seed)
        yield* withWallets(yield* fundedDirectory, (node) =>
          Effect.gen(function*() {
            const { minePool, pool, wallet } = node
            let paid = 0
            for (let step = 0; step < 40; step++) {
              if (random() < 0.1) yield* minePool
              const request = yield* anyRequest(node, random)
              const made = yield* Effect.either(wallet.payments.pay(request))
              if (made._tag === "Left") {
                assert.include(["FundsMissing", "InvalidWalletRequest"], made.left._tag, made.left.message)
                continue
              }
              const { transaction } = made.right
              assert.isDefined(
                pool.get(transaction.txidKey),
                `step ${step}: ${displayHash(transaction.txid)} is not in it`
              )
              paid++
            }
            assert.isAtLeast(paid, 20)
          }))
      })
  )

  it.scopedLive("of version 3 spend the change of such a parent, and no other payment does", () =>
    Effect.gen(function*() {
      yield* withWallets(yield* fundedDirectory, ({ minePool, pool, wallet }) =>
        Effect.gen(function*() {
          const pay = (version: number, more: Partial<PaymentRequest> = {}) =>
            wallet.payments.pay({ outputs: [{ value: COIN, script: ADDRESS }], version, ...more })
          const refused = (version: number, more?: Partial<PaymentRequest>) =>
            Effect.flip(Effect.asVoid(pay(version, more)))
          const { changePosition, transaction: parent } = yield* pay(3)
          assert.strictEqual((yield* refused(2))._tag, "FundsMissing", "no coin of its kind")
          const change = wallet.ledger.coins().find(({ vout }) => vout === changePosition) ?? assert.fail("no change")
          const inputs = [{ outpoint: change.outpoint }]
          assert.include(
            (yield* refused(2, { inputs })).message,
            "Can't spend unconfirmed version 3 pre-selected input with a version 2 tx"
          )
          const many = Array.from({ length: 28 }, () => ({ value: COIN / 10, script: ADDRESS }))
          assert.include((yield* refused(3, { outputs: many })).message, "The inputs size exceeds the maximum")
          const { transaction: child } = yield* pay(3)
          assert.deepStrictEqual(child.inputs.map(({ prevout }) => outpointKey(prevout)), [change.outpoint])
          assert.isDefined(pool.get(child.txidKey))
          assert.strictEqual((yield* refused(3))._tag, "FundsMissing", "it would be the third generation")
          yield* minePool
          const { transaction: plain } = yield* pay(2)
          assert.isDefined(pool.get(plain.txidKey))
          assert.include(
            (yield* refused(3, {
              inputs: wallet.ledger.coins()
                .filter(({ txid }) => txidKey(txid) === plain.txidKey)
                .map(({ outpoint }) => ({ outpoint }))
            })).message,
            "Can't spend unconfirmed version 2 pre-selected input with a version 3 tx"
          )
          assert.isUndefined(pool.get(parent.txidKey))
        }))
    }))
})
