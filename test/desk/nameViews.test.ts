import { assert, describe, it } from "@effect/vitest"
import { expiryOf } from "../../src/desk/nameViews.ts"

describe("expiryOf", () => {
  it.each([
    ["regtest", 5, true, "a sixth of thirty blocks"],
    ["regtest", 6, false, "most of a life on regtest is left"],
    ["mainnet", 4_032, true, "four weeks"],
    ["mainnet", 4_033, false, "more than four weeks"],
    ["testnet", 4_032, true, "as on the main network"]
  ])("on %s with %i blocks left, expires soon: %s (%s)", (network, left, soon) => {
    const { text } = expiryOf({ expired: false, expires_in: left }, { network })
    assert.strictEqual(text.includes("<span class=\"badge busy\">expires soon</span>"), soon)
  })
})
