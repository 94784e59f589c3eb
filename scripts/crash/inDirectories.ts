import { mkdirSync, rmSync } from "node:fs"
import { join } from "node:path"
import type { Options } from "./report.ts"
import { makeWorkplace } from "./workplace.ts"

/** Some rounds, one after the other on one data directory. */
export interface Part {
  /** The data directory, empty at first, and a path for a file beside it. */
  readonly directory: string
  readonly beside: string
  readonly rounds: ReadonlyArray<number>
}

interface Division {
  /** The most rounds on one data directory. */
  readonly roundsEach: number
  /** Data directories at a time. */
  readonly atOnce?: number
}

/** Divides the rounds of a test over data directories, and removes each when its rounds are done. */
export const inDirectories = async (
  { count, only }: Pick<Options, "count" | "only">,
  { atOnce = 1, roundsEach }: Division,
  run: (part: Part) => Promise<void>
): Promise<void> => {
  const size = Math.max(1, Math.min(roundsEach, Math.ceil(count / atOnce)))
  const starts = only === undefined ? Array.from({ length: Math.ceil(count / size) }, (_, i) => i * size) : [only]
  const place = makeWorkplace()
  const work = async (): Promise<void> => {
    for (let first = starts.shift(); first !== undefined; first = starts.shift()) {
      const from = first
      const directory = join(place.path, `node-${from}`)
      mkdirSync(directory)
      const length = only === undefined ? Math.min(size, count - from) : 1
      const rounds = Array.from({ length }, (_, i) => from + i)
      await run({ directory, beside: join(place.path, `beside-${from}`), rounds })
      rmSync(directory, { recursive: true, force: true })
    }
  }
  try {
    await Promise.all(Array.from({ length: atOnce }, work))
  } finally {
    place.remove()
  }
}
