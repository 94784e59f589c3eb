import { assert, describe, it } from "@effect/vitest"
import { regtestParams, withOverrides } from "../../../src/consensus/params.ts"
import type { AddressType } from "../../../src/wallet/keys/WalletKeys.ts"
import { changeTypeOf } from "../../../src/wallet/payments/changeType.ts"
import { P2PKH, P2WPKH } from "./coins.ts"

const P2TR = Uint8Array.of(0x51, 32, ...new Uint8Array(32).fill(5))

const params = withOverrides(regtestParams, { activation: { ...regtestParams.activation, taproot: 0 } })

/** The type of the change of a payment, by a wallet that has keys of some types. */
const typeOf = (
  keys: ReadonlyArray<AddressType>,
  script: Uint8Array,
  { addressType = "legacy", changeType }: { readonly addressType?: AddressType; readonly changeType?: AddressType } = {}
): AddressType =>
  changeTypeOf(
    { params, ring: { gives: (type) => keys.includes(type) }, rules: { addressType, changeType } },
    [{ value: 1, script }]
  )

const ALL: ReadonlyArray<AddressType> = ["legacy", "p2sh-segwit", "bech32", "bech32m"]

describe("the type of change", () => {
  it("is the operator's, whatever is paid", () =>
    assert.strictEqual(typeOf(ALL, P2TR, { changeType: "p2sh-segwit" }), "p2sh-segwit"))

  it("is the oldest where new addresses are of that type", () => assert.strictEqual(typeOf(ALL, P2TR), "legacy"))

  it("is that of the payment otherwise, or a witness", () => {
    assert.strictEqual(typeOf(ALL, P2TR, { addressType: "bech32" }), "bech32m")
    assert.strictEqual(typeOf(ALL, P2WPKH, { addressType: "bech32m" }), "bech32")
    assert.strictEqual(typeOf(ALL, P2PKH, { addressType: "bech32" }), "legacy")
    assert.strictEqual(typeOf(["bech32", "p2sh-segwit"], P2PKH, { addressType: "p2sh-segwit" }), "bech32")
  })

  it("is one of the types that the wallet has keys of", () => {
    for (const only of ALL) {
      for (const addressType of ALL) {
        for (const script of [P2PKH, P2WPKH, P2TR]) assert.strictEqual(typeOf([only], script, { addressType }), only)
      }
    }
  })
})
