import * as Context from "effect/Context"
import { existsSync } from "node:fs"
import { fileURLToPath } from "node:url"
import { type ResourceLimits, Worker } from "node:worker_threads"

export interface ThreadProgram {
  /** Compiled beside the file that starts it. Missing if the sources run directly. */
  readonly program: URL
  readonly limits?: ResourceLimits
}

/** Returns a function that starts a program's thread and throws if the system refuses; `undefined` without threads. */
export type LaunchOf = (program: ThreadProgram) => (() => Worker) | undefined

const launchOf: LaunchOf = ({ limits, program }) =>
  existsSync(fileURLToPath(program))
    ? () => new Worker(program, limits === undefined ? {} : { resourceLimits: limits })
    : undefined

/** Does all work on the calling thread, with the same results. */
export const noThreads: LaunchOf = () => undefined

/** The threads of a node. Programs that need a deterministic order of work provide `noThreads`. */
export class Threads extends Context.Reference<Threads>()("svcd/Threads", {
  defaultValue: (): LaunchOf => launchOf
}) {}
