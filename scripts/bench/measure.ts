import { existsSync, readFileSync, writeFileSync } from "node:fs"
import { loadavg } from "node:os"
import { figuresOf, type SectionText, skippedBecause, withSection } from "./report.ts"

/** A measurement, and its section in docs/performance.md. */
export interface Measurable extends SectionText {
  readonly measure: () => Promise<object>
}

export interface MeasureOptions {
  /** The page to write the figures to. Without it they are only printed. */
  readonly page: string | undefined
  /** All sections of the page, in their order. */
  readonly sections: ReadonlyArray<SectionText>
  /** Day, revision and machine, with the load before the measurement. */
  readonly circumstances: (load: number | undefined) => string
}

/**
 * Runs one measurement, prints its figures and writes its section. Returns the exit status: 1 where it was not measured, or not
 * as a whole; then the page stays as it is.
 */
export const measureSection = async (
  { measure, ...section }: Measurable,
  { circumstances, page, sections }: MeasureOptions
): Promise<number> => {
  const [load] = loadavg()
  const result = await measure()
  process.stdout.write(`${JSON.stringify(result, undefined, 2)}\n`)
  const reason = skippedBecause(result)
  if (reason !== undefined) {
    process.stderr.write(`${section.title}: not measured, because ${reason}\n`)
    return 1
  }
  if (page === undefined) return 0
  const text = existsSync(page) ? readFileSync(page, "utf8") : ""
  const measured = { figures: figuresOf(result), circumstances: circumstances(load) }
  writeFileSync(page, withSection({ page: text, sections }, section.title, measured))
  return 0
}
