import { assert, describe, it } from "@effect/vitest"
import { Effect, Exit } from "effect"
import { equal } from "../../../src/protocol/bytes.ts"
import type { Names } from "../../../src/wallet/names/makeNames.ts"
import { bytes } from "./operating.ts"
import { A, abandonUpdates, B, shown, start, updates, withNames } from "./renewing.ts"
import type { World } from "./World.ts"

describe("a requested renewal", () => {
  it.effect("can be cancelled before it is sent", () =>
    withNames([A, B], (names, world) =>
      Effect.gen(function*() {
        world.locked = true
        yield* names.renew({ of: "all" })
        assert.isTrue(yield* names.cancelRenewal(A))
        assert.isFalse(yield* names.cancelRenewal(A))
        world.locked = false
        yield* names.step
        assert.isFalse(yield* names.cancelRenewal(B))
        assert.deepStrictEqual(updates(world), [0, 1])
      })))

  const BOTH = { of: "names", names: [A, B] } as const

  /** Requests that wait, in a wallet that is open again. */
  const withRequests = <X, E>(use: (names: Names, world: World) => Effect.Effect<X, E>) =>
    withNames([A, B], (names, world) =>
      Effect.gen(function*() {
        world.locked = true
        yield* names.renew(BOTH)
        world.locked = false
        return yield* use(names, world)
      }))

  /** Passes blocks; returns how many updates of each name the wallet made. */
  const later = (names: Names, world: World) =>
    Effect.gen(function*() {
      for (let i = 0; i < 3; i++) {
        yield* names.step
        world.mine()
      }
      return updates(world)
    })

  it.effect.each([false, true])(
    "is withdrawn where the owner stops the renewal of its name (all names renewed: %s)",
    (all) =>
      withRequests((names, world) =>
        Effect.gen(function*() {
          if (all) yield* names.setRenewal(undefined, true)
          yield* names.setRenewal(A, false)
          assert.deepStrictEqual(shown(names.requestedRenewals()), ["d/b waiting: waits until the wallet is unlocked"])
          assert.deepStrictEqual(yield* later(names, world), [0, 1])
        })
      )
  )

  it.effect("is withdrawn where the wallet stops to renew all names, but not for names that it did not renew", () =>
    withRequests((names, world) =>
      Effect.gen(function*() {
        yield* names.setRenewal(undefined, false)
        assert.strictEqual(names.requestedRenewals().length, 2)
        yield* names.setRenewal(undefined, true)
        yield* names.setRenewal(B, true)
        yield* names.setRenewal(undefined, false)
        assert.deepStrictEqual(yield* later(names, world), [0, 1])
      })
    ))

  it.effect("that is sent, and abandoned after the owner stopped it, is not sent again", () =>
    withNames([A, B], (names, world) =>
      Effect.gen(function*() {
        yield* names.renew(BOTH)
        yield* names.setRenewal(A, false)
        abandonUpdates(world, A)
        assert.deepStrictEqual(yield* later(names, world), [1, 1])
      })))

  const AWAY = { name: A, value: undefined, destination: bytes("another owner") }

  it.effect("is withdrawn by a transfer, also one that is abandoned later, and not by a change of the value", () =>
    withRequests((names, world) =>
      Effect.gen(function*() {
        yield* names.nameUpdate(AWAY)
        yield* names.nameUpdate({ name: B, value: bytes("new") })
        abandonUpdates(world, A)
        assert.deepStrictEqual(yield* later(names, world), [1, 1])
        assert.deepStrictEqual(shown(names.requestedRenewals()), ["d/b done"])
      })
    ))

  it.effect("stays if the name goes to another address of the wallet, and is sent if that is abandoned", () =>
    withRequests((names, world) =>
      Effect.gen(function*() {
        yield* names.nameUpdate({ ...AWAY, destination: world.scriptOf(0) })
        yield* names.step
        assert.strictEqual(updates(world)[0], 1)
        abandonUpdates(world, A)
        assert.deepStrictEqual(yield* later(names, world), [2, 1])
      })
    ))

  it.effect("stays if the transfer fails", () =>
    withRequests((names, world) =>
      Effect.gen(function*() {
        const before = names.requestedRenewals().filter(({ name }) => equal(name, A))
        world.poor = true
        yield* Effect.flip(names.nameUpdate(AWAY))
        world.poor = false
        assert.deepStrictEqual(names.requestedRenewals().filter(({ name }) => equal(name, A)), before)
        assert.deepStrictEqual(yield* later(names, world), [1, 1])
      })
    ))

  it.effect("is never sent beside a transfer, wherever the node ends", () =>
    withNames([], () =>
      Effect.gen(function*() {
        for (let point = 0, ended = true; ended; point++) {
          ended = yield* withRequests((first, world) =>
            Effect.gen(function*() {
              world.countdown = point
              const exit = yield* Effect.exit(first.nameUpdate(AWAY))
              world.restart()
              const names = yield* start(world)
              const [ofA] = yield* later(names, world)
              // The transfer, or the renewal that it would have withdrawn: the name never stays without both.
              assert.strictEqual(ofA, 1, `point ${point}`)
              assert.isFalse(names.requestedRenewals().some(({ name, state }) => equal(name, A) && state !== "done"))
              return Exit.isFailure(exit)
            })
          )
        }
      })))

  it.effect("can be cancelled once its update was abandoned, while no other can be made", () =>
    withNames(Array.from({ length: 5 }, (_, i) => bytes(`d/${i}`)), (names, world) =>
      Effect.gen(function*() {
        yield* names.renew({ of: "all" })
        yield* names.step
        assert.isTrue(names.requestedRenewals().every(({ state }) => state === "sent"))
        const updates = new Set(world.made("name_update"))
        for (const each of world.sent) each.abandoned ||= updates.has(each.transaction)
        world.pool = new Map()
        world.locked = true
        yield* names.step
        const renewals = names.requestedRenewals()
        assert.isTrue(renewals.every(({ state, txid }) => state === "waiting" && txid === undefined))
        for (const { name } of renewals) assert.isTrue(yield* names.cancelRenewal(name))
      })))
})
