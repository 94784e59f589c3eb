import * as Context from "effect/Context"
import type { LogCategories } from "./methods/control.ts"

/** The daemon's log settings that callers read and change at run time. A node without them has no method `logging`. */
export class LogControl extends Context.Tag("svcd/LogControl")<LogControl, {
  /** The log file; `""` for standard output. */
  readonly path: string
  readonly categories: LogCategories
}>() {}
