import { assert, describe, it } from "@effect/vitest"
import { Either } from "effect"
import { wantedChanges, withoutLive, withoutSubjects } from "../../src/client/changeFilter.ts"
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

describe("live types", () => {
  it("are not kinds of blocks, and leave none if they are alone", () => {
    const both = Either.getOrThrow(wantedChanges({ types: ["updated", "pending", "synced"] }, regtest))
    assert.deepStrictEqual([both.filter.kinds, [...both.live]], [["updated"], ["pending", "synced"]])
    assert.strictEqual(both.query.get("types"), "updated,pending,synced")
    const alone = Either.getOrThrow(wantedChanges({ types: ["pending"] }, regtest))
    assert.deepStrictEqual(alone.filter.kinds, [])
    const none = Either.getOrThrow(wantedChanges({ types: [] }, regtest))
    assert.deepStrictEqual([none.filter.kinds, none.live.size], [undefined, 0])
    const refused = Either.flip(withoutLive(both, "there is no mempool"))
    assert.include(Either.getOrThrow(refused).message, "types: pending: there is no mempool")
    assert.isTrue(Either.isRight(withoutLive(none, "there is no mempool")))
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
