import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { makeNames } from "../../../src/wallet/names/makeNames.ts"
import { bytes, mine, NAME, VALUE } from "./operating.ts"
import { quiet, withNames } from "./registering.ts"
import { World } from "./World.ts"

describe("the renewal of registered names", () => {
  const BEGUN = { all: false, names: [NAME], except: [] }
  const NONE = { all: false, names: [], except: [] }

  it.effect("is on by default, and renews the name", () =>
    withNames((names, world) =>
      Effect.gen(function*() {
        yield* names.register(NAME, VALUE, {})
        assert.deepStrictEqual(names.renewal(), BEGUN)
        yield* mine(world, names, 45)
        assert.isAbove(world.made("name_update").length, 0)
      })
    ))

  it.effect("is off on request, for another owner, and where the operator does not want it", () =>
    Effect.gen(function*() {
      yield* withNames((names) =>
        Effect.gen(function*() {
          yield* names.register(NAME, VALUE, { renew: false })
          yield* names.register(bytes("d/given"), VALUE, { destination: Uint8Array.of(0x51), renew: true })
          assert.deepStrictEqual(names.renewal(), NONE)
        })
      )
      const world = new World()
      const wallet = yield* world.parts
      const names = yield* makeNames(wallet, { autoRenew: false })
      yield* names.register(NAME, VALUE, {})
      assert.deepStrictEqual(names.renewal(), NONE)
      yield* names.register(bytes("d/kept"), VALUE, { renew: true })
      assert.deepStrictEqual(names.renewal(), { all: false, names: [bytes("d/kept")], except: [] })
    }).pipe(Effect.scoped, quiet))

  it.effect("is off on request although the wallet renews all names, until the registration is cancelled", () =>
    withNames((names, world) =>
      Effect.gen(function*() {
        yield* names.setRenewal(undefined, true)
        world.poor = true
        yield* Effect.flip(names.register(NAME, VALUE, { renew: false }))
        assert.deepStrictEqual(names.renewal(), { all: true, names: [], except: [] })
        world.poor = false
        yield* names.register(NAME, VALUE, { renew: false })
        assert.deepStrictEqual(names.renewal(), { all: true, names: [], except: [NAME] })
        yield* names.cancelRegistration(NAME)
        assert.deepStrictEqual(names.renewal(), { all: true, names: [], except: [] })
        // What the caller does not say changes no setting, even where the operator leaves renewals to the owner.
        yield* names.register(NAME, VALUE, {})
        assert.deepStrictEqual(names.renewal(), { all: true, names: [], except: [] })
      })
    ))

  it.effect("may be on in a wallet without private keys, whose renewals another machine signs", () =>
    withNames((names, world) =>
      Effect.gen(function*() {
        world.document = { ...world.document, privateKeys: false }
        yield* names.setRenewal(undefined, true)
        assert.isTrue(names.isRenewed(NAME))
        yield* names.setRenewal(undefined, false)
      })
    ))

  it.effect("is on as the caller said, even after the wallet no longer renews all names", () =>
    withNames((names, world) =>
      Effect.gen(function*() {
        yield* names.setRenewal(undefined, true)
        world.poor = true
        yield* Effect.flip(names.register(NAME, VALUE, { renew: true }))
        assert.deepStrictEqual(names.renewal(), { all: true, names: [], except: [] })
        world.poor = false
        yield* names.register(NAME, VALUE, { renew: true })
        yield* names.setRenewal(undefined, false)
        assert.deepStrictEqual(names.renewal(), BEGUN)
      })
    ))

  it.effect("ends with a registration that fails to start or is cancelled", () =>
    withNames((names, world) =>
      Effect.gen(function*() {
        world.poor = true
        yield* Effect.flip(names.register(NAME, VALUE, {}))
        assert.deepStrictEqual(names.renewal(), NONE)
        world.poor = false
        yield* names.register(NAME, VALUE, {})
        yield* names.cancelRegistration(NAME)
        assert.deepStrictEqual(names.renewal(), NONE)
      })
    ))
})
