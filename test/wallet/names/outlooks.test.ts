import { assert, describe, it } from "@effect/vitest"
import { Effect, Logger } from "effect"
import { displayHash } from "../../../src/protocol/bytes.ts"
import { outpoint } from "../../../src/protocol/transaction.ts"
import type { Names } from "../../../src/wallet/names/makeNames.ts"
import { isKnown } from "../../../src/wallet/names/outlooks.ts"
import { foreignNew } from "./NameNode.ts"
import { bytes, mine, NAME, own, start, withNames } from "./operating.ts"
import { World } from "./World.ts"

const outlook = (names: Names) =>
  Effect.map(names.outlooks, ([only]) => {
    const { acknowledged, outlook: { state, urgency } } = only ?? assert.fail("no name")
    return `${state} ${urgency}${acknowledged ? " acknowledged" : ""}`
  })

/** Registers the name for another owner, without the wallet. */
const takenBy = (world: World) => {
  const salt = new Uint8Array(20).fill(9)
  const made = foreignNew(world, NAME, salt)
  world.connect([made])
  world.mine(12)
  world.connect([
    world.foreign({ op: "name_firstupdate", name: NAME, rand: salt, value: bytes("theirs") }, [outpoint(made.txid, 0)])
  ])
}

describe("the outlook of a wallet's name", () => {
  it.effect("follows a lock to the loss of the name, and to its next owner", () =>
    withNames((names, world) =>
      Effect.gen(function*() {
        yield* own(world, names)
        assert.strictEqual(yield* outlook(names), "by-hand ok")
        yield* names.setRenewal(NAME, true)
        assert.strictEqual(yield* outlook(names), "renews ok")
        world.unlockedUntil = 1
        assert.strictEqual(yield* outlook(names), "locked notice")
        world.locked = true
        assert.strictEqual(yield* outlook(names), "locked notice")
        yield* mine(world, names, 26)
        assert.strictEqual(yield* outlook(names), "locked notice")
        yield* mine(world, names, 1)
        assert.strictEqual(yield* outlook(names), "locked warning")
        yield* mine(world, names, 2)
        assert.strictEqual(yield* outlook(names), "too-late alarm")
        yield* mine(world, names, 1)
        assert.strictEqual(yield* outlook(names), "free alarm")
        takenBy(world)
        assert.strictEqual(yield* outlook(names), "taken alarm")
      })
    ))

  it.effect("tells missing coins from other failures, and forgets them once the name is safe", () =>
    withNames((names, world) =>
      Effect.gen(function*() {
        yield* own(world, names)
        yield* names.setRenewal(NAME, true)
        world.poor = true
        assert.strictEqual(yield* outlook(names), "no-coins notice")
        yield* mine(world, names, 27)
        assert.strictEqual(yield* outlook(names), "no-coins warning")
        world.poor = false
        world.room = 0
        yield* names.step
        assert.strictEqual(yield* outlook(names), "failing warning")
        world.room = 10
        yield* names.step
        assert.strictEqual(yield* outlook(names), "pending ok")
        const [{ outlook: found } = assert.fail()] = yield* names.outlooks
        assert.strictEqual(found.txid, displayHash(world.made("name_update").at(-1)?.txid ?? assert.fail()))
        yield* mine(world, names, 1)
        assert.strictEqual(yield* outlook(names), "renews ok")
      })
    ))

  it.effect("tells long before that the wallet sends no renewals", () =>
    withNames((names, world) =>
      Effect.gen(function*() {
        yield* own(world, names)
        assert.strictEqual(yield* outlook(names), "by-hand ok")
        yield* names.setRenewal(NAME, true)
        assert.strictEqual(yield* outlook(names), "failing notice")
        const [{ outlook: found } = assert.fail()] = yield* names.outlooks
        assert.include(found.reason, "-walletbroadcast=1")
        world.poor = true
        assert.strictEqual(yield* outlook(names), "no-coins notice")
      }), { broadcasts: false }))

  it.effect("does not count a transfer by the owner as a loss", () =>
    withNames((names, world) =>
      Effect.gen(function*() {
        yield* own(world, names)
        yield* names.nameUpdate({ name: NAME, value: undefined, destination: bytes("another owner") })
        assert.strictEqual(yield* outlook(names), "leaving ok")
        yield* mine(world, names, 1)
        assert.strictEqual(yield* outlook(names), "given ok")
        yield* mine(world, names, 40)
        assert.strictEqual(yield* outlook(names), "given ok")
        assert.deepStrictEqual(yield* names.acknowledge(undefined), [])
      })
    ))

  it.effect("alarms until the owner acknowledges this event; the next one alarms again, even after a restart", () =>
    withNames((names, world) =>
      Effect.gen(function*() {
        yield* own(world, names)
        yield* mine(world, names, 28)
        assert.strictEqual(yield* outlook(names), "by-hand alarm")
        assert.deepStrictEqual(yield* names.acknowledge([bytes("d/other")]), [])
        assert.deepStrictEqual(yield* names.acknowledge([NAME]), [NAME])
        assert.deepStrictEqual(yield* names.acknowledge([NAME]), [])
        assert.strictEqual(yield* outlook(names), "by-hand alarm acknowledged")
        yield* mine(world, names, 2)
        const again = yield* start(world)
        assert.strictEqual(yield* outlook(again), "free alarm")
        assert.deepStrictEqual(yield* again.acknowledge(undefined), [NAME])
        assert.strictEqual(yield* outlook(again), "free alarm acknowledged")
        assert.strictEqual(world.document.acknowledged?.length, 1)
      })
    ))

  it("an acknowledged warning alarms again once it is more urgent", () => {
    const outlook = { state: "locked", urgency: "warning", left: 2_000 } as const
    const known = { name: NAME, height: 100, state: "locked", urgency: "warning" } as const
    assert.isTrue(isKnown(known, { height: 100, outlook }))
    assert.isTrue(isKnown({ ...known, urgency: "alarm" }, { height: 100, outlook }))
    assert.isFalse(isKnown(known, { height: 100, outlook: { ...outlook, urgency: "alarm", left: 900 } }))
    assert.isFalse(isKnown(known, { height: 101, outlook }))
    assert.isFalse(isKnown(known, { height: 100, outlook: { ...outlook, state: "no-coins" } }))
  })

  it.effect("a name that its owner lets expire does not alarm, not even after its setting is forgotten", () =>
    withNames((names, world) =>
      Effect.gen(function*() {
        yield* own(world, names)
        yield* names.setRenewal(undefined, true)
        yield* names.setRenewal(NAME, false)
        for (let i = 0; i < 130; i++) {
          yield* mine(world, names, 1)
          const [, urgency = "", acknowledged] = (yield* outlook(names)).split(" ")
          assert.isTrue(urgency === "ok" || urgency === "notice" || acknowledged !== undefined, `${i}: ${urgency}`)
        }
        assert.deepStrictEqual(world.document.renewals, { all: true, names: [] })
        // On the main network, a life is longer than the setting is kept.
        assert.deepStrictEqual(world.document.acknowledged?.map(({ name, state }) => [name, state]), [[NAME, "free"]])
      })
    ))

  it.effect("logs each alarm once, and again once it is more urgent, not per block", () => {
    const logged: Array<string> = []
    const logger = Logger.make(({ message }) => {
      const [text, fields] = Array.isArray(message) ? message : [message]
      if (text === "name in danger") logged.push(Object(fields).state)
    })
    return Effect.gen(function*() {
      const world = new World()
      const names = yield* start(world)
      yield* own(world, names)
      yield* names.setRenewal(NAME, true)
      world.locked = true
      yield* mine(world, names, 40)
      assert.deepStrictEqual(logged, ["locked", "locked", "too-late", "free"])
    }).pipe(Effect.scoped, Effect.provide(Logger.replace(Logger.defaultLogger, logger)))
  })
})
