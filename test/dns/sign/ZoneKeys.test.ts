import { assert, describe, it } from "@effect/vitest"
import { Effect, FastCheck as fc, TestClock } from "effect"
import { chmodSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { replaceEntropy } from "../../../src/base/entropy.ts"
import { keyFileName, readKeyFile } from "../../../src/dns/sign/keyFile.ts"
import { keysAt } from "../../../src/dns/sign/keysAt.ts"
import { makeSigner } from "../../../src/dns/sign/signer.ts"
import { dnskeyOf, keyTag, newKeySecret, type ZoneKey, zoneKeyOf } from "../../../src/dns/sign/zoneKey.ts"
import * as ZoneKeys from "../../../src/dns/sign/ZoneKeys.ts"
import { toHex } from "../../../src/protocol/bytes.ts"
import { temporaryDirectory } from "../../support/chain.ts"
import { wireName } from "../../support/dnsRecords.ts"

const HOUR = 3_600
const DAY = 24 * HOUR
const BIT = wireName("bit")

const keyMade = (created: number): ZoneKey => zoneKeyOf(newKeySecret(), created) ?? assert.fail("no key")

const phasesAt = (keys: ReadonlyArray<ZoneKey>, day: number) => keysAt(keys, day * DAY).map(({ phase }) => phase)

describe("the rollover of a key", () => {
  const old = keyMade(0)
  const next = keyMade(100 * DAY)

  it.each<[number, string, string]>([
    [100, "active", "new"],
    [129.99, "active", "new"],
    [130, "leaving", "active"],
    [144.99, "leaving", "active"],
    [145, "revoked", "active"],
    [174.99, "revoked", "active"],
    [175, "removed", "active"],
    [9_999, "removed", "active"]
  ])("on day %s the old key is %s and the new one %s", (day, before, after) => {
    assert.deepStrictEqual(phasesAt([old, next], day), [before, after])
    assert.deepStrictEqual(phasesAt([next, old], day), [before, after])
  })

  it("a lone key is active at once, whenever it was made", () => {
    for (const day of [0, 99, 100, 101]) assert.deepStrictEqual(phasesAt([next], day), ["active"])
  })

  it("one key is active at any time", () => {
    const made = [0, 80, 200, 201].map((day) => keyMade(day * DAY))
    fc.assert(fc.property(fc.subarray(made, { minLength: 1 }), fc.integer({ min: 0, max: 400 }), (keys, day) => {
      assert.strictEqual(phasesAt(keys, day).filter((phase) => phase === "active").length, 1)
    }))
  })
})

describe("signatures", () => {
  const set = {
    owner: wireName("a.bit"),
    type: 16,
    ttl: 600,
    records: [{ type: "TXT" as const, strings: [Uint8Array.of(1)] }],
    signs: true
  }
  const keySet = (signer: ReturnType<typeof signerAt>["signer"]) => ({
    ...set,
    owner: BIT,
    type: 48,
    records: signer.keys()
  })

  const signerAt = (keys: ReadonlyArray<ZoneKey>, day = 0) => {
    const state = { keys, now: day * DAY, made: 0 }
    const signer = makeSigner({ zone: BIT, keys: () => state.keys, now: () => state.now, onSigned: () => state.made++ })
    return { state, signer }
  }

  const tagsOf = (records: ReadonlyArray<{ readonly type: string; readonly keyTag?: number }>) =>
    records.map(({ keyTag: tag }) => tag)

  const inceptionsOf = (records: ReadonlyArray<{ readonly type: string; readonly inception?: number }>) =>
    records.map(({ inception }) => inception)

  it("are kept until half of their life is over", () => {
    const { signer, state } = signerAt([keyMade(0)], 100)
    const first = signer.signatures(set)
    state.now += 7 * DAY - 1
    assert.deepStrictEqual(signer.signatures(set), first)
    assert.strictEqual(state.made, 1)
    state.now += 1
    assert.notDeepEqual(signer.signatures(set), first)
    assert.strictEqual(state.made, 2)
  })

  it("are made again if the clock is set back", () => {
    const { signer, state } = signerAt([keyMade(0)], 100)
    signer.signatures(set)
    state.now -= 2 * DAY
    signer.signatures(set)
    assert.strictEqual(state.made, 2)
  })

  it("over NSEC records are kept for the second who asks, as those of random questions are never asked for again", () => {
    const { signer, state } = signerAt([keyMade(0)], 100)
    const denial = { ...set, type: 47, records: [{ type: "NSEC" as const, next: BIT, types: [46, 47] }] }
    const made = [1, 2, 3, 4].map(() => {
      signer.signatures(denial)
      return state.made
    })
    assert.deepStrictEqual(made, [1, 2, 2, 2])
    signer.signatures({ ...denial, owner: BIT })
    assert.strictEqual(state.made, 3)
  })

  it("over NSEC records of names that have something are kept at once, as all questions for other types share them", () => {
    const { signer, state } = signerAt([keyMade(0)], 100)
    const atName = { ...set, type: 47, records: [{ type: "NSEC" as const, next: BIT, types: [1, 46, 47] }] }
    for (const _ of [1, 2, 3]) signer.signatures(atName)
    assert.strictEqual(state.made, 1)
  })

  it("of a shared set are valid after the clock is set back to a time between the signer's start and theirs", () => {
    const { signer, state } = signerAt([keyMade(0)], 100)
    const shared = { ...set, isShared: true }
    state.now += DAY / 2
    const before = [signer.signatures(shared), signer.generation()] as const
    state.now -= HOUR
    assert.deepStrictEqual([signer.signatures(shared), signer.generation()], before, "signatures begin an hour early")
    state.now -= 1
    assert.deepStrictEqual(inceptionsOf(signer.signatures(shared).records), [state.now - HOUR])
    assert.isAbove(signer.generation(), before[1])
    const after = signer.generation()
    state.now += DAY / 4
    assert.strictEqual(signer.generation(), after, "the clock goes on")
  })

  it("of a shared set are those of any other, and follow the keys", () => {
    const { signer, state } = signerAt([keyMade(0)], 100)
    const shared = { ...set, isShared: true }
    const first = signer.signatures(shared)
    assert.strictEqual(signer.signatures(shared), first)
    assert.deepStrictEqual(first, signer.signatures(set))
    const [next] = (state.keys = [keyMade(1)])
    assert.deepStrictEqual(tagsOf(signer.signatures(shared).records), next && [keyTag(dnskeyOf(next))])
    state.now += 8 * DAY
    assert.notDeepEqual(signer.signatures(shared), first)
  })

  it("are other ones for other data, TTLs and owners, and the same for records in another order", () => {
    const { signer, state } = signerAt([keyMade(0)], 100)
    const two = { ...set, records: [...set.records, { type: "TXT" as const, strings: [Uint8Array.of(2)] }] }
    for (
      const each of [set, two, { ...set, ttl: 60 }, { ...set, owner: BIT }, {
        ...two,
        records: two.records.toReversed()
      }]
    ) signer.signatures(each)
    assert.strictEqual(state.made, 4)
  })

  it("are those of all trusted keys over the keys, and of the active one over all else", () => {
    const [old, next] = [keyMade(0), keyMade(100 * DAY)]
    const [oldTag, nextTag] = [old, next].map((key) => keyTag(dnskeyOf(key)))
    const { signer, state } = signerAt([old, next], 100)
    const seen = [100, 130, 145, 175].map((day) => {
      state.now = day * DAY
      return [tagsOf(signer.signatures(keySet(signer)).records), tagsOf(signer.signatures(set).records)]
    })
    assert.deepStrictEqual(seen, [
      [[oldTag], [oldTag]],
      [[oldTag, nextTag], [nextTag]],
      [[keyTag(dnskeyOf(old, true)), nextTag], [nextTag]],
      [[nextTag], [nextTag]]
    ])
  })

  it("the generation grows each day, so that no answer outlives its signatures", () => {
    const { signer, state } = signerAt([keyMade(0)], 100)
    const before = signer.generation()
    state.now += DAY - 1
    assert.strictEqual(signer.generation(), before)
    state.now += 1
    assert.isAbove(signer.generation(), before)
  })

  it("the generation grows when the keys change", () => {
    const { signer, state } = signerAt([keyMade(0)], 100)
    const before = signer.generation()
    assert.strictEqual(signer.generation(), before)
    const keys = signer.keys()
    state.keys = [...state.keys, keyMade(100 * DAY)]
    assert.isAbove(signer.generation(), before)
    assert.strictEqual(signer.keys().length, keys.length + 1)
    const during = signer.generation()
    state.now = 130 * DAY
    assert.isAbove(signer.generation(), during)
  })
})

const keysIn = (directory: string) => ZoneKeys.layer({ zone: BIT, directory })

const listed = Effect.flatMap(ZoneKeys.ZoneKeys, ({ list }) => list)

describe("the files of keys", () => {
  it.scoped("a key is made at the first start, private, and the same after a restart", () =>
    Effect.gen(function*() {
      const directory = join(yield* temporaryDirectory, "dns")
      const [first] = yield* Effect.provide(listed, keysIn(directory))
      const [file = ""] = readdirSync(directory)
      assert.match(file, /^Kbit\.\+013\+\d{5}\.json$/)
      assert.strictEqual(statSync(join(directory, file)).mode & 0o777, 0o600)
      chmodSync(join(directory, file), 0o644)
      const [second] = yield* Effect.provide(listed, keysIn(directory))
      assert.strictEqual(toHex(second?.key.public ?? Uint8Array.of(1)), toHex(first?.key.public ?? Uint8Array.of(2)))
      assert.strictEqual(statSync(join(directory, file)).mode & 0o777, 0o600)
    }))

  it.scoped.each([
    { what: "is empty", change: (_: string) => "" },
    { what: "is cut off", change: (text: string) => text.slice(0, -20) },
    { what: "has another key", change: (text: string) => text.replace(/"private":"..../, `"private":"AAAA`) },
    { what: "is of another zone", change: (text: string) => text.replace("bit.", "com.") },
    { what: "is far too long", change: (text: string) => text + " ".repeat(5_000) }
  ])("a file that $what is an error with a remedy, and no new key is made", ({ change }) =>
    Effect.gen(function*() {
      const directory = join(yield* temporaryDirectory, "dns")
      yield* Effect.provide(listed, keysIn(directory))
      const [file = ""] = readdirSync(directory)
      writeFileSync(join(directory, file), change(readFileSync(join(directory, file), "utf8")))
      const failure = yield* Effect.flip(Effect.provide(listed, keysIn(directory)))
      assert.strictEqual(failure._tag, "StorageCorrupted")
      assert.include(failure.message, file)
      assert.include(failure.message, "Restore it from a backup")
      assert.deepStrictEqual(readdirSync(directory), [file])
    }))

  it.scoped("a rollover makes a second key, refuses a third, and goes on across restarts", () =>
    Effect.gen(function*() {
      const directory = join(yield* temporaryDirectory, "dns")
      yield* TestClock.setTime(1_900_000_000_000)
      yield* Effect.gen(function*() {
        const { roll, signer } = yield* ZoneKeys.ZoneKeys
        const generation = signer?.generation() ?? 0
        assert.deepStrictEqual((yield* roll).map(({ phase }) => phase), ["active", "new"])
        assert.isAbove(signer?.generation() ?? 0, generation)
        const refused = yield* Effect.flip(roll)
        assert.strictEqual(refused._tag, "RollUnderWay")
        // Not the day of the next phase: after that one, a new key would be refused again.
        assert.include(refused.message, "2030-05-31")
      }).pipe(Effect.provide(keysIn(directory)))
      yield* TestClock.adjust("31 days")
      assert.deepStrictEqual((yield* Effect.provide(listed, keysIn(directory))).map(({ phase }) => phase), [
        "leaving",
        "active"
      ])
      const again = yield* Effect.flip(
        Effect.provide(Effect.flatMap(ZoneKeys.ZoneKeys, ({ roll }) => roll), keysIn(directory))
      )
      assert.include(again.message, "2030-05-31")
      yield* TestClock.adjust("45 days")
      const { length } = yield* Effect.provide(Effect.flatMap(ZoneKeys.ZoneKeys, ({ roll }) => roll), keysIn(directory))
      assert.strictEqual(length, 3)
    }))

  it.scoped("no key has the tag of another one, revoked or not", () =>
    Effect.gen(function*() {
      const directory = join(yield* temporaryDirectory, "dns")
      // Of these secrets the first two have keys of one tag, and the fourth the tag that the third has once revoked.
      const secrets = [31, 60, 53, 200, 7]
      yield* Effect.acquireRelease(
        Effect.sync(() =>
          replaceEntropy((bytes) => {
            bytes.fill(0)
            bytes[bytes.length - 1] = secrets.shift() ?? 0
          })
        ),
        (replaced) => Effect.sync(() => replaceEntropy(replaced))
      )
      const tags: Array<number> = []
      yield* Effect.gen(function*() {
        const { list, roll } = yield* ZoneKeys.ZoneKeys
        for (const left of [4, 2, 0]) {
          if (left < 4) yield* roll
          assert.lengthOf(secrets, left)
          yield* TestClock.adjust("76 days")
        }
        tags.push(...(yield* list).map(({ key }) => keyTag(dnskeyOf(key))))
      }).pipe(Effect.provide(keysIn(directory)))
      assert.strictEqual(new Set(tags).size, 3)
      assert.lengthOf(readdirSync(directory), 3)
    }))

  it.effect("without DNSSEC there is no signer, and keys are refused with the option", () =>
    Effect.gen(function*() {
      const { list, roll, signer } = yield* ZoneKeys.ZoneKeys
      assert.isUndefined(signer)
      for (const failure of [yield* Effect.flip(list), yield* Effect.flip(roll)]) {
        assert.include(failure.message, "-dnssec=1")
      }
    }).pipe(Effect.provide(ZoneKeys.layerUnsigned)))

  it("the name of a file has the key tag in five digits", () => {
    fc.assert(
      fc.property(fc.constant(undefined), () => {
        assert.match(keyFileName(BIT, keyMade(0)), /^Kbit\.\+013\+\d{5}\.json$/)
      }),
      { numRuns: 20 }
    )
    assert.isString(readKeyFile("{}", BIT))
  })
})
