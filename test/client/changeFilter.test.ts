import { assert, describe, it } from "@effect/vitest"
import { Either } from "effect"
import { wantedChanges, withoutSubjects } from "../../src/client/changeFilter.ts"
import { regtest } from "../../src/protocol/networks.ts"

describe("wantedChanges", () => {
  it("passes mine and watched on to the daemon, and refuses other types", () => {
    const { mine, query, watched } = Either.getOrThrow(wantedChanges({ mine: true, watched: true }, regtest))
    assert.isTrue(mine && watched)
    assert.deepStrictEqual([query.get("mine"), query.get("watched")], ["1", "1"])
    const plain = Either.getOrThrow(wantedChanges({ mine: false }, regtest))
    assert.isFalse(plain.query.has("mine") || plain.query.has("watched"))
  })
})

describe("withoutSubjects", () => {
  it.each([
    { given: { mine: true }, field: "mine" },
    { given: { watched: true }, field: "watched" },
    { given: {}, field: undefined }
  ])("names the field that a node without wallets and list cannot answer: $field", ({ field, given }) => {
    const wanted = Either.getOrThrow(wantedChanges(given, regtest))
    const refused = Either.flip(withoutSubjects(wanted, "there is no list"))
    assert.strictEqual(Either.getOrUndefined(refused)?.field, field)
  })
})
