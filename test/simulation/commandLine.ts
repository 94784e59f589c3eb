import { parseArgs } from "node:util"
import type { WorldNumber } from "./plan.ts"

/** The arguments of `npm run simulate`. */

export const USAGE = `usage: npm run simulate -- [--world 1|2] --seed N [--hours H] [--trace] [--double] [--shrink]
       npm run simulate -- [--world 1|2] --runs N | --minutes M [--from N] [--step N] [--hours H] [--double] [--first]
             [--jobs N]
       npm run simulate -- --seeds FILE [--runs N | --minutes M] [--hours H] …
       npm run simulate -- --plan sim-N.ndjson [--trace] [--shrink]
       npm run simulate -- --planted [--only NAME]… [--runs N] [--from N] [--world 1|2] [--hours H] [--keep] [--write]

Runs worlds of whole nodes in virtual time, each from one number. A seed that fails prints its last events and how to
run it again, and writes its plan and events to sim-N.ndjson. --trace shows all events. --double runs each seed twice,
and compares. --first ends with the first seed that fails. --jobs runs N seeds at a time. --seeds runs those of a file
before the others. --hours ends the faults after so many virtual hours, if that is before the end of the plan. --shrink
leaves out steps of a failing plan while it fails in the same way, and writes sim-N.small.ndjson. --planted looks for
bugs that it plants in copies of the build; --keep keeps the copies, in build/planted, and --write puts the results into
docs/testing.md. --template DIRECTORY begins with the files of nodes that another process made.`

export interface CommandLine {
  readonly plan: string | undefined
  readonly seed: number | undefined
  /** The file with known seeds. */
  readonly seeds: string | undefined
  /** `undefined`: world 1, or the world of each planted bug. */
  readonly world: WorldNumber | undefined
  readonly runs: number | undefined
  readonly from: number
  readonly step: number
  /** Runs at the same time, each in a process of its own. */
  readonly jobs: number
  readonly minutes: number | undefined
  readonly hours: number | undefined
  readonly template: string | undefined
  readonly only: ReadonlyArray<string>
  readonly trace: boolean
  readonly double: boolean
  readonly first: boolean
  readonly shrink: boolean
  readonly planted: boolean
  readonly keep: boolean
  /** Whether docs/testing.md gets the results on planted bugs. */
  readonly write: boolean
}

const WHOLE = /^\d{1,15}$/
const ANY = /^\d{1,15}(?:\.\d+)?$/

const wholeOf = (option: string, text: string | undefined): number | undefined => {
  if (text !== undefined && !WHOLE.test(text)) throw new Error(`--${option} takes a whole number, not ${text}`)
  return text === undefined ? undefined : Number(text)
}

const amountOf = (option: string, text: string | undefined): number | undefined => {
  if (text === undefined) return undefined
  if (!ANY.test(text) || Number(text) === 0) throw new Error(`--${option} takes a number above 0, not ${text}`)
  return Number(text)
}

const worldOf = (text: string | undefined): WorldNumber | undefined => {
  if (text === undefined) return undefined
  if (text !== "1" && text !== "2") throw new Error(`--world takes 1 or 2, not ${text}`)
  return text === "1" ? 1 : 2
}

/** Throws an `Error` that says which argument is wrong. */
export const readCommandLine = (given: ReadonlyArray<string>): CommandLine => {
  const { values } = parseArgs({
    args: [...given],
    options: {
      seed: { type: "string" },
      seeds: { type: "string" },
      plan: { type: "string" },
      world: { type: "string" },
      trace: { type: "boolean", default: false },
      shrink: { type: "boolean", default: false },
      planted: { type: "boolean", default: false },
      keep: { type: "boolean", default: false },
      write: { type: "boolean", default: false },
      only: { type: "string", multiple: true, default: [] },
      runs: { type: "string" },
      from: { type: "string" },
      step: { type: "string" },
      jobs: { type: "string" },
      minutes: { type: "string" },
      hours: { type: "string" },
      template: { type: "string" },
      double: { type: "boolean", default: false },
      first: { type: "boolean", default: false }
    }
  })
  const { double, first, from, hours, keep, minutes, only, plan, planted, runs } = values
  const { seed, seeds, shrink, step, template, trace, world } = values
  if (plan !== undefined && hours !== undefined) {
    throw new Error("a plan says how long it takes: leave out --hours, or run its seed")
  }
  return {
    plan,
    seed: wholeOf("seed", seed),
    seeds,
    world: worldOf(world),
    runs: wholeOf("runs", runs),
    from: wholeOf("from", from) ?? 1,
    step: wholeOf("step", step) ?? 1,
    jobs: Math.max(1, wholeOf("jobs", values.jobs) ?? 1),
    minutes: amountOf("minutes", minutes),
    hours: amountOf("hours", hours),
    template,
    only,
    trace,
    double,
    first,
    shrink,
    planted,
    keep,
    write: values.write
  }
}
