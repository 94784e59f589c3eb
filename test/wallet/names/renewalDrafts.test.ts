import { assert, it } from "@effect/vitest"
import { Effect } from "effect"
import { NAME_TX_VERSION } from "../../../src/protocol/nameOperation.ts"
import { makeTransaction, NO_WITNESS, outpoint, totalValue } from "../../../src/protocol/transaction.ts"
import { FundsMissing } from "../../../src/wallet/errors.ts"
import type { WalletCoin } from "../../../src/wallet/ledger/WalletLedger.ts"
import { makeNames } from "../../../src/wallet/names/makeNames.ts"
import type { WalletOfNames } from "../../../src/wallet/names/NameParts.ts"
import { isStaleFee } from "../../../src/wallet/names/renewalDrafts.ts"
import { coin } from "../payments/coins.ts"
import { World } from "./World.ts"

const NAME = new TextEncoder().encode("d/a")

it("a fee is stale when it is a quarter too low or twice too high", () => {
  const cases = [[100, 100, false], [100, 125, false], [100, 126, true], [100, 50, false], [100, 49, true]] as const
  for (const [paid, today, stale] of cases) assert.strictEqual(isStaleFee({ paid, today }), stale, `${paid} ${today}`)
})

/** A wallet with money whose payments cost `fee`, or fail without one. */
const withMoney = (wallet: WalletOfNames, prices: { fee: number | undefined }): WalletOfNames => {
  const coins = () => [...wallet.ledger.coins(), coin(1, 10_000_000)]
  const fund: WalletOfNames["payments"]["fund"] = ({ changeScript, inputs = [], outputs }) => {
    const { fee } = prices
    if (fee === undefined) return new FundsMissing({ needed: 1, available: 0 })
    const given = inputs.map(({ outpoint: key }) => coins().find((each) => each.outpoint === key))
    const spent = [...given, coin(1, 10_000_000)].filter((each): each is WalletCoin => each !== undefined)
    const unique = spent.filter((each, i) => spent.findIndex(({ outpoint: key }) => key === each.outpoint) === i)
    const change = unique.reduce((sum, { output }) => sum + output.value, 0) - totalValue(outputs) - fee
    const transaction = makeTransaction({
      version: NAME_TX_VERSION,
      inputs: unique.map(({ txid, vout }) => ({
        prevout: outpoint(txid, vout),
        scriptSig: new Uint8Array(0),
        sequence: 0xfffffffd,
        witness: NO_WITNESS
      })),
      outputs: [...outputs, { value: change, script: changeScript ?? coin(1, 0).own.script }],
      lockTime: 0
    })
    return Effect.succeed({ transaction, fee, changePosition: outputs.length, coins: [], feeReason: "" })
  }
  return {
    ...wallet,
    ledger: {
      ...wallet.ledger,
      coins,
      get tip() {
        return wallet.ledger.tip
      }
    },
    payments: { ...wallet.payments, fund }
  }
}

it.scoped("an unsigned renewal is made again when fee rates have moved far, and only then", () =>
  Effect.gen(function*() {
    const world = new World()
    const prices: { fee: number | undefined } = { fee: 1_000 }
    const names = yield* makeNames(withMoney(yield* world.parts, prices))
    yield* names.nameNew(NAME, {})
    for (let i = 0; i < 12; i++) world.mine()
    yield* names.nameFirstUpdate({ name: NAME, rand: undefined, txid: undefined, value: NAME })
    world.mine()
    world.document = { ...world.document, privateKeys: false }
    const draftAt = (fee: number | undefined) =>
      Effect.gen(function*() {
        prices.fee = fee
        yield* names.step
        const [renewal] = names.requestedRenewals()
        return renewal?.unsigned?.txidKey
      })

    yield* names.renew({ of: "names", names: [NAME] })
    const first = yield* draftAt(1_000)
    assert.isDefined(first)
    for (const fee of [1_000, 1_250, 500, undefined]) assert.strictEqual(yield* draftAt(fee), first, `${fee}`)
    const raised = yield* draftAt(1_251)
    assert.notStrictEqual(raised, first)
    assert.strictEqual(yield* draftAt(1_000), raised)
    const lowered = yield* draftAt(400)
    assert.notStrictEqual(lowered, raised)
  }))
