import * as Effect from "effect/Effect"
import { Chain } from "../../../src/chain/Chain.ts"
import type { NameRecord } from "../../../src/client/records.ts"
import { LightPart } from "../../../src/light/LightPart.ts"
import { NameDb } from "../../../src/names/NameDb.ts"
import { type Bytes, displayHash } from "../../../src/protocol/bytes.ts"
import { MINUTE } from "../plan.ts"
import type { Actor, World } from "../World.ts"
import { withClient } from "./clients.ts"
import { between, chance, numberAt, oneOf, textAt, times } from "./drawing.ts"
import { nameOf, NAMES } from "./owners.ts"
import { type NameTold, sourceAt, type Tip, toldIn } from "./Told.ts"

const shown = ({ hash, height }: { readonly hash: Bytes; readonly height: number }): Tip => ({
  hash: displayHash(hash),
  height
})

/** Looks at the tip without waiting, right before and right after an answer: that of the window in a light node. */
const tipOf = Effect.gen(function*() {
  const light = (yield* LightPart).current()
  return shown(light === undefined ? yield* (yield* Chain).tip : (yield* light.progress).tip)
})

/** The last block whose names are stored: in a reorganization, the chain goes before them. */
const namesOf = Effect.gen(function*() {
  const cursor = yield* Effect.orElseSucceed((yield* NameDb).cursor, () => undefined)
  return cursor === undefined ? undefined : shown(cursor)
})

const toldOf = (record: NameRecord): Pick<NameTold, "asOf" | "name" | "record"> => ({
  name: record.name,
  record,
  asOf: record.asOf
})

/** Asks for one name, and notes the answer: even that it does not exist. */
export const resolve = (world: World, node: string, name: string) =>
  withClient(world, node, ({ freshness, resolveName }) =>
    Effect.gen(function*() {
      const [names, before] = [yield* namesOf, yield* tipOf]
      const told = yield* resolveName(name).pipe(
        Effect.map(toldOf),
        Effect.catchTags({
          NameNotFound: () => Effect.map(freshness, (asOf) => ({ name, record: undefined, asOf })),
          NameExpired: () => Effect.map(freshness, (asOf) => ({ name, record: undefined, asOf }))
        })
      )
      toldIn(world).names.push({ ...sourceAt(world, node), ...told, names, before, after: yield* tipOf })
    }))

const list = (world: World, node: string, limit: number) =>
  withClient(world, node, ({ listNames }) =>
    Effect.gen(function*() {
      const [names, before] = [yield* namesOf, yield* tipOf]
      const records = yield* listNames({ namespace: "d/", limit })
      const after = yield* tipOf
      for (const record of records) {
        toldIn(world).names.push({ ...sourceAt(world, node), ...toldOf(record), names, before, after })
      }
    }))

/**
 * Programs that resolve names at any time, existing or not, and list them. Must not ask twice for one answer, nor wait for
 * the node to be synced: an answer is either true or a failure.
 */
export const askers: Actor = {
  name: "askers",

  draw: ({ nodes, random, until }) =>
    times(random, { mean: MINUTE / 3, until }).map((at) => {
      const node = oneOf(random, nodes).name
      return chance(random, 0.2)
        ? { at, action: "list", arguments: { node, limit: between(random, [1, 20]) } }
        // The last name is never registered.
        : { at, action: "resolve", arguments: { node, name: nameOf(between(random, [0, NAMES])) } }
    }),

  act: (world) => ({
    resolve: ({ arguments: given }) => resolve(world, textAt(given, "node"), textAt(given, "name")),
    list: ({ arguments: given }) => list(world, textAt(given, "node"), numberAt(given, "limit"))
  })
}
