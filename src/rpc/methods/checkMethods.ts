import * as Effect from "effect/Effect"
import { Chain } from "../../chain/Chain.ts"
import { DEFAULT_CHECK } from "../../chain/repair/verifyChain.ts"
import { DataHealth } from "../../storage/DataHealth.ts"
import { method } from "../method/method.ts"
import type { Method } from "../method/methodTable.ts"
import { int32, withDefault } from "../method/params.ts"
import * as Shape from "../method/shape.ts"
import { storageError } from "./errors.ts"

/** Methods about whether what is on disk is what was written. */

const LAST_LEVEL = 4

export const checkMethods: Effect.Effect<ReadonlyArray<Method>, never, Chain | DataHealth> = Effect.gen(function*() {
  const chain = yield* Chain
  const health = yield* DataHealth

  const verifychain = method({
    name: "verifychain",
    group: "Blockchain",
    // Hours, where the caller asks for all blocks: it ends with the node, and when its caller has gone.
    waits: true,
    summary:
      "Checks the last blocks of the best chain, the tip first. No block is connected meanwhile. A block that is " +
      "damaged counts as missing and is asked for from peers.",
    params: {
      checklevel: withDefault(
        int32(
          "How thoroughly: 0 reads the blocks, 1 checks their rules, 2 their undo data, 3 their coins, 4 their scripts."
        ),
        DEFAULT_CHECK.level
      ),
      nblocks: withDefault(int32("How many blocks; 0 for all."), DEFAULT_CHECK.blocks)
    },
    results: [{ shape: Shape.boolean("Whether all of them are as they should be; the log tells what is not") }],
    examples: [[], [4, 100]],
    handler: ({ checklevel, nblocks }) =>
      chain.verify({ level: Math.max(0, Math.min(checklevel, LAST_LEVEL)), blocks: Math.max(0, nblocks) }).pipe(
        Effect.map(({ damaged }) => damaged === 0),
        Effect.catchTag("StorageCorrupted", (damage) => Effect.as(Effect.logError(damage.message), false)),
        Effect.mapError(storageError)
      )
  })

  const getcheckinfo = method({
    name: "getcheckinfo",
    group: "Util",
    summary: "Tells how far the background check is, which compares what is on disk with what was written.",
    params: {},
    results: [{
      shape: Shape.object({
        parts: Shape.map(
          "part",
          Shape.object({
            unit: Shape.string("What is counted: blocks or pages"),
            checked: Shape.integer("How many this pass has seen"),
            total: Shape.integer("How many there are"),
            passes: Shape.integer("Passes that saw all, since the node started"),
            damaged: Shape.integer("How many were damaged, since the node started")
          })
        ),
        missing_blocks: Shape.integer("Blocks of the best chain that are missing and asked for from peers"),
        doubts: Shape.array(Shape.object({
          what: Shape.string("The file or store"),
          reason: Shape.string("What was found, and what is done about it")
        })),
        notices: Shape.array(Shape.object({
          what: Shape.string("The file or store"),
          reason: Shape.string("What the operator is to know; no answer is wrong because of it")
        }))
      })
    }],
    examples: [[]],
    handler: () =>
      Effect.gen(function*() {
        const parts = (yield* health.progress).map(({ checked, damaged, passes, total, unit, what }) =>
          [what, { unit, checked, total, passes, damaged }] as const
        )
        return {
          parts: Object.fromEntries(parts),
          missing_blocks: chain.tree.losses.count,
          doubts: (yield* health.doubts).map(({ reason, what }) => ({ what, reason })),
          notices: (yield* health.notices).map(({ reason, what }) => ({ what, reason }))
        }
      })
  })

  return [verifychain, getcheckinfo]
})
