import * as Effect from "effect/Effect"
import { existsSync } from "node:fs"
import { join } from "node:path"
import { Snapshots } from "../../../src/chain/Snapshots.ts"
import { LightPart } from "../../../src/light/LightPart.ts"
import type { Property, WorldNode } from "../World.ts"
import { firstFault, seen, serviceOf } from "./chains.ts"

/** Minutes until a node is whole: longer than the node waits for a window that stays behind. */
const PATIENCE = 15

/** A window whose names differed from those of the chain (`lightStart.ts`). */
const DIFFERENT = "names-window-different.db"

const differenceFault = ({ directory }: WorldNode): string | undefined =>
  existsSync(join(directory, DIFFERENT)) ? "the names of its window were not those of the chain" : undefined

/** Why a node is not whole yet. */
const partFault = (node: WorldNode): string | undefined => {
  const part = serviceOf(node, LightPart)
  if (part === undefined) return `it does not run (${node.state})`
  if (part.current() !== undefined) return "its window still answers"
  const base = seen(node, Effect.flatMap(Snapshots, ({ base }) => base))
  return base === undefined ? undefined : `its coins of height ${base.height} are not validated`
}

/** A node that begins with a window or with coins becomes whole, and its names were right from the beginning. */
export const newcomersHold: Property = {
  name: "newcomers become whole",
  check: ({ nodes }) => {
    const all = nodes.filter(({ plan }) => plan.newcomer === true)
    return {
      every: 5_000,
      during: () => firstFault(all, differenceFault),
      atEnd: () =>
        Effect.gen(function*() {
          for (let minute = 0; minute < PATIENCE && firstFault(all, partFault) !== undefined; minute++) {
            yield* Effect.sleep("1 minute")
          }
          return firstFault(all, partFault)
        })
    }
  }
}
