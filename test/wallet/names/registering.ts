import { assert } from "@effect/vitest"
import { Effect, Logger } from "effect"
import type { Names } from "../../../src/wallet/names/makeNames.ts"
import type { NameSettings } from "../../../src/wallet/names/NameParts.ts"
import type { Registration } from "../../../src/wallet/names/WalletNames.ts"
import * as operating from "./operating.ts"
import { World } from "./World.ts"

export const quiet = Effect.provide(Logger.remove(Logger.defaultLogger))

/** Starts a node on a world, once for each of its runs. */
export const start = (world: World, options: Partial<NameSettings> = {}) =>
  operating.start(world, { randomBytes: (size) => new Uint8Array(size).fill(world.keys + 1), ...options })

export const withNames = <A, E>(
  use: (names: Names, world: World) => Effect.Effect<A, E>,
  options: Partial<NameSettings> = {}
) =>
  Effect.gen(function*() {
    const world = new World()
    return yield* use(yield* start(world, options), world)
  }).pipe(Effect.scoped, quiet)

export const only = (names: Names): Registration => {
  const [registration, ...others] = names.registrations()
  assert.deepStrictEqual(others, [])
  return registration ?? assert.fail("no registration is kept")
}
