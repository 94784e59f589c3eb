import { parseArgs } from "node:util"
import { type Contender, contender } from "./contender.ts"
import { TEXTS } from "./texts.ts"

/** The command line of the bench. */
export interface BenchOptions {
  readonly help: boolean
  readonly write: boolean
  /** Counts turns although other programs run. */
  readonly busy: boolean
  readonly short: boolean
  readonly limit: number
  /** The reference node to compare with. */
  readonly against: Contender | undefined
  /** The other build to compare with. */
  readonly build: Contender | undefined
  /** The flags of the sections that the command line names. */
  readonly flags: ReadonlySet<string>
}

/** The ratio that is not a regression yet, unless `--limit` says another one. */
const LIMIT = 1.05

const program = (path: string | undefined, wanted: "reference" | "svcd"): Contender | string | undefined =>
  path === undefined ? undefined : contender(path, wanted)

/** The options of a command line, or one sentence what is wrong with it. */
export const optionsOf = (args: ReadonlyArray<string>): BenchOptions | string => {
  const flags = TEXTS.flatMap(({ flag }) => flag === "against" ? [] : [flag])
  try {
    const { values: section } = parseArgs({
      args: [...args],
      strict: false,
      options: Object.fromEntries(flags.map((flag) => [flag, { type: "boolean" as const }]))
    })
    const named = flags.filter((flag) => section[flag] === true)
    const { values } = parseArgs({
      args: args.filter((arg) => !named.some((flag) => arg === `--${flag}`)),
      options: {
        help: { type: "boolean", default: false },
        write: { type: "boolean", default: false },
        busy: { type: "boolean", default: false },
        short: { type: "boolean", default: false },
        runs: { type: "string" },
        pairs: { type: "string" },
        domains: { type: "string" },
        limit: { type: "string", default: String(LIMIT) },
        against: { type: "string" },
        build: { type: "string" }
      }
    })
    for (const name of ["runs", "pairs"] as const) {
      const value = values[name]
      if (value !== undefined && !/^[1-9]\d{0,3}$/u.test(value)) {
        return `--${name} takes a number from 1 to 9999, not "${value}".`
      }
    }
    if (values.domains !== undefined && !/^[1-9]\d{5,6}$/u.test(values.domains)) {
      return `--domains takes a number from 100000 to 9999999, not "${values.domains}".`
    }
    const limit = Number(values.limit)
    if (!(limit > 0)) return `--limit takes a number above 0, not "${values.limit}".`
    if (values.build !== undefined && (values.write || values.against !== undefined || named.length > 0)) {
      return "--build compares two builds and measures nothing else: leave out --write, --against and the sections."
    }
    if (values.busy && values.write) return "--busy measures beside other programs, which is nothing to --write."
    const against = program(values.against, "reference")
    const build = program(values.build, "svcd")
    if (typeof against === "string") return against
    if (typeof build === "string") return build
    const { busy, help, short, write } = values
    return { help, write, busy, short, limit, against, build, flags: new Set(named) }
  } catch (error) {
    return error instanceof Error ? error.message : String(error)
  }
}
