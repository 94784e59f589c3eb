import { assert, describe, it } from "@effect/vitest"
import * as Chunk from "effect/Chunk"
import * as Effect from "effect/Effect"
import * as Equal from "effect/Equal"
import * as Fiber from "effect/Fiber"
import * as Logger from "effect/Logger"
import * as Stream from "effect/Stream"
import { Chain } from "../../src/chain/Chain.ts"
import { ChainControl } from "../../src/chain/ChainControl.ts"
import { DaemonUnreachable } from "../../src/client/errors.ts"
import { NameClient } from "../../src/client/NameClient.ts"
import type { ChangeFilter, RegistrationProgress } from "../../src/client/options.ts"
import { Freshness, NameChange, NameRecord, OperationResult } from "../../src/client/records.ts"
import { Miner } from "../../src/mempool/mining/Miner.ts"
import { layerMemory, MemoryNames } from "../../src/testing.ts"
import { Wallets } from "../../src/wallet/Wallets.ts"
import { temporaryDirectory } from "../support/chain.ts"
import { withCheapScrypt } from "../support/cheapScrypt.ts"
import { nodeWithClient } from "../support/embedded.ts"
import { eventually } from "../support/eventually.ts"
import { sound } from "../support/recordClasses.ts"

type Names = typeof NameClient.Service

/** What a scenario does beside the calls of the client: let blocks pass, here as fast as the names can be had. */
interface World {
  readonly names: Names
  readonly register: (value: string) => Effect.Effect<OperationResult, unknown>
  readonly update: (value: string) => Effect.Effect<OperationResult, unknown>
  readonly expire: Effect.Effect<void, unknown>
  readonly undoLastBlock: Effect.Effect<void, unknown>
}

const NAME = "d/shop"

/** The error of a call as far as it does not depend on the chain. */
const failed = (call: Effect.Effect<unknown, { readonly _tag: string }>) =>
  Effect.map(Effect.flip(call), (error) => {
    const { _tag, field, requested, why }: { _tag: string; field?: unknown; requested?: unknown; why?: unknown } = error
    return { _tag, field, requested, why }
  })

const shownRecord = (record: NameRecord) => {
  const { asOf, expired, name, value } = sound(NameRecord, record)
  sound(Freshness, asOf)
  return { name, value, expired, synced: asOf.synced, proof: asOf.proof }
}

const shownChange = (change: NameChange) => {
  const { before, name, record, type } = sound(NameChange, change)
  return { type, name, value: record?.value, before: before?.value }
}

/** The same calls for each kind of names; returns what they answer. */
const scenario = ({ expire, names, register, undoLastBlock, update }: World) =>
  Effect.gen(function*() {
    const said: Array<unknown> = []
    const note = (what: unknown): void => void said.push(what)
    const resolved = Effect.map(names.resolveName(NAME), shownRecord)
    const changes = (filter: ChangeFilter, most: number) =>
      Effect.map(Stream.runCollect(Stream.take(names.changes(filter), most)), Chunk.toReadonlyArray)

    note(yield* failed(names.resolveName(NAME)))
    note(yield* failed(names.resolveName("x".repeat(256))))
    note(yield* failed(names.updateName("d/none", "{}")))
    note(yield* failed(names.registerName("d/UPPER", "{}")))
    for (const typed of ["shop.bit", "www.Shop.bit", "https://shop.bit/", "D/shop", "d/Shop", " d/shop"]) {
      for (const call of [names.resolveName(typed), names.registerName(typed, "{}")]) {
        const { _tag, field } = yield* failed(call)
        assert.deepStrictEqual([_tag, field], ["InvalidRequest", "name"], typed)
      }
    }
    for (const filter of ["d/", { text: "shop" }, { Namespace: "d/" }]) {
      const given = Object.assign(Object.create(null), { filter })
      for (
        const call of [
          names.listNames(given.filter),
          ...(typeof filter === "string" || "text" in filter ? [] : [Stream.runDrain(names.findNames(given.filter))]),
          Stream.runDrain(names.changes(given.filter))
        ]
      ) {
        assert.strictEqual((yield* failed(call))._tag, "InvalidRequest")
      }
    }
    note(yield* failed(names.registerName(NAME, "{}", { address: "nowhere" })))
    note(yield* names.listNames())
    sound(OperationResult, yield* register("1"))
    note(yield* resolved)
    note(yield* failed(names.registerName(NAME, "2")))
    sound(OperationResult, yield* update("2"))
    note(yield* resolved)
    note(yield* failed(names.resolveName(NAME, { minHeight: 100_000_000 })))
    note((yield* names.listNames({ namespace: "d/" })).map(shownRecord))
    note(yield* names.listNames({ namespace: "id/" }))
    note([...(yield* Stream.runCollect(names.findNames({ namespace: "d/" })))].map(shownRecord))
    note(yield* failed(Stream.runDrain(names.findNames({}))))
    yield* update("")
    note(yield* resolved)
    yield* expire
    note(yield* failed(names.resolveName(NAME)))
    note(yield* failed(names.updateName(NAME, "late")))
    note(yield* names.listNames())
    note([...(yield* Stream.runCollect(names.findNames({ namespace: "d/", includeExpired: true })))].map(shownRecord))
    yield* register("3")
    yield* update("4")
    const seen = yield* changes({ from: "0" }, 6)
    note(seen.map(shownChange))
    note((yield* changes({ from: seen[2]?.cursor, types: ["expired", "registered"] }, 2)).map(shownChange))
    yield* undoLastBlock
    note((yield* changes({ from: seen[5]?.cursor }, 1)).map(shownChange))
    note(yield* resolved)
    note(yield* failed(Stream.runDrain(names.changes({ from: "nonsense" }))))
    note(sound(Freshness, yield* names.ready()).synced)
    note(names.mode)
    return said
  })

const memoryWorld = Effect.gen(function*() {
  const names = yield* NameClient
  const memory = yield* MemoryNames
  return {
    names,
    register: (value) => names.registerName(NAME, value, { waitFor: "registered" }),
    update: (value) => names.updateName(NAME, value),
    expire: memory.expire(NAME),
    undoLastBlock: memory.reorg(1)
  } satisfies World
})

const embeddedWorld = Effect.gen(function*() {
  const names = yield* NameClient
  const chain = yield* Chain
  const control = yield* ChainControl
  const miner = yield* Miner
  const wallet = (yield* Wallets).get("")
  if (wallet === undefined) return yield* Effect.dieMessage("there is a wallet")
  const { script } = yield* wallet.keys.newAddress({ type: "legacy", label: "" })
  const mine = (blocks: number) => miner.generate(blocks, script, Infinity)
  yield* mine(101)
  return {
    names,
    register: (value) =>
      Effect.gen(function*() {
        const told: Array<RegistrationProgress> = []
        const registering = yield* Effect.fork(names.registerName(NAME, value, {
          waitFor: "registered",
          onProgress: (progress) => void told.push(progress)
        }))
        const until = (step: RegistrationProgress["step"]) =>
          eventually(`the step ${step}`, () => told.some((each) => each.step === step))
        yield* until("announced")
        yield* mine(1)
        yield* until("waiting")
        yield* mine(11)
        yield* until("claimed")
        yield* mine(1)
        return yield* Fiber.join(registering)
      }),
    update: (value) => Effect.zipLeft(names.updateName(NAME, value), mine(1)),
    expire: mine(30),
    undoLastBlock: Effect.flatMap(chain.tip, ({ hash }) => control.invalidate(hash))
  } satisfies World
})

const quiet = Logger.remove(Logger.defaultLogger)

describe("names in memory", () => {
  it.scopedLive("answer, fail and report changes as those of a node in this process do", () =>
    Effect.gen(function*() {
      const dataDir = yield* temporaryDirectory
      const [inMemory, embedded] = yield* Effect.all([
        Effect.provide(Effect.flatMap(memoryWorld, scenario), layerMemory()),
        Effect.provide(Effect.flatMap(embeddedWorld, scenario), nodeWithClient({ dataDir }, { renews: false }))
      ])
      assert.deepStrictEqual(inMemory, embedded)
      assert.isAbove(inMemory.length, 20)
    }).pipe(withCheapScrypt, Effect.provide(quiet)))

  const withMemory = (names: Readonly<Record<string, string>>) => Effect.provide(layerMemory(names))

  it.effect("begin with those that are given; others own what is set with an address", () =>
    Effect.gen(function*() {
      const [names, memory] = [yield* NameClient, yield* MemoryNames]
      assert.deepStrictEqual((yield* names.listNames()).map(({ name, value }) => [name, value]), [["d/a", "1"], [
        "d/bb",
        "2"
      ]])
      yield* names.updateName("d/a", "3")
      yield* memory.set("d/c", "theirs", { address: "NGW5pKoNAeRyRNjEqKNEQyzTtVaVRPMdGP" }).pipe(
        Effect.catchTag("InvalidRequest", ({ field }) => Effect.sync(() => assert.strictEqual(field, "address")))
      )
      const { address } = yield* names.resolveName("d/a")
      yield* names.updateName("d/a", "given", { address })
      assert.strictEqual((yield* names.resolveName("d/a")).address, address)
    }).pipe(withMemory({ "d/a": "1", "d/bb": "2" })))

  it.effect("fail as the test says, including those that wait for changes", () =>
    Effect.gen(function*() {
      const [names, memory] = [yield* NameClient, yield* MemoryNames]
      const away = new DaemonUnreachable({ address: "127.0.0.1:8336", reason: "no answer" })
      const waiting = yield* Effect.fork(Effect.flip(Stream.runDrain(names.changes())))
      yield* Effect.yieldNow()
      yield* memory.fail(away)
      assert.strictEqual(yield* Fiber.join(waiting), away)
      assert.strictEqual(yield* Effect.flip(names.resolveName("d/a")), away)
      assert.strictEqual(yield* Effect.flip(names.updateName("d/a", "2")), away)
      assert.strictEqual(yield* Effect.flip(names.listNames()), away)
      assert.strictEqual(yield* Effect.flip(names.freshness), away)
      yield* memory.fail(undefined)
      assert.strictEqual((yield* names.resolveName("d/a")).value, "1")
    }).pipe(withMemory({ "d/a": "1" })))

  it.effect("deny nothing while blocks are missing", () =>
    Effect.gen(function*() {
      const [names, memory] = [yield* NameClient, yield* MemoryNames]
      yield* memory.syncing(true)
      const unknown = yield* Effect.flip(names.resolveName("d/none"))
      assert.deepInclude({ ...unknown }, { _tag: "NotSynced", phase: "blocks", percent: 50 })
      assert.isFalse((yield* names.resolveName("d/a")).asOf.synced)
      assert.strictEqual((yield* Effect.flip(names.resolveName("d/a", { requireSynced: true })))._tag, "NotSynced")
      assert.strictEqual((yield* Effect.flip(names.listNames({ namespace: "id/" })))._tag, "NotSynced")
      yield* memory.syncing(false)
      assert.strictEqual((yield* Effect.flip(names.resolveName("d/none")))._tag, "NameNotFound")
    }).pipe(withMemory({ "d/a": "1" })))

  it.effect("a reader gets no operation that was undone before it came, and the end of each that it had", () =>
    Effect.gen(function*() {
      const [names, memory] = [yield* NameClient, yield* MemoryNames]
      const changes = (from: string, most: number) =>
        Effect.map(Stream.runCollect(Stream.take(names.changes({ from }), most)), Chunk.toReadonlyArray)
      yield* memory.set("d/a", "2")
      yield* memory.set("d/a", "3")
      const seen = yield* changes("0", 3)
      assert.deepStrictEqual(seen.map(({ record }) => record?.value), ["1", "2", "3"])
      yield* memory.reorg(2)
      const [second] = seen.slice(1)
      yield* memory.set("d/b", "4")
      const behind = yield* changes(second?.cursor ?? "", 2)
      assert.deepStrictEqual(behind.map(({ record, type }) => [type, record?.value]), [["undone", "1"], [
        "registered",
        "4"
      ]])
      assert.deepStrictEqual((yield* changes("0", 2)).map(({ record }) => record?.value), ["1", "4"])
      assert.isFalse(Equal.equals(behind[0], behind[1]))
      assert.strictEqual((yield* Effect.flip(changes("a9999999.01048576.0123456789abcdef", 1)))._tag, "CursorUnusable")
    }).pipe(withMemory({ "d/a": "1" })))

  it.live("end with their layer", () =>
    Effect.gen(function*() {
      const names = yield* Effect.scoped(Effect.provide(NameClient, layerMemory()))
      assert.strictEqual((yield* Effect.flip(names.resolveName("d/a")))._tag, "ClientClosed")
    }))
})
