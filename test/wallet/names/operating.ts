import { assert } from "@effect/vitest"
import { Effect, Logger } from "effect"
import { type NameOperation, parseNameScript } from "../../../src/protocol/nameOperation.ts"
import type { Transaction } from "../../../src/protocol/transaction.ts"
import { makeNames, type Names } from "../../../src/wallet/names/makeNames.ts"
import type { NameSettings } from "../../../src/wallet/names/NameParts.ts"
import { World } from "./World.ts"

export const bytes = (text: string): Uint8Array => new TextEncoder().encode(text)

export const NAME = bytes("d/example")
export const VALUE = bytes("{}")
export const DRAWN = new Uint8Array(20).fill(0xdd)

export const start = (world: World, options: Partial<NameSettings> = {}) =>
  Effect.flatMap(world.parts, (wallet) => makeNames(wallet, { randomBytes: () => DRAWN, ...options }))

export const withNames = <A, E>(
  use: (names: Names, world: World) => Effect.Effect<A, E>,
  options: Partial<NameSettings> = {}
) =>
  Effect.gen(function*() {
    const world = new World()
    return yield* use(yield* start(world, options), world)
  }).pipe(Effect.scoped, Effect.provide(Logger.remove(Logger.defaultLogger)))

export const operationOf = (transaction: Transaction | undefined): NameOperation =>
  transaction?.outputs.flatMap(({ script }) => parseNameScript(script)?.operation ?? [])[0] ?? assert.fail("no name")

/** Mines blocks, and continues the registrations after each. */
export const mine = (world: World, names: Names, count: number) =>
  Effect.repeatN(Effect.zipRight(Effect.sync(() => world.mine()), names.step), count - 1)

/** Registers a name by hand, in the block after the next twelve. */
export const own = (world: World, names: Names, name = NAME, value = VALUE) =>
  Effect.gen(function*() {
    yield* names.nameNew(name, {})
    yield* mine(world, names, 12)
    yield* names.nameFirstUpdate({ name, rand: undefined, txid: undefined, value })
    yield* mine(world, names, 1)
  })

export const first = { name: NAME, rand: undefined, txid: undefined, value: VALUE }
