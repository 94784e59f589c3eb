import * as Effect from "effect/Effect"
import * as Stream from "effect/Stream"
import type { NameChange } from "../../../src/client/records.ts"
import type { CursorUnusable } from "../../../src/names/errors.ts"
import { MINUTE } from "../plan.ts"
import type { Actor, World } from "../World.ts"
import { withClient } from "./clients.ts"
import { between, chance, numberAt, textAt } from "./drawing.ts"
import { type Replica, toldIn } from "./Told.ts"

/** The first pause after a failure, and the longest one, in milliseconds. */
const [PAUSE, LONGEST] = [1_000, 60_000]

const replicaOf = (world: World, node: string): Replica => {
  const { replicas } = toldIn(world)
  const known = replicas.find((each) => each.node === node)
  if (known !== undefined) return known
  const replica: Replica = { node, names: new Map(), cursor: "0" }
  replicas.push(replica)
  return replica
}

/** Keeps a change as the documents tell programs to: the record in place of the former one, with the cursor. */
const keep = (replica: Replica, change: NameChange): void => {
  const { cursor, name, record } = change
  if (record === undefined) replica.names.delete(name)
  else replica.names.set(name, record)
  replica.cursor = cursor
}

/** Begins again as the documents say, unless the node will know the cursor later. */
const begin = (world: World, replica: Replica, { oldest, why }: CursorUnusable): void => {
  if (why === "future") return
  replica.names.clear()
  replica.cursor = oldest
  world.note("replica begins again", { node: replica.node, why, oldest })
}

/** Follows changes until the connection ends. `rest`: milliseconds that the program takes for each change. */
const follow = (world: World, replica: Replica, rest: number) =>
  withClient(world, replica.node, ({ changes }) =>
    Stream.runForEach(changes({ from: replica.cursor }), (change) => {
      keep(replica, change)
      return rest > 0 ? Effect.sleep(rest) : Effect.void
    })).pipe(Effect.catchTag("CursorUnusable", (failure) => Effect.sync(() => begin(world, replica, failure))))

/** Follows a node, and connects again after each end. */
const following = (world: World, replica: Replica, rest: number): Effect.Effect<never> => {
  const attempt = (pause: number): Effect.Effect<never> =>
    Effect.ignore(follow(world, replica, rest)).pipe(
      Effect.zipRight(Effect.sleep(pause)),
      Effect.zipRight(Effect.suspend(() => attempt(Math.min(2 * pause, LONGEST))))
    )
  return attempt(PAUSE)
}

/** Lets a replica read what it lacks, for some virtual milliseconds: for the last checks of a world. */
export const catchUp = (world: World, replica: Replica, limit: number): Effect.Effect<void> =>
  Effect.asVoid(Effect.timeoutOption(following(world, replica, 0), limit))

/**
 * Programs that keep a copy of all names by `changes`: they follow a node, some slowly, connect again after each end with
 * their cursor, and leave for a while now and then. Must not read names in another way, nor repair a copy.
 */
export const replicas: Actor = {
  name: "replicas",

  draw: ({ random, until, whole }) =>
    whole.flatMap(({ name: node }) => {
      const rest = chance(random, 0.3) ? between(random, [10, 20_000]) : 0
      const times = [between(random, [1_000, 4 * MINUTE])]
      for (let at = times[0] ?? 0; at < until; at += between(random, [MINUTE, 20 * MINUTE])) times.push(at)
      // Each visit ends before the next one begins.
      return times.slice(1).map((at, i) => {
        const lasting = Math.max(0, (times[i + 2] ?? until) - at - between(random, [1_000, 2 * MINUTE]))
        return { at, action: "follow", arguments: { node, rest, lasting } }
      })
    }),

  act: (world) => ({
    follow: ({ arguments: given }) => {
      const replica = replicaOf(world, textAt(given, "node"))
      return Effect.timeoutOption(following(world, replica, numberAt(given, "rest")), numberAt(given, "lasting")).pipe(
        Effect.asVoid
      )
    }
  })
}
