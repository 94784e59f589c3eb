import * as Context from "effect/Context"
import type { LogCategories } from "./methods/control.ts"

/** What the daemon tells of its log, and lets be changed while it runs. A node without one has no method `logging`. */
export class LogControl extends Context.Tag("svcd/LogControl")<LogControl, {
  /** The log file; `""` for standard output. */
  readonly path: string
  readonly categories: LogCategories
}>() {}
