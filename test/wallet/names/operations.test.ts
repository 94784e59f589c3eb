import { assert, describe, it } from "@effect/vitest"
import { Effect, Exit } from "effect"
import { binaryString, toHex } from "../../../src/protocol/bytes.ts"
import { nameCommitment, parseNameScript } from "../../../src/protocol/nameOperation.ts"
import { outpoint, outpointKey } from "../../../src/protocol/transaction.ts"
import type { Names } from "../../../src/wallet/names/makeNames.ts"
import type { NameFailure } from "../../../src/wallet/names/WalletNames.ts"
import { foreignNew } from "./NameNode.ts"
import { bytes, DRAWN, first, mine, NAME, operationOf, own, start, VALUE, withNames } from "./operating.ts"
import type { World } from "./World.ts"

const reasonOf = <A>(work: Effect.Effect<A, NameFailure>) =>
  Effect.map(Effect.flip(work), (failure) => failure._tag === "NameOperationRefused" ? failure.reason : failure._tag)

describe("nameNew", () => {
  it.effect("commits with the salt derived from the key, locks the amount, and stores the salt", () =>
    withNames((names, world) =>
      Effect.gen(function*() {
        const { rand, transaction } = yield* names.nameNew(NAME, {})
        const operation = operationOf(transaction)
        assert.deepStrictEqual(operation.op === "name_new" && operation.commitment, nameCommitment(rand, NAME))
        assert.isFalse(toHex(transaction.bytes).includes(toHex(NAME)))
        assert.strictEqual(transaction.version, 0x7100)
        assert.strictEqual(transaction.outputs.find(({ script }) => parseNameScript(script))?.value, 1_000_000)
        const [kept] = names.registrations()
        assert.deepInclude(kept, { name: NAME, rand, value: undefined, newTxid: transaction.txid, newVout: 1 })
        // The key determines the salt: another wallet with the same key derives the same one.
        assert.notDeepEqual(rand, DRAWN)
        world.document = { ...world.document, registrations: [] }
        yield* mine(world, names, 12)
        yield* names.nameFirstUpdate(first)
      })
    ))

  it.effect("draws a random salt for another owner's address, and stores it", () =>
    withNames((names) =>
      Effect.gen(function*() {
        const { rand } = yield* names.nameNew(NAME, { destination: bytes("another owner") })
        assert.deepStrictEqual(rand, DRAWN)
        assert.deepStrictEqual(names.registrations()[0]?.rand, DRAWN)
      })
    ))

  it.effect("pays coins along with the operation", () =>
    withNames((names) =>
      Effect.gen(function*() {
        const sendCoins = [{ value: 150_000_000, script: bytes("a friend") }]
        const { transaction } = yield* names.nameNew(NAME, { sendCoins })
        assert.deepStrictEqual(transaction.outputs.at(-1), sendCoins[0])
      })
    ))

  it.effect("refuses an existing name, unless the caller allows it, and a name that is too long", () =>
    withNames((names, world) =>
      Effect.gen(function*() {
        yield* own(world, names)
        assert.strictEqual(yield* reasonOf(names.nameNew(NAME, {})), "this name exists already")
        yield* names.nameNew(NAME, { allowExisting: true })
        assert.strictEqual(yield* reasonOf(names.nameNew(new Uint8Array(256), {})), "the name is too long")
        yield* names.nameNew(new Uint8Array(255), {})
        world.mine(29)
        assert.strictEqual(yield* reasonOf(names.nameNew(NAME, {})), "this name exists already")
        world.mine(1)
        yield* names.nameNew(NAME, {})
      })
    ))

  it.effect("is not continued automatically, but its progress is reported", () =>
    withNames((names, world) =>
      Effect.gen(function*() {
        yield* names.nameNew(NAME, {})
        yield* mine(world, names, 20)
        assert.deepStrictEqual(world.made("name_firstupdate"), [])
        assert.strictEqual(names.registrations()[0]?.step, "maturing")
        yield* names.nameFirstUpdate(first)
        assert.strictEqual(names.registrations()[0]?.step, "revealed")
        yield* mine(world, names, 1)
        assert.strictEqual(names.registrations()[0]?.step, "done")
      })
    ))

  const states = (names: Names) => names.registrations().map(({ blocksLeft, note, step }) => [step, note, blocksLeft])

  it.effect("tells the blocks until its next step", () =>
    withNames((names, world) =>
      Effect.gen(function*() {
        yield* names.nameNew(NAME, {})
        assert.deepStrictEqual(states(names), [["committed", "", 1]])
        yield* mine(world, names, 1)
        assert.deepStrictEqual(states(names), [["maturing", "", 11]])
        yield* mine(world, names, 12)
        assert.deepStrictEqual(states(names), [["maturing", "", 0]])
        yield* names.nameFirstUpdate(first)
        assert.deepStrictEqual(states(names), [["revealed", "", 1]])
        yield* mine(world, names, 1)
        assert.deepStrictEqual(states(names), [["done", "", undefined]])
      })
    ))

  it.effect("stays, with its salt and its setting, however long it is not opened, and is opened then", () =>
    withNames((names, world) =>
      Effect.gen(function*() {
        const other = bytes("d/other")
        yield* names.nameNew(NAME, {})
        yield* names.nameNew(other, {})
        yield* names.setRenewal(NAME, true)
        yield* mine(world, names, 120)
        assert.deepStrictEqual(states(names), [["maturing", "", 0], ["maturing", "", 0]])
        assert.deepStrictEqual(world.document.renewals.names, [NAME])
        yield* names.nameFirstUpdate(first)
        yield* names.register(other, VALUE, {})
        yield* mine(world, names, 2)
        assert.deepStrictEqual(states(names).map(([step]) => step), ["done", "done"])
        assert.strictEqual(world.made("name_new").length, 2)
      })
    ))

  /** Another owner registers the name. */
  const take = (world: World) => {
    const salt = new Uint8Array(20).fill(9)
    const made = foreignNew(world, NAME, salt)
    const taken = { op: "name_firstupdate", name: NAME, rand: salt, value: VALUE } as const
    world.connect([made, world.foreign(taken, [outpoint(made.txid, 0)])])
  }

  it.effect("for a name that another owner still has keeps step and setting, and is opened after the expiry", () =>
    withNames((names, world) =>
      Effect.gen(function*() {
        take(world)
        yield* mine(world, names, 2)
        yield* names.nameNew(NAME, { allowExisting: true })
        yield* names.setRenewal(NAME, true)
        yield* mine(world, names, 20)
        assert.deepStrictEqual(states(names), [["maturing", "", 0]])
        yield* names.setRenewal(NAME, false)
        yield* names.setRenewal(NAME, true)
        yield* mine(world, names, 10)
        assert.deepStrictEqual(names.renewal().names, [NAME])
        yield* names.nameFirstUpdate(first)
        yield* mine(world, names, 1)
        assert.deepStrictEqual(states(names), [["done", "", undefined]])
        assert.deepStrictEqual(world.document.renewals.names, [NAME])
      })
    ))

  it.effect("that was not made before the node ended is removed, even while another owner has the name", () =>
    Effect.gen(function*() {
      for (let point = 0, ended = true; ended; point++) {
        ended = yield* withNames((names, world) =>
          Effect.gen(function*() {
            take(world)
            world.countdown = point
            const exit = yield* Effect.exit(names.nameNew(NAME, { allowExisting: true }))
            world.restart()
            const again = yield* start(world)
            yield* again.step
            const made = world.made("name_new").map(({ txidKey }) => txidKey)
            assert.deepStrictEqual(again.registrations().map(({ newTxid }) => binaryString(newTxid)), made)
            return Exit.isFailure(exit)
          })
        )
      }
    }))

  it.effect("whose coin another owner gets tells no blocks to wait", () =>
    withNames((names, world) =>
      Effect.gen(function*() {
        yield* names.nameNew(NAME, { destination: bytes("another owner") })
        yield* mine(world, names, 12)
        assert.deepStrictEqual(states(names), [["maturing", "", undefined]])
        take(world)
        yield* names.step
        assert.deepStrictEqual(states(names), [["maturing", "", undefined]])
      })
    ))

  it.effect("does not end because the wallet itself has the name", () =>
    withNames((names, world) =>
      Effect.gen(function*() {
        yield* own(world, names)
        yield* names.nameNew(NAME, { allowExisting: true })
        yield* mine(world, names, 3)
        assert.strictEqual(states(names).at(-1)?.[0], "maturing")
      })
    ))

  it.effect("keeps the entry of a first commitment if the same one is refused later", () =>
    withNames((names) =>
      Effect.gen(function*() {
        const destination = bytes("another owner")
        const { transaction } = yield* names.nameNew(NAME, { destination })
        const failure = yield* Effect.flip(names.nameNew(NAME, { destination }))
        assert.strictEqual(failure._tag, "TransactionRejected")
        assert.deepStrictEqual(names.registrations().map(({ newTxid }) => newTxid), [transaction.txid])
      })
    ))
})

describe("nameFirstUpdate", () => {
  it.effect.each([
    { rand: true, txid: true },
    { rand: true, txid: false },
    { rand: false, txid: true },
    { rand: false, txid: false }
  ])(
    "finds its name_new with rand given: $rand, txid given: $txid, from the entry or the key",
    (given) =>
      Effect.forEach([true, false], (kept) =>
        withNames((names, world) =>
          Effect.gen(function*() {
            const { rand, transaction } = yield* names.nameNew(NAME, {})
            yield* names.nameNew(bytes("d/other"), {})
            world.mine()
            if (!kept) world.document = { ...world.document, registrations: [] }
            const made = yield* names.nameFirstUpdate({
              name: NAME,
              rand: given.rand ? rand : undefined,
              txid: given.txid ? transaction.txid : undefined,
              value: VALUE
            })
            assert.deepStrictEqual(operationOf(made), { op: "name_firstupdate", name: NAME, rand, value: VALUE })
            assert.deepStrictEqual(made.inputs[0]?.prevout, outpoint(transaction.txid, 1))
          })
        ))
  )

  it.effect("waits for the confirmation of the name_new", () =>
    withNames((names, world) =>
      Effect.gen(function*() {
        const { rand, transaction: { txid } } = yield* names.nameNew(NAME, {})
        for (const request of [first, { ...first, rand, txid }]) {
          assert.strictEqual(yield* reasonOf(names.nameFirstUpdate(request)), "previous txid not found")
        }
        world.mine()
        yield* names.nameFirstUpdate(first)
        const again = yield* reasonOf(names.nameFirstUpdate({ ...first, rand, txid }))
        assert.strictEqual(again, "this name is already being registered")
        world.mine(12)
        assert.strictEqual(yield* reasonOf(names.nameFirstUpdate(first)), "this name is already active")
        const allowed = yield* reasonOf(names.nameFirstUpdate({ ...first, allowActive: true }))
        assert.strictEqual(allowed, "previous txid not found")
      })
    ))

  it.effect("reports arguments that do not match", () =>
    withNames((names, world) =>
      Effect.gen(function*() {
        const { rand, transaction: { txid } } = yield* names.nameNew(NAME, {})
        const foreign = foreignNew(world, NAME, DRAWN)
        world.accept(foreign)
        yield* own(world, names, bytes("d/owned"))
        const owned = world.record(bytes("d/owned"))
        const cases = [
          { ...first, rand, txid, name: bytes("d/none") },
          { ...first, rand: new Uint8Array(20), txid },
          { ...first, rand: new Uint8Array(21), txid },
          { ...first, name: bytes("d/none") },
          { ...first, rand: new Uint8Array(20) },
          { ...first, rand, txid: new Uint8Array(32) },
          { ...first, rand, txid: new Uint8Array(32).fill(1) },
          { ...first, name: bytes("d/none"), txid },
          { ...first, txid: foreign.txid },
          { ...first, rand: DRAWN, txid: foreign.txid },
          { ...first, txid: owned?.txid, rand },
          { ...first, name: new Uint8Array(256) },
          { ...first, value: new Uint8Array(521) }
        ]
        assert.deepStrictEqual(yield* Effect.forEach(cases, (request) => reasonOf(names.nameFirstUpdate(request))), [
          "rand value is wrong",
          "rand value is wrong",
          "invalid rand value",
          "scan for previous txid failed",
          "scan for previous txid failed",
          "scan for previous txid failed",
          "previous txid not found",
          "generated rand for txid does not match",
          "could not generate rand for txid",
          "FundsMissing",
          "previous tx is not name_new",
          "the name is too long",
          "the value is too long"
        ])
        yield* names.nameFirstUpdate({ ...first, value: new Uint8Array(520) })
      })
    ))
})

describe("nameUpdate", () => {
  it.effect("sets the value, keeps it without an argument, and clears it for an empty one", () =>
    withNames((names, world) =>
      Effect.gen(function*() {
        yield* own(world, names)
        for (const [value, expected] of [["two", "two"], [undefined, "two"], ["", ""]] as const) {
          yield* names.nameUpdate({ name: NAME, value: value === undefined ? undefined : bytes(value) })
          world.mine()
          assert.deepStrictEqual(world.record(NAME)?.value, bytes(expected))
        }
      })
    ))

  it.effect("refuses a second pending operation, but builds on the first if more are allowed", () =>
    Effect.gen(function*() {
      yield* withNames((names, world) =>
        Effect.gen(function*() {
          yield* own(world, names)
          yield* names.nameUpdate({ name: NAME, value: bytes("two") })
          assert.strictEqual(
            yield* reasonOf(names.nameUpdate({ name: NAME, value: bytes("three") })),
            "there are already too many pending operations on this name"
          )
        })
      )
      yield* withNames((names, world) =>
        Effect.gen(function*() {
          yield* names.nameNew(NAME, {})
          yield* mine(world, names, 12)
          const registered = yield* names.nameFirstUpdate(first)
          const second = yield* names.nameUpdate({ name: NAME, value: undefined })
          assert.deepStrictEqual(operationOf(second), { op: "name_update", name: NAME, value: VALUE })
          assert.deepStrictEqual(second.inputs[0]?.prevout, outpoint(registered.txid, 1))
          const third = yield* names.nameUpdate({ name: NAME, value: bytes("three") })
          assert.deepStrictEqual(third.inputs[0]?.prevout, outpoint(second.txid, 1))
          assert.strictEqual(
            yield* reasonOf(names.nameUpdate({ name: NAME, value: undefined })),
            "there are already too many pending operations on this name"
          )
        }), { limitNameChains: 3 })
    }))

  it.effect("refuses unregistered names, those whose coin is gone, and those of other owners", () =>
    withNames((names, world) =>
      Effect.gen(function*() {
        const reason = "this name can not be updated"
        assert.strictEqual(yield* reasonOf(names.nameUpdate({ name: bytes("d/none"), value: VALUE })), reason)
        yield* own(world, names)
        const given = yield* names.nameUpdate({ name: NAME, value: VALUE, destination: bytes("a friend") })
        world.mine()
        const { keys } = world
        const failure = yield* Effect.flip(names.nameUpdate({ name: NAME, value: VALUE }))
        assert.deepInclude(failure, { _tag: "FundsMissing", missing: outpointKey(outpoint(given.txid, 1)) })
        assert.strictEqual(world.keys, keys, "an address was taken for nothing")
        world.mine(28)
        assert.strictEqual(
          (yield* Effect.flip(names.nameUpdate({ name: NAME, value: VALUE })))._tag,
          "FundsMissing"
        )
        world.mine(1)
        assert.strictEqual(yield* reasonOf(names.nameUpdate({ name: NAME, value: VALUE })), reason)
      })
    ))

  it.effect("refuses a value that is too long, and any update while the wallet is locked", () =>
    withNames((names, world) =>
      Effect.gen(function*() {
        yield* own(world, names)
        const long = names.nameUpdate({ name: NAME, value: new Uint8Array(521) })
        assert.strictEqual(yield* reasonOf(long), "the value is too long")
        world.locked = true
        assert.strictEqual(yield* reasonOf(names.nameUpdate({ name: NAME, value: VALUE })), "KeysLocked")
      })
    ))
})
