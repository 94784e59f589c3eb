import { assert, describe, it } from "@effect/vitest"
import { Cause, Effect, Exit, FastCheck } from "effect"
import { binaryString, displayHash, equal } from "../../../src/protocol/bytes.ts"
import { UNSENT } from "../../../src/wallet/names/entries.ts"
import { mine, NAME, VALUE } from "./operating.ts"
import { only, quiet, start, withNames } from "./registering.ts"
import { CRASH, World } from "./World.ts"

describe("cancelRegistration", () => {
  it.effect("ends an unrevealed registration; the salt stays, and the name can be registered by hand", () =>
    withNames((names, world) =>
      Effect.gen(function*() {
        yield* names.register(NAME, VALUE, {})
        yield* names.cancelRegistration(NAME)
        yield* mine(world, names, 14)
        assert.deepInclude(only(names), {
          step: "failed",
          note:
            "called off by the owner; its name_new keeps 0.01000000 NMC, which only a registration of this name can use"
        })
        assert.deepStrictEqual(world.made("name_firstupdate"), [])
        assert.strictEqual(
          (yield* Effect.flip(names.cancelRegistration(NAME))).message,
          "no registration of this name is under way"
        )
        yield* names.nameFirstUpdate({ name: NAME, rand: undefined, txid: undefined, value: VALUE })
        yield* mine(world, names, 1)
        assert.strictEqual(only(names).step, "done")
      })
    ))

  it.effect("refuses a registration that is revealed already", () =>
    withNames((names, world) =>
      Effect.gen(function*() {
        yield* names.register(NAME, VALUE, {})
        yield* mine(world, names, 12)
        assert.deepInclude(yield* Effect.flip(names.cancelRegistration(NAME)), { code: "not-eligible" })
        yield* mine(world, names, 1)
        assert.strictEqual(only(names).step, "done")
      })
    ))
})

describe("a registration that another owner was faster with", () => {
  it.effect("says what holds coins: its name_firstupdate, and after abandontransaction its name_new", () =>
    withNames((names, world) =>
      Effect.gen(function*() {
        yield* names.register(NAME, VALUE, {})
        yield* mine(world, names, 12)
        const [update = assert.fail("nothing was sent")] = world.made("name_firstupdate")
        const theirs = world.foreign({ op: "name_firstupdate", name: NAME, rand: VALUE, value: VALUE })
        world.connect([theirs])
        yield* names.step
        assert.match(only(names).note, new RegExp(`abandontransaction ${displayHash(update.txid)}`))
        for (const sent of world.sent) sent.abandoned ||= sent.transaction === update
        for (const again of [false, true]) {
          if (again) yield* mine(world, names, 1)
          else yield* names.step
          const { note, step } = only(names)
          assert.strictEqual(step, "failed")
          assert.strictEqual(
            note,
            "another owner has registered the name; its name_new keeps 0.01000000 NMC, which only a registration of this name " +
              "can use"
          )
        }
        // A reorganisation that removes the other registration opens it again.
        world.reorganise(2)
        world.pool.delete(binaryString(theirs.txid))
        yield* mine(world, names, 14)
        assert.strictEqual(only(names).step, "done")
      })
    ))
})

/** Runs an effect of a node that may be stopped in it; returns whether it was. */
const wasEnded = <A, E>(work: Effect.Effect<A, E>) =>
  Effect.flatMap(Effect.exit(work), (exit) => {
    if (Exit.isSuccess(exit)) return Effect.succeed(false)
    return Cause.squash(exit.cause) === CRASH ? Effect.succeed(true) : Effect.failCause(exit.cause)
  })

describe("a node that ends", () => {
  /** Registers, with a stop after so many points; returns whether the node was stopped. */
  const story = (point: number) =>
    Effect.gen(function*() {
      const world = new World()
      world.countdown = point
      let names = yield* start(world)
      let ended = yield* wasEnded(names.register(NAME, VALUE, {}))
      let blocks = 0
      while (blocks < 40) {
        if (ended) {
          world.restart()
          names = yield* start(world)
          ended = yield* wasEnded(names.step)
          // Without a stored entry the owner has no answer and nothing to wait for: the owner asks again.
          if (names.registrations().length === 0) yield* names.register(NAME, VALUE, {})
        }
        world.mine()
        blocks++
        ended = yield* wasEnded(names.step)
      }
      assert.strictEqual(only(names).step, "done", `ended at point ${point}`)
      assert.strictEqual(world.made("name_new").length, 1, `NAME_NEWs, ended at point ${point}`)
      assert.strictEqual(world.made("name_firstupdate").length, 1, `NAME_FIRSTUPDATEs, ended at point ${point}`)
      assert.isTrue(equal(only(names).firstUpdateTxid ?? UNSENT, world.record(NAME)?.txid ?? EMPTY_TXID))
      return world.points
    }).pipe(Effect.scoped)

  const EMPTY_TXID = new Uint8Array(32).fill(1)

  it.effect("completes the registration with one NAME_FIRSTUPDATE, wherever it stopped", () =>
    Effect.gen(function*() {
      const points = yield* story(Infinity)
      assert.isAbove(points, 15)
      for (let point = 0; point < points; point++) yield* story(point)
    }).pipe(quiet))

  const action = FastCheck.oneof(
    FastCheck.record({ type: FastCheck.constant("mine" as const), count: FastCheck.integer({ min: 1, max: 5 }) }),
    FastCheck.record({
      type: FastCheck.constant("reorganise" as const),
      count: FastCheck.integer({ min: 1, max: 15 })
    }),
    FastCheck.record({ type: FastCheck.constant("lock" as const), count: FastCheck.constant(0) }),
    FastCheck.record({ type: FastCheck.constant("unlock" as const), count: FastCheck.constant(0) }),
    FastCheck.record({ type: FastCheck.constant("drop" as const), count: FastCheck.constant(0) }),
    FastCheck.record({ type: FastCheck.constant("end" as const), count: FastCheck.integer({ min: 0, max: 12 }) })
  )

  it.effect.prop(
    "completes it through reorganisations, locks, lost mempools and stops in any order",
    [FastCheck.array(action, { maxLength: 14 })],
    ([actions]) =>
      Effect.gen(function*() {
        const world = new World()
        let names = yield* start(world)
        const run = (work: Effect.Effect<unknown, unknown>) =>
          Effect.gen(function*() {
            let ended = yield* wasEnded(work)
            while (ended) {
              world.restart()
              names = yield* start(world)
              ended = yield* wasEnded(names.step)
            }
          })
        yield* run(names.register(NAME, VALUE, {}))
        for (const { count, type } of actions) {
          if (type === "mine") {
            for (let i = 0; i < count; i++) {
              world.mine()
              yield* run(names.step)
            }
            continue
          }
          if (type === "reorganise") world.reorganise(Math.min(count, world.height - 100))
          if (type === "lock") world.locked = true
          if (type === "unlock") world.locked = false
          if (type === "drop") world.pool.clear()
          if (type === "end") world.countdown = count
          yield* run(names.step)
        }
        world.countdown = Infinity
        world.locked = false
        world.restart()
        names = yield* start(world)
        yield* mine(world, names, 28)
        assert.strictEqual(only(names).step, "done")
        assert.strictEqual(world.made("name_new").length, 1)
        assert.strictEqual(world.made("name_firstupdate").length, 1)
      }).pipe(Effect.scoped, quiet),
    { fastCheck: { numRuns: 150 } }
  )
})
