import { Effect } from "effect"
import { applyAll, crashBlock, holdAll, withDb } from "./blocks.ts"

/**
 * Applies blocks to the names.db of the first argument, from its cursor on and in batches of 3 to 9, and prints its
 * height. Runs until it is killed or fails; then it prints the error, and whether the file still answers.
 */
const [filename = ""] = process.argv.slice(2)

const say = (line: string) => Effect.sync(() => process.stdout.write(`${line}\n`))

const work = withDb(filename, (db) =>
  Effect.gen(function*() {
    for (;;) {
      const first = ((yield* db.cursor)?.height ?? -1) + 1
      const blocks = Array.from({ length: 3 + first % 7 }, (_, i) => crashBlock(first + i))
      // Some wait in memory, as while a node syncs.
      yield* holdAll(db, [blocks.slice(0, first % 3)])
      yield* applyAll(db, [blocks.slice(first % 3)]).pipe(
        Effect.catchAll((failure) =>
          Effect.gen(function*() {
            const cursor = yield* db.cursor
            const [effect] = crashBlock(0).effects
            const record = effect === undefined ? undefined : yield* db.resolve(effect.name)
            yield* say(`failed at ${cursor?.height} with a record of ${record?.height}`)
            return yield* failure
          })
        )
      )
      yield* say(`at ${(yield* db.cursor)?.height}`)
    }
  }))

void Effect.runPromise(Effect.catchAll(work, (error) => say(`${error._tag}: ${error.message}`)))
