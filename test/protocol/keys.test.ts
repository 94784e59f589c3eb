import { assert, describe, it } from "@effect/vitest"
import { shownTxid, txidKey, txidKeyOf } from "../../src/protocol/keys.ts"

const TXID = Uint8Array.from({ length: 32 }, (_, i) => 0xff - i)
const SHOWN = "e0e1e2e3e4e5e6e7e8e9eaebecedeeeff0f1f2f3f4f5f6f7f8f9fafbfcfdfeff"

describe("txid keys", () => {
  it("a txid and its displayed form have the same key", () => {
    const key = txidKey(TXID)
    assert.strictEqual(key.length, 32)
    assert.strictEqual(txidKeyOf(SHOWN), key)
    assert.strictEqual(txidKeyOf(SHOWN.toUpperCase()), key)
    assert.strictEqual(shownTxid(key), SHOWN)
  })

  it("other texts have no key: too short, no hexadecimal, and a key itself", () => {
    for (const text of ["", SHOWN.slice(2), `${SHOWN}00`, "zz".repeat(32), txidKey(TXID)]) {
      assert.isUndefined(txidKeyOf(text), text)
    }
  })
})
