import { assert, describe, it } from "@effect/vitest"
import { Effect, Either } from "effect"
import { type ImportRequest, prepareImport } from "../../../src/wallet/keys/importDescriptor.ts"
import { KeyRing } from "../../../src/wallet/keys/KeyRing.ts"
import { encodeDocument, type WalletDocument } from "../../../src/wallet/keys/WalletDocument.ts"
import { about, imported, MASTER, ONE, request, taken, TWO, watching, WIF } from "./rings.ts"

describe("a range that is imported again", () => {
  const at = (range: readonly [number, number], internal = false) =>
    request(`wpkh(${MASTER}/*)`, { active: true, range, internal })

  it.effect("begins at its new first index, unless addresses of it were given out", () =>
    Effect.gen(function*() {
      const start = imported(yield* about, at([5, 10]))
      const wider = imported(start, at([0, 20]))
      assert.strictEqual(wider.imports[0]?.next, 0)
      const ring = yield* KeyRing.make(start, 3)
      yield* ring.add(wider.imports[0] ?? assert.fail())
      assert.strictEqual(taken(ring, "bech32").own.path, "m/0")
      const used = ring.save(wider)
      const again = imported(used, at([0, 30], true))
      assert.strictEqual(again.imports[0]?.next, 1, "no address is given out twice")
      yield* ring.add(again.imports[0] ?? assert.fail())
      assert.strictEqual(taken(ring, "bech32", true).own.path, "m/1")
    }))
})

describe("prepareImport", () => {
  const reason = (document: WalletDocument, each: ImportRequest): readonly [string, string] =>
    Either.match(prepareImport(document, each, undefined), {
      onLeft: (failure) => [failure._tag === "KeysLocked" ? "locked" : failure.code, failure.message],
      onRight: () => ["", ""]
    })

  it.effect("refuses invalid requests with the reference node's error texts", () =>
    Effect.gen(function*() {
      const seeded = yield* about
      const ranged = `pkh(${MASTER}/*)`
      for (
        const [document, each, expected] of [
          [seeded, request(`pkh(${ONE})`), [
            "no-keys",
            "Cannot import descriptor without private keys to a wallet with private keys enabled"
          ]],
          [watching, request(`pkh(${WIF})`), [
            "no-keys",
            "Cannot import private keys to a wallet with private keys disabled"
          ]],
          [seeded, request(`pkh(${WIF})`, { active: true }), ["range", "Active descriptors must be ranged"]],
          [seeded, request(`pkh(${WIF})`, { range: [0, 1] }), [
            "range",
            "Range should not be specified for an un-ranged descriptor"
          ]],
          [seeded, request(`combo(${MASTER}/*)`, { active: true }), [
            "not-eligible",
            "Combo descriptors cannot be set to active"
          ]],
          [seeded, request(ranged, { label: "x" }), ["range", "Ranged descriptors should not have a label"]],
          [seeded, request(`pkh(${WIF})`, { internal: true, label: "x" }), [
            "range",
            "Internal addresses should not have a label"
          ]],
          [seeded, request(ranged, { range: [5, 3] }), [
            "range",
            "Range specified as [begin,end] must not have begin after end"
          ]],
          [seeded, request(ranged, { range: [-1, 3] }), ["range", "Range should be greater or equal than 0"]],
          [seeded, request(ranged, { range: [0, 2 ** 31] }), ["range", "End of range is too high"]],
          [seeded, request(ranged, { range: [0, 1_000_000] }), ["range", "Range is too large"]],
          [seeded, request(ranged, { range: [0, 9], nextIndex: 10 }), ["range", "next_index is out of range"]],
          [seeded, { ...request(ranged), descriptor: ranged }, ["descriptor", "Missing checksum"]],
          [seeded, request(`pkh(${WIF})`, { label: "x".repeat(1_001) }), [
            "range",
            "Label is too long: it may have 1000 characters"
          ]],
          [seeded, request("pkh(x)"), ["descriptor", "pkh(): key 'x' is not valid"]]
        ] as const
      ) assert.deepStrictEqual(reason(document, each), expected)
    }))

  it.effect("limits the length of a descriptor, and of its public form, which is longer", () =>
    Effect.gen(function*() {
      const seeded = yield* about
      const key = (steps: number) => `[00000000${"/0".repeat(steps)}]${WIF}`
      const keys = Array.from({ length: 273 }, () => key(255)).join()
      const text = (last: number) => `tr(${WIF},multi_a(1,${keys},${key(last)}))`
      const length = (last: number) => imported(seeded, request(text(last))).imports[0]?.descriptor.length ?? 0
      const most = Math.floor((160_000 - length(0)) / 2)
      assert.include([159_999, 160_000], length(most))
      assert.include(encodeDocument(imported(seeded, request(text(most)))), "[00000000/0/0")
      assert.deepStrictEqual(reason(seeded, request(text(most + 1))), [
        "descriptor",
        "Descriptor is too long: it may have 160000 characters"
      ])
    }))

  it.effect("warns about a missing range and missing private keys", () =>
    Effect.gen(function*() {
      const seeded = yield* about
      const warnings = (each: ImportRequest) => Either.getOrThrow(prepareImport(seeded, each, undefined)).warnings
      assert.deepStrictEqual(warnings(request(`pkh(${MASTER}/*)`)), ["Range not given, using default keypool range"])
      assert.deepStrictEqual(warnings(request(`sh(multi(1,${WIF},${TWO}))`)), [
        "Not all private keys provided. Some wallet functionality may return unexpected errors"
      ])
      assert.deepStrictEqual(warnings(request(`pkh(${WIF})`)), [])
    }))

  it.effect("replaces an earlier import of the same descriptor, whose range it has to include", () =>
    Effect.gen(function*() {
      const text = `pkh(${MASTER}/*)`
      const once = imported(yield* about, request(text, { range: [2, 5], timestamp: 3 }))
      assert.deepStrictEqual(reason(once, request(text, { range: [3, 5] })), [
        "no-keys",
        // The stored text: it has no private key.
        `Could not add descriptor '${once.imports[0]?.descriptor}': new range must include current range = [2,5]`
      ])
      const twice = imported(once, request(text, { range: [0, 8], timestamp: 9 }))
      assert.strictEqual(twice.imports.length, 1)
      assert.deepStrictEqual(twice.imports[0]?.range, [0, 9])
      assert.strictEqual(twice.imports[0]?.timestamp, 3)
    }))
})
