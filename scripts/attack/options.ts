import { parseArgs } from "node:util"
import { LIMITS, type Limits } from "./figures.ts"

export interface Options {
  /** Whether only the attacks of the short form run, each for a short time. */
  readonly short: boolean
  /** Prefixes of the names of the attacks to run; all run where none is given. */
  readonly only: ReadonlyArray<string>
  /** The limit of the node's heap, MB. */
  readonly heap: number
  /** A file for the figures as JSON. */
  readonly json: string | undefined
  /** The built svcd.js to attack, where it is not this project's. */
  readonly program: string | undefined
  /** Options of Node.js for the node, such as `--cpu-prof`. */
  readonly runtime: ReadonlyArray<string>
  /** A folder that keeps the log of each node. */
  readonly logs: string | undefined
  readonly list: boolean
  readonly limits: Limits
}

const number = (name: string, text: string): number => {
  const value = Number(text)
  if (!Number.isFinite(value) || value <= 0) throw new RangeError(`--${name} takes a number above 0, not "${text}"`)
  return value
}

/** Reads the options of `npm run attack`. Throws for an unknown or invalid option. */
export const readOptions = (args: ReadonlyArray<string>): Options => {
  const { values } = parseArgs({
    args: [...args],
    options: {
      short: { type: "boolean", default: false },
      list: { type: "boolean", default: false },
      only: { type: "string", multiple: true, default: [] },
      heap: { type: "string", default: "384" },
      json: { type: "string" },
      program: { type: "string" },
      runtime: { type: "string", multiple: true, default: [] },
      logs: { type: "string" },
      ping: { type: "string", default: String(LIMITS.pingP99) },
      nameshow: { type: "string", default: String(LIMITS.nameShowP99) }
    }
  })
  return {
    short: values.short,
    list: values.list,
    only: values.only,
    heap: number("heap", values.heap),
    json: values.json,
    program: values.program,
    runtime: values.runtime,
    logs: values.logs,
    limits: { pingP99: number("ping", values.ping), nameShowP99: number("nameshow", values.nameshow) }
  }
}
