import * as Effect from "effect/Effect"
import { MINUTE, type NodePlan } from "../plan.ts"
import type { DatabaseFault } from "../virtual/databaseFaults.ts"
import type { DiskFault } from "../virtual/SimDisk.ts"
import type { Act, Actor, World, WorldNode } from "../World.ts"
import { between, chance, numberAt, oneOf, textAt, times, weighted } from "./drawing.ts"

/** The databases of a whole node with a wallet, and of the others; the last one stands for all. */
const DATABASES = ["chainstate.db", "names.db", "wallet.db", "wallet.db", "webhooks.db", ""]
const OTHERS = ["chainstate.db", "names.db", "names-window.db", ""]

const databasesOf = ({ options: { disableWallet } }: NodePlan): ReadonlyArray<string> =>
  disableWallet === true ? OTHERS : DATABASES

/** Most transactions have few rows. */
const ROWS = [0, 0, 1, 2, 5, 20, 1_000_000]

/** How often an operator restarts a node that survived the failure of a database: it shows what was not stored. */
const RESTARTS = 0.5

const CODES = ["SQLITE_FULL", "SQLITE_IOERR_WRITE", "SQLITE_IOERR_FSYNC"] as const

const codeOf = (text: string): DatabaseFault["code"] => CODES.find((code) => code === text) ?? "SQLITE_IOERR_WRITE"

const faultOf = (text: string): DiskFault => text === "full" || text === "broken" ? text : "slow"

/** What an operator does once the disk works again: starts a node that ended because of it, or restarts one that did not. */
const repaired = (node: WorldNode, restarts = false) =>
  Effect.gen(function*() {
    if (restarts && node.state === "running") yield* node.stop
    if (node.state === "down" || node.state === "lost") yield* node.start()
  })

/** Keeps a fault for a while, then repairs what it did to the node. */
const during = (world: World, { arguments: given }: Act, begin: (node: string) => () => void) => {
  const node = world.node(textAt(given, "node"))
  return Effect.acquireUseRelease(
    Effect.sync(() => begin(node.name)),
    () => Effect.sleep(numberAt(given, "lasting")),
    (end) => Effect.sync(end)
  ).pipe(Effect.zipRight(repaired(node, given["restarts"] === true)))
}

/**
 * Disks that are full or slow for a while, or fail once: in a file, or below a database, in the middle of a transaction or
 * at its end. In world 1 they are only slow, so that writes overlap which take no time otherwise. A node may end because of
 * a full or broken disk; it starts again when the disk works. Some that went on are restarted. Must not change what is
 * stored: a write either succeeds or fails.
 */
export const disks: Actor = {
  name: "disks",

  draw: ({ nodes, random, until, world }) =>
    times(random, { first: 2 * MINUTE, mean: 10 * MINUTE, until }).map((at) => {
      const node = oneOf(random, nodes)
      const on = { node: node.name, lasting: between(random, [1_000, 5 * MINUTE]) }
      if (world === 1) return { at, action: "fault", arguments: { ...on, fault: "slow" } }
      if (chance(random, 0.5)) {
        return { at, action: "fault", arguments: { ...on, fault: weighted(random, { slow: 4, full: 2, broken: 1 }) } }
      }
      const fault = { file: oneOf(random, databasesOf(node)), code: oneOf(random, CODES), rows: oneOf(random, ROWS) }
      return { at, action: "database", arguments: { ...on, ...fault, restarts: chance(random, RESTARTS) } }
    }),

  act: (world) => ({
    fault: (act) => during(world, act, (node) => world.disk.begin(node, faultOf(textAt(act.arguments, "fault")))),
    database: (act) => {
      const { arguments: given } = act
      const [file, code, rows] = [textAt(given, "file"), codeOf(textAt(given, "code")), numberAt(given, "rows")]
      return during(world, act, (node) => world.disk.arm(node, { file, code, rows }))
    }
  }),

  heal: (world) => Effect.forEach(world.nodes, (node) => Effect.ignore(repaired(node)), { discard: true })
}
