import { Effect } from "effect"
import { cpSync, existsSync, mkdtempSync, renameSync } from "node:fs"
import { join } from "node:path"
import { inject } from "vitest"

declare module "vitest" {
  interface ProvidedContext {
    /** Where the test processes of a run share files (`sharedDirectory.ts`). */
    readonly sharedDirectory: string
  }
}

/**
 * Fills a directory with files that are expensive to make: `make` runs once in a run of the tests, in a directory of its
 * own, and every caller gets a copy. `name` identifies the files.
 */
export const madeOnce = <A, E, R>(options: {
  readonly name: string
  readonly make: (draft: string) => Effect.Effect<A, E, R>
  readonly into: string
}): Effect.Effect<void, E, R> =>
  Effect.gen(function*() {
    const { into, make, name } = options
    const template = join(inject("sharedDirectory"), name)
    if (!existsSync(template)) {
      const draft = mkdtempSync(`${template}-`)
      yield* make(draft)
      // Another process may have been faster; its files are as good.
      if (!existsSync(template)) renameSync(draft, template)
    }
    cpSync(template, into, { recursive: true })
  })
