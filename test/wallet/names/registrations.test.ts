import { assert, describe, it } from "@effect/vitest"
import { Effect, Either, Logger } from "effect"
import { type Bytes, EMPTY } from "../../../src/protocol/bytes.ts"
import { outpoint } from "../../../src/protocol/transaction.ts"
import { decodeDocument, encodeDocument } from "../../../src/wallet/keys/WalletDocument.ts"
import { NOTES } from "../../../src/wallet/names/progress.ts"
import { TAKEN_IN_0_1_0, withoutChecksum } from "../../support/walletText.ts"
import { foreignNew } from "./NameNode.ts"
import { bytes, mine, NAME, VALUE } from "./operating.ts"
import { only, start, withNames } from "./registering.ts"
import type { World } from "./World.ts"

/** Another owner registers the name in a block. */
const takeAway = (world: World, name: Bytes): void => {
  const rand = new Uint8Array(20).fill(9)
  const made = foreignNew(world, name, rand)
  world.connect([
    made,
    world.foreign({ op: "name_firstupdate", name, rand, value: VALUE }, [outpoint(made.txid, 0)])
  ])
}

describe("register", () => {
  it.effect("completes, and reveals the name only when the next block may contain it", () =>
    withNames((names, world) =>
      Effect.gen(function*() {
        const begun = yield* names.register(NAME, VALUE, {})
        assert.strictEqual(begun.step, "committed")
        assert.strictEqual(world.made("name_new").length, 1)
        yield* names.step
        assert.strictEqual(only(names).note, NOTES.waitsForNew)
        yield* mine(world, names, 1)
        assert.strictEqual(only(names).step, "maturing")
        assert.strictEqual(only(names).note, `waits until block ${101 + 12} may hold its name_firstupdate`)
        yield* mine(world, names, 10)
        assert.deepStrictEqual(world.made("name_firstupdate"), [])
        yield* mine(world, names, 1)
        assert.strictEqual(only(names).step, "revealed")
        assert.strictEqual(world.made("name_firstupdate").length, 1)
        yield* mine(world, names, 1)
        assert.strictEqual(only(names).step, "done")
        assert.strictEqual(world.record(NAME)?.height, 113)
        assert.deepStrictEqual(world.record(NAME)?.value, VALUE)
        yield* mine(world, names, 3)
        assert.strictEqual(world.made("name_firstupdate").length, 1)
      })
    ))

  it.effect("reports each step", () =>
    withNames((names, world) =>
      Effect.gen(function*() {
        yield* names.register(NAME, VALUE, {})
        yield* mine(world, names, 13)
        const seen = world.events.flatMap((event) =>
          event._tag === "RegistrationMoved" ? [event.registration.step] : []
        )
        assert.deepStrictEqual(seen, ["committed", "maturing", "revealed", "done"])
      })
    ))

  it.effect("registers for another owner, from a commitment of the wallet", () =>
    withNames((names, world) =>
      Effect.gen(function*() {
        const destination = bytes("the script of a friend")
        yield* names.register(NAME, VALUE, { destination })
        yield* mine(world, names, 13)
        assert.deepStrictEqual(world.record(NAME)?.address, destination)
      })
    ))

  it.effect("refuses names that exist, are in progress or too long, and stores nothing of them", () =>
    withNames((names, world) =>
      Effect.gen(function*() {
        takeAway(world, NAME)
        const reasons = [
          yield* Effect.flip(names.register(NAME, VALUE, {})),
          yield* Effect.flip(names.register(new Uint8Array(256), VALUE, {})),
          yield* Effect.flip(names.register(bytes("d/a"), new Uint8Array(521), {}))
        ]
        assert.deepStrictEqual(reasons.map(({ message }) => message), [
          "this name exists already",
          "the name is too long",
          "the value is too long"
        ])
        assert.deepStrictEqual(names.registrations(), [])
        yield* names.register(bytes("d/a"), new Uint8Array(520), {})
        const again = yield* Effect.flip(names.register(bytes("d/a"), VALUE, {}))
        assert.strictEqual(again.message, "this name is already being registered")
        world.mine(30)
        assert.strictEqual((yield* names.register(NAME, VALUE, {})).step, "committed")
      })
    ))

  it.effect("stores nothing without money, or while the wallet is locked", () =>
    withNames((names, world) =>
      Effect.gen(function*() {
        world.poor = true
        assert.strictEqual((yield* Effect.flip(names.register(NAME, VALUE, {})))._tag, "FundsMissing")
        assert.deepStrictEqual(names.registrations(), [])
        world.poor = false
        world.locked = true
        const { keys } = world
        assert.strictEqual((yield* Effect.flip(names.register(NAME, VALUE, {})))._tag, "KeysLocked")
        assert.deepStrictEqual([names.registrations(), world.keys], [[], keys])
      })
    ))

  it.effect("continues an existing name_new, also one that the keys alone recover", () =>
    withNames((names, world) =>
      Effect.gen(function*() {
        yield* names.nameNew(NAME, {})
        yield* mine(world, names, 5)
        yield* names.register(NAME, VALUE, {})
        assert.strictEqual(world.made("name_new").length, 1)
        world.document = { ...world.document, registrations: [] }
        yield* names.register(NAME, VALUE, {})
        assert.strictEqual(world.made("name_new").length, 1)
        yield* mine(world, names, 8)
        assert.strictEqual(only(names).step, "done")
      })
    ))

  it.effect("waits while the wallet is locked, without money, or behind, and reports so", () =>
    withNames((names, world) =>
      Effect.gen(function*() {
        yield* names.register(NAME, VALUE, {})
        yield* mine(world, names, 11)
        world.locked = true
        const logged: Array<string> = []
        const logger = Logger.make(({ message }) => void logged.push(String(Array.isArray(message) ? message[0] : "")))
        yield* Effect.provide(mine(world, names, 3), Logger.add(logger))
        assert.strictEqual(only(names).note, "waits until the wallet is unlocked")
        // Once, and not with each block.
        assert.deepStrictEqual(logged.filter((text) => text.includes("unlocked")), [
          "registration waits until the wallet is unlocked: svcd-cli unlock"
        ])
        world.locked = false
        world.behind = true
        yield* names.step
        assert.strictEqual(only(names).note, "waits until the node has caught up with the network")
        world.behind = false
        world.poor = true
        yield* names.step
        yield* names.step
        assert.strictEqual(only(names).note, "0.01000000 NMC are missing")
        assert.strictEqual(only(names).step, "maturing")
        assert.strictEqual(world.keys, 1)
        world.poor = false
        yield* mine(world, names, 1)
        assert.strictEqual(only(names).step, "revealed")
        assert.strictEqual(world.keys, 2)
        yield* mine(world, names, 1)
        assert.strictEqual(only(names).step, "done")
      })
    ))

  it.effect.each([
    { of: "this version", saved: (text: string) => text },
    {
      of: "0.1.0",
      saved: (text: string) => {
        const old = text.replace(
          /"note": "",\s*"failure": \{[^}]*\}/,
          `"note": "${TAKEN_IN_0_1_0}"`
        )
        assert.notStrictEqual(old, text)
        return old
      }
    }
  ])(
    "fails if another owner was faster, keeps its coin, and resumes after a reorg, with a file of $of",
    ({ saved }) =>
      withNames((names, world) =>
        Effect.gen(function*() {
          yield* names.register(NAME, VALUE, {})
          yield* mine(world, names, 5)
          takeAway(world, NAME)
          yield* names.step
          assert.strictEqual(only(names).step, "failed")
          assert.include(only(names).note, "another owner has registered the name")
          assert.include(only(names).note, "0.01")
          assert.isTrue(world.coins().some(({ name }) => name?.operation.op === "name_new"))
          yield* mine(world, names, 8)
          assert.strictEqual(only(names).step, "failed")
          const text = saved(withoutChecksum(encodeDocument(world.document)))
          world.document = Either.getOrThrow(decodeDocument(text)).document
          const taken = world.blocks.length - 106
          world.reorganise(taken)
          for (const [key, transaction] of world.pool) {
            if (!world.sent.some((sent) => sent.transaction.txidKey === key)) world.pool.delete(transaction.txidKey)
          }
          yield* mine(world, names, 8)
          assert.strictEqual(only(names).step, "done")
        })
      )
  )

  it.effect("does not begin again when another owner's name expires", () =>
    withNames((names, world) =>
      Effect.gen(function*() {
        yield* names.register(NAME, VALUE, {})
        takeAway(world, NAME)
        yield* mine(world, names, 40)
        assert.strictEqual(only(names).step, "failed")
        const again = yield* start(world)
        yield* mine(world, again, 2)
        assert.strictEqual(only(again).step, "failed")
      }).pipe(Effect.scoped)
    ))

  it.effect("moves back with the chain, and forward again", () =>
    withNames((names, world) =>
      Effect.gen(function*() {
        yield* names.register(NAME, VALUE, {})
        yield* mine(world, names, 13)
        assert.strictEqual(only(names).step, "done")
        world.reorganise(1)
        yield* names.step
        assert.strictEqual(only(names).step, "revealed")
        world.reorganise(12)
        world.pool.clear()
        yield* names.step
        assert.deepInclude(only(names), { step: "revealed", note: NOTES.notInPool })
        world.restart()
        yield* mine(world, names, 13)
        assert.strictEqual(only(names).step, "done")
        assert.strictEqual(world.made("name_firstupdate").length, 1)
      })
    ))

  it.effect("commits again if its name_new can never be confirmed", () =>
    withNames((names, world) =>
      Effect.gen(function*() {
        yield* names.register(NAME, VALUE, {})
        const [first] = world.made("name_new")
        const key = first?.txidKey ?? ""
        world.pool.delete(key)
        world.impossible.add(key)
        yield* names.step
        assert.strictEqual(world.made("name_new").length, 2)
        yield* mine(world, names, 13)
        assert.strictEqual(only(names).step, "done")
      })
    ))

  it.effect("waits for a block if the mempool takes no more, and the others of the pass wait too", () =>
    withNames((names, world) =>
      Effect.gen(function*() {
        const all = ["d/one", "d/two", "d/three", "d/four"].map(bytes)
        world.room = 1
        for (const name of all) yield* names.register(name, VALUE, {})
        const waiting = () => names.registrations().filter(({ note }) => note === NOTES.full).length
        assert.strictEqual(waiting(), 3)
        assert.strictEqual((yield* Effect.flip(names.register(bytes("d/two"), VALUE, {})))._tag, "NameOperationRefused")
        // Additional outputs are not stored, so the caller has to try again.
        const output = { value: 1, script: EMPTY }
        const refused = yield* Effect.flip(names.register(bytes("d/five"), VALUE, { sendCoins: [output] }))
        assert.strictEqual(refused._tag, "InvalidWalletRequest")
        world.room = 2
        yield* mine(world, names, 1)
        assert.strictEqual(waiting(), 1)
        world.room = Number.POSITIVE_INFINITY
        yield* mine(world, names, 16)
        assert.deepStrictEqual(names.registrations().map(({ step }) => step), all.map(() => "done"))
      })
    ))

  it.effect("uses no more than one address, however often it tries", () =>
    withNames((names, world) =>
      Effect.gen(function*() {
        world.poor = true
        for (let i = 0; i < 3; i++) yield* Effect.flip(names.register(NAME, VALUE, {}))
        yield* Effect.flip(names.nameNew(NAME, {}))
        assert.strictEqual(world.keys, 0)
        world.poor = false
        yield* names.register(NAME, VALUE, {})
        assert.strictEqual(world.keys, 1)
        const key = world.made("name_new")[0]?.txidKey ?? ""
        world.pool.delete(key)
        world.impossible.add(key)
        world.poor = true
        yield* mine(world, names, 3)
        assert.deepInclude(only(names), { step: "committed", note: "0.01000000 NMC are missing" })
        assert.strictEqual(world.keys, 1)
        world.poor = false
        yield* mine(world, names, 14)
        assert.strictEqual(only(names).step, "done")
        assert.strictEqual(world.keys, 3)
      })
    ))

  it.effect("fails if its name_new was abandoned", () =>
    withNames((names, world) =>
      Effect.gen(function*() {
        yield* names.register(NAME, VALUE, {})
        world.pool.clear()
        for (const sent of world.sent) sent.abandoned = true
        yield* names.step
        assert.deepInclude(only(names), { step: "failed", note: "its name_new was abandoned" })
      })
    ))

  it.effect("waits while another owner's registration is in the mempool", () =>
    withNames((names, world) =>
      Effect.gen(function*() {
        yield* names.register(NAME, VALUE, {})
        yield* mine(world, names, 11)
        const rand = new Uint8Array(20).fill(9)
        const made = foreignNew(world, NAME, rand)
        world.accept(made)
        const other = world.foreign({ op: "name_firstupdate", name: NAME, rand, value: VALUE }, [
          outpoint(made.txid, 0)
        ])
        world.accept(other)
        yield* mine(world, names, 2)
        assert.strictEqual(only(names).note, "another registration of the name waits for a block")
        world.pool.delete(other.txidKey)
        yield* mine(world, names, 2)
        assert.strictEqual(only(names).step, "done")
      })
    ))
})
