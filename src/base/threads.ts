import * as Context from "effect/Context"
import { existsSync } from "node:fs"
import { fileURLToPath } from "node:url"
import { type ResourceLimits, Worker } from "node:worker_threads"

export interface ThreadProgram {
  /** Compiled beside the file that starts it. Missing if the sources run directly. */
  readonly program: URL
  readonly limits?: ResourceLimits
}

/** How to start the thread of a program, which throws if the system refuses it; `undefined` for no threads. */
export type LaunchOf = (program: ThreadProgram) => (() => Worker) | undefined

const launchOf: LaunchOf = ({ limits, program }) =>
  existsSync(fileURLToPath(program))
    ? () => new Worker(program, limits === undefined ? {} : { resourceLimits: limits })
    : undefined

/** The thread that asks does all work. The results are the same. */
export const noThreads: LaunchOf = () => undefined

/** The threads of a node. A program that needs one order of all work provides `noThreads`. */
export class Threads extends Context.Reference<Threads>()("svcd/Threads", {
  defaultValue: (): LaunchOf => launchOf
}) {}
