import { assert, describe, it } from "@effect/vitest"
import { toHex } from "../../../src/protocol/bytes.ts"
import { regtest } from "../../../src/protocol/networks.ts"
import { parseWif } from "../../../src/protocol/wif.ts"
import { deterministicSalt } from "../../../src/wallet/keys/salt.ts"

const NAME = new TextEncoder().encode("d/wikileaks")

describe("deterministicSalt", () => {
  // reference/protocol.md 9.2
  it.each([
    ["cQDxbmQfwRV3vP1mdnVHq37nJekHLsuD3wdSQseBRA2ct4MFk5Pq", "c33f6d84c93d769da2a8882ed9d4a69e2052dd9a"],
    ["cU9hVzhpvfn91u2zTVn8uqF2ymS7ucYH8V5TmsTDmuyMHgRk9WsJ", "b14763659b268460865db01b2b10b80a9cbe9ceb"],
    ["cPuQzcNEgbeYZ5at9VdGkCwkPA9r34gvEVJjuoz384rTfYpahfe7", "a39038cddfcc17d391b8620639a72178dc73b19a"]
  ])("of %s is %s", (wif, salt) => {
    const key = parseWif(regtest, wif)
    if ("error" in key) throw new Error(key.error)
    assert.strictEqual(toHex(deterministicSalt(key.privateKey, NAME)), salt)
    assert.notStrictEqual(toHex(deterministicSalt(key.privateKey, NAME.subarray(1))), salt)
  })
})
