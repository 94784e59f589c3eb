import * as Context from "effect/Context"
import type { LogCategories } from "./methods/control.ts"

/** Log settings for callers. Without them there is no method `logging`. */
export class LogControl extends Context.Tag("svcd/LogControl")<LogControl, {
  /** `""` for standard output. */
  readonly path: string
  readonly categories: LogCategories
}>() {}
