import * as FastCheck from "effect/FastCheck"
import { describe, expect, it } from "vitest"
import { identity } from "../../src/values/nostr.ts"

const KEY = "b0635d6a9851d3aed0cd6c495b282167acf761729078d975fc341b22650b07b9"
const OTHER = "460c25e682fda7832b52d1f22d3d22b3176d972f60dcdc3212ed8c92ef85065c"

describe("identity", () => {
  it.each([
    ["the key of an id/ name", { nostr: KEY }, undefined, { pubkey: KEY, relays: [] }],
    ["no account of another local part beside a single key", { nostr: KEY }, "alice", undefined],
    [
      "a key with a list of relays",
      { nostr: { pubkey: KEY, relays: ["wss://relay.example", "ftp://other.example", 7] } },
      "_",
      { pubkey: KEY, relays: ["wss://relay.example"] }
    ],
    [
      "the key of a local part with its relays",
      { nostr: { names: { alice: OTHER, _: KEY }, relays: { [OTHER]: ["ws://a.onion"], [KEY]: ["wss://b.example"] } } },
      "Alice",
      { pubkey: OTHER, relays: ["ws://a.onion"] }
    ],
    ["no account of an unknown local part", { nostr: { names: { alice: KEY } } }, "bob", undefined],
    ["no key with capital letters, which clients do not compare", { nostr: KEY.toUpperCase() }, "_", undefined],
    ["no npub", { nostr: "npub1sg6plzptd64u62a878hep2kev88swjh3tw00gjsfl8f237lmu63q0uf63m" }, "_", undefined],
    ["nothing without the member", { ip: "192.0.2.1" }, "_", undefined],
    ["nothing in a list", [{ nostr: KEY }], "_", undefined]
  ])("finds %s", (_, value, local, expected) => {
    expect(identity(JSON.stringify(value), local)).toEqual(expected)
  })

  it("reads the last of a repeated member, as JSON readers do", () => {
    expect(identity(`{"nostr":{"names":{"a":"${KEY}","a":"${OTHER}"}}}`, "a")?.pubkey).toBe(OTHER)
  })

  it("ignores a value that is too long to be read", () => {
    expect(identity(JSON.stringify({ nostr: KEY, info: "x".repeat(20_000) }))).toBeUndefined()
  })

  it("never throws, whatever the value is", () => {
    const anything = FastCheck.oneof(FastCheck.string(), FastCheck.json())
    FastCheck.assert(FastCheck.property(anything, FastCheck.string(), (value, local) => {
      const nested = JSON.stringify({ nostr: value })
      for (const text of [value, nested, `{"nostr":${value}}`]) {
        expect(identity(text, local)?.pubkey ?? KEY).toMatch(/^[0-9a-f]{64}$/)
      }
    }))
  })
})
