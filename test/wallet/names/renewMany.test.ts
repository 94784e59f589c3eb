import { assert, describe, it } from "@effect/vitest"
import { Cause, Effect, Exit } from "effect"
import { nameKey } from "../../../src/protocol/keys.ts"
import { outpoint } from "../../../src/protocol/transaction.ts"
import { RENEWAL_NOTES } from "../../../src/wallet/names/renewalVerdict.ts"
import type { Renewal } from "../../../src/wallet/names/WalletNames.ts"
import { bytes, mine } from "./operating.ts"
import { A, B, shown, start, updates, withNames } from "./renewing.ts"
import { CRASH } from "./World.ts"

describe("planRenewals", () => {
  it.effect("tells the cost of each and of all, and which names are not renewed, and sends nothing", () =>
    withNames([A, B], (names, world) =>
      Effect.gen(function*() {
        const before = world.sent.length
        const plan = yield* names.planRenewals({ of: "names", names: [A, B, bytes("d/none"), A] })
        assert.strictEqual(plan.fee, 2_000)
        assert.deepStrictEqual(plan.names.map(({ fee, left, note }) => [fee, note, left > 0]), [
          [undefined, RENEWAL_NOTES.none, false],
          [1_000, "", true],
          [1_000, "", true]
        ])
        assert.strictEqual((yield* names.planRenewals({ of: "within", blocks: 29 })).names.length, 0)
        assert.strictEqual((yield* names.planRenewals({ of: "within", blocks: 30 })).names.length, 2)
        assert.strictEqual(world.sent.length, before)
        assert.deepStrictEqual(names.requestedRenewals(), [])
      })))
})

describe("names whose renewal is switched off", () => {
  it.effect("are left out of all and of those that expire soon, and are renewed once if they are named", () =>
    withNames([A, B], (names, world) =>
      Effect.gen(function*() {
        yield* names.setRenewal(undefined, true)
        yield* names.setRenewal(A, false)
        const choices = [{ of: "all" }, { of: "within", blocks: 30 }] as const
        for (const choice of choices) {
          const plan = yield* names.planRenewals(choice)
          assert.deepStrictEqual([plan.names.map(({ name }) => name), plan.leftOut, plan.fee], [[B], 1, 1_000])
        }
        for (const choice of choices) yield* names.renew(choice)
        assert.strictEqual((yield* names.planRenewals({ of: "within", blocks: 29 })).leftOut, 0)
        assert.deepStrictEqual(updates(world), [0, 1])
        const named = { of: "names", names: [A] } as const
        const plan = yield* names.planRenewals(named)
        assert.deepStrictEqual([plan.names.length, plan.leftOut], [1, 0])
        yield* names.renew(named)
        yield* names.renew(named)
        yield* mine(world, names, 1)
        assert.deepStrictEqual(updates(world), [1, 1])
        assert.deepStrictEqual(names.renewal().except, [A])
        // Near the end of the renewed name, nothing renews it again.
        yield* mine(world, names, 29)
        assert.strictEqual(updates(world)[0], 1)
      })))
})

describe("a name that is switched off in a wallet that renews by hand", () => {
  it.effect("is an exception too; names without a setting are renewed with all", () =>
    withNames([A, B], (names, world) =>
      Effect.gen(function*() {
        yield* names.setRenewal(A, true)
        yield* names.setRenewal(A, false)
        assert.deepStrictEqual(names.renewal(), { all: false, names: [], except: [A] })
        for (const choice of [{ of: "all" }, { of: "within", blocks: 30 }] as const) {
          const plan = yield* names.planRenewals(choice)
          assert.deepStrictEqual([plan.names.map(({ name }) => name), plan.leftOut], [[B], 1])
        }
        yield* names.renew({ of: "all" })
        assert.deepStrictEqual(updates(world), [0, 1])
        yield* names.setRenewal(bytes("d/never"), false)
        assert.deepStrictEqual(names.renewal().except, [A])
        yield* names.setRenewal(A, true)
        assert.deepStrictEqual(names.renewal(), { all: false, names: [A], except: [] })
        assert.strictEqual((yield* names.planRenewals({ of: "all" })).leftOut, 0)
      })))
})

describe("a request of names that the wallet does not hold", () => {
  it.effect("looks through the wallet's transactions once", () =>
    withNames([A, B], (names, world) =>
      Effect.gen(function*() {
        const others = ["d/x", "d/y", "d/z"].map(bytes)
        world.connect(others.map((name) => world.foreign({ op: "name_update", name, value: bytes("theirs") })))
        world.listed = 0
        const plan = yield* names.planRenewals({ of: "names", names: [...others, A] })
        assert.deepStrictEqual(plan.names.map(({ note }) => note), ["", ...others.map(() => RENEWAL_NOTES.notHeld)])
        assert.strictEqual(world.listed, 1)
        yield* names.planRenewals({ of: "names", names: [A, B] })
        assert.strictEqual(world.listed, 1)
      })))

  it.effect("gives sockets and timers turns between the names", () =>
    withNames([], (names) =>
      Effect.gen(function*() {
        let [turns, ended] = [0, false]
        const count = (): void => void (ended || (turns++, setImmediate(count)))
        count()
        const list = Array.from({ length: 1_000 }, (_, i) => bytes(`d/none${i}`))
        const renewals = yield* names.renew({ of: "names", names: list })
        ended = true
        assert.strictEqual(renewals.length, 1_000)
        assert.isAtLeast(turns, 40)
      })))
})

describe("renew", () => {
  it.effect("renews all names, with their value and their owner's address, each once", () =>
    withNames([A, B], (names, world) =>
      Effect.gen(function*() {
        const before = world.record(A)
        const sent = yield* names.renew({ of: "all" })
        assert.deepStrictEqual(shown(sent), [
          `d/a sent: ${RENEWAL_NOTES.waitsForBlock}`,
          `d/b sent: ${RENEWAL_NOTES.waitsForBlock}`
        ])
        yield* names.renew({ of: "all" })
        yield* names.step
        yield* mine(world, names, 1)
        assert.deepStrictEqual(shown(names.requestedRenewals()), ["d/a done", "d/b done"])
        const after = world.record(A)
        assert.deepStrictEqual([after?.value, after?.address], [before?.value, before?.address])
        assert.isAbove(after?.height ?? 0, before?.height ?? 0)
        assert.deepStrictEqual(updates(world), [1, 1])
        yield* names.step
        assert.strictEqual(updates(world)[0], 1)
      })))

  it.effect("sends some at a time, and the others after the next blocks", () =>
    withNames(Array.from({ length: 5 }, (_, i) => bytes(`d/${i}`)), (names, world) =>
      Effect.gen(function*() {
        const states = (list: ReadonlyArray<Renewal>) => list.filter(({ state }) => state === "sent").length
        assert.strictEqual(states(yield* names.renew({ of: "all" })), 3)
        yield* mine(world, names, 1)
        assert.strictEqual(states(names.requestedRenewals()), 2)
        yield* mine(world, names, 1)
        assert.isTrue(names.requestedRenewals().every(({ state }) => state === "done"))
      })))

  it.effect("goes on with the others if some fail for reasons of their own, and tries those again", () =>
    withNames(Array.from({ length: 5 }, (_, i) => bytes(`d/${i}`)), (names, world) =>
      Effect.gen(function*() {
        const states = () => names.requestedRenewals().map(({ state }) => state).join(" ")
        for (let i = 0; i < 4; i++) world.refused.add(nameKey(bytes(`d/${i}`)))
        yield* names.renew({ of: "all" })
        assert.strictEqual(states(), "waiting waiting waiting waiting waiting")
        yield* names.step
        assert.strictEqual(states(), "waiting waiting waiting waiting sent")
        assert.isTrue(names.requestedRenewals().slice(0, 4).every(({ note }) => note.includes("it costs too much")))
        world.refused.clear()
        yield* names.step
        assert.strictEqual(states(), "sent sent sent waiting sent")
        yield* names.step
        assert.strictEqual(states(), "sent sent sent sent sent")
      })))

  it.effect("tries few at a time while no name can be renewed", () =>
    withNames(Array.from({ length: 5 }, (_, i) => bytes(`d/${i}`)), (names, world) =>
      Effect.gen(function*() {
        world.poor = true
        yield* names.renew({ of: "all" })
        yield* names.step
        yield* names.step
        assert.deepStrictEqual(names.requestedRenewals().map(({ note }) => note !== ""), [
          true,
          true,
          true,
          false,
          false
        ])
      })))

  it.effect("waits while the wallet is locked or has no coins, and says so", () =>
    withNames([A], (names, world) =>
      Effect.gen(function*() {
        world.locked = true
        assert.deepStrictEqual(shown(yield* names.renew({ of: "all" })), [
          "d/a waiting: waits until the wallet is unlocked"
        ])
        world.locked = false
        world.poor = true
        yield* names.step
        assert.include(shown(names.requestedRenewals())[0] ?? "", "are missing")
        world.poor = false
        yield* names.step
        yield* mine(world, names, 1)
        assert.deepStrictEqual(shown(names.requestedRenewals()), ["d/a done"])
      })))

  it.effect("skips a name that another operation renewed, one that expired, and one that another owner has", () =>
    withNames([A, B], (names, world) =>
      Effect.gen(function*() {
        world.locked = true
        yield* names.renew({ of: "all" })
        world.locked = false
        yield* names.nameUpdate({ name: A, value: bytes("other") })
        const given = world.record(B)
        const spend = given === undefined ? [] : [outpoint(given.txid, given.vout)]
        world.connect([world.foreign({ op: "name_update", name: B, value: bytes("theirs") }, spend)])
        yield* mine(world, names, 1)
        assert.deepStrictEqual(shown(names.requestedRenewals()), [
          `d/a skipped: ${RENEWAL_NOTES.renewed}`,
          `d/b skipped: ${RENEWAL_NOTES.lost}`
        ])
        world.locked = true
        yield* names.renew({ of: "names", names: [A] })
        world.mine(30)
        yield* names.step
        assert.include(shown(names.requestedRenewals()), `d/a skipped: ${RENEWAL_NOTES.expired}`)
      })))

  const incomplete: ReadonlyArray<readonly [string, "rebuilding" | "behind" | "searched"]> = [
    ["names.db is rebuilt", "rebuilding"],
    ["the node is behind", "behind"],
    ["the wallet searches for its keys", "searched"]
  ]
  for (const [when, flag] of incomplete) {
    it.effect(`ends no request while ${when}`, () =>
      withNames([A, B], (names, world) =>
        Effect.gen(function*() {
          world.locked = true
          yield* names.renew({ of: "all" })
          world.locked = false
          world[flag] = flag !== "searched"
          const waits = `waits until ${
            flag === "behind" ? "the node has caught up with the network" : "names are complete"
          }`
          const waiting = [`d/a waiting: ${waits}`, `d/b waiting: ${waits}`]
          yield* names.step
          assert.deepStrictEqual(shown(names.requestedRenewals()), waiting)
          // A call looks at the requests as well.
          yield* names.renew({ of: "all" })
          assert.deepStrictEqual(shown(names.requestedRenewals()), waiting)
          world[flag] = flag === "searched"
          yield* names.step
          yield* mine(world, names, 1)
          assert.deepStrictEqual(shown(names.requestedRenewals()), ["d/a done", "d/b done"])
        })))
  }

  it.effect("ends no request for a name that seems to have expired while the node is behind", () =>
    withNames([A], (names, world) =>
      Effect.gen(function*() {
        world.locked = true
        yield* names.renew({ of: "all" })
        world.mine(30)
        world.behind = true
        yield* names.renew({ of: "all" })
        assert.deepStrictEqual(shown(names.requestedRenewals()), [
          "d/a waiting: waits until the node has caught up with the network"
        ])
        world.behind = false
        yield* names.step
        assert.deepStrictEqual(shown(names.requestedRenewals()), [`d/a skipped: ${RENEWAL_NOTES.expired}`])
      })))

  it.effect("keeps a sent renewal as it is while names.db is rebuilt", () =>
    withNames([A], (names, world) =>
      Effect.gen(function*() {
        const [sent] = yield* names.renew({ of: "all" })
        world.rebuilding = true
        yield* mine(world, names, 1)
        assert.deepStrictEqual(names.requestedRenewals(), sent === undefined ? [] : [sent])
        world.rebuilding = false
        yield* names.step
        assert.deepStrictEqual(shown(names.requestedRenewals()), ["d/a done"])
      })))

  it.effect("refuses names that it may not know yet, and stores nothing", () =>
    withNames([A], (names, world) =>
      Effect.gen(function*() {
        world.searched = false
        const asked = { of: "names", names: [A] } as const
        assert.deepInclude(yield* Effect.flip(names.renew(asked)), { _tag: "InvalidWalletRequest", code: "scanning" })
        world.searched = true
        world.rebuilding = true
        const unknown = { of: "names", names: [bytes("d/none")] } as const
        for (const work of [names.renew(unknown), names.planRenewals(unknown)]) {
          assert.deepInclude(yield* Effect.flip<unknown, unknown, never>(work), {
            _tag: "NameOperationRefused",
            code: "incomplete"
          })
        }
        assert.deepStrictEqual(names.requestedRenewals(), [])
      })))

  it.effect("that was skipped is settled once a later operation has renewed the name for the wallet", () =>
    withNames([A, B], (names, world) =>
      Effect.gen(function*() {
        yield* names.nameUpdate({ name: A, value: bytes("new") })
        world.pool = new Map()
        const settled = () => names.requestedRenewals().map((each) => [each.state, each.settled])
        world.connect([])
        world.mine(30)
        yield* names.renew({ of: "names", names: [A, B] })
        assert.deepStrictEqual(settled(), [["skipped", false], ["skipped", false]])
        yield* names.register(A, bytes("v"), {})
        for (let i = 0; i < 14; i++) {
          yield* names.step
          world.mine()
        }
        assert.deepStrictEqual(settled(), [["skipped", true], ["skipped", false]])
      })))

  it.effect("renews each name once, wherever the node ends", () =>
    withNames([], () =>
      Effect.gen(function*() {
        for (let point = 0, ended = true; ended; point++) {
          ended = yield* withNames([A, B], (first, world) =>
            Effect.gen(function*() {
              world.countdown = point
              const exit = yield* Effect.exit(first.renew({ of: "all" }))
              const crashed = Exit.isFailure(exit)
              if (crashed) assert.strictEqual(Cause.squash(exit.cause), CRASH)
              world.restart()
              const names = yield* start(world)
              yield* names.renew({ of: "all" })
              yield* names.step
              yield* mine(world, names, 3)
              assert.deepStrictEqual(updates(world), [1, 1], `point ${point}`)
              assert.isTrue(names.requestedRenewals().every(({ state }) => state === "done"), `point ${point}`)
              return crashed
            }))
        }
      })))
})
