import { assert } from "@effect/vitest"
import { Effect, Logger } from "effect"
import { makeNames, type Names } from "../../../src/wallet/names/makeNames.ts"
import type { Registration } from "../../../src/wallet/names/WalletNames.ts"
import { World } from "./World.ts"

export const quiet = Effect.provide(Logger.remove(Logger.defaultLogger))

/** Starts a node on a world, once for each of its runs. */
export const start = (world: World) =>
  Effect.flatMap(
    world.parts,
    (wallet) => makeNames(wallet, { randomBytes: (size) => new Uint8Array(size).fill(world.keys + 1) })
  )

export const withNames = <A, E>(use: (names: Names, world: World) => Effect.Effect<A, E>) =>
  Effect.gen(function*() {
    const world = new World()
    return yield* use(yield* start(world), world)
  }).pipe(Effect.scoped, quiet)

export const only = (names: Names): Registration => {
  const [registration, ...others] = names.registrations()
  assert.deepStrictEqual(others, [])
  return registration ?? assert.fail("no registration is kept")
}
