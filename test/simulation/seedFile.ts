import type { WorldNumber } from "./plan.ts"

/** A seed that found a bug once. */
export interface KnownSeed {
  readonly world: WorldNumber
  readonly seed: number
}

const LINE = /^([12]) (\d+)$/

/** The seeds of a text with lines `WORLD SEED # what it found`. Throws an `Error` for another line. */
export const readSeeds = (text: string): ReadonlyArray<KnownSeed> =>
  text.split("\n").flatMap((line, i) => {
    const told = line.replace(/#.*/, "").trim()
    if (told === "") return []
    const found = LINE.exec(told)
    if (found === null) throw new Error(`line ${i + 1} of the seeds is not WORLD SEED: ${line}`)
    return [{ world: found[1] === "2" ? 2 : 1, seed: Number(found[2]) }]
  })
