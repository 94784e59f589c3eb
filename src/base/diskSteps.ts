import { fsync, fsyncSync } from "node:fs"
import { promisify } from "node:util"

/**
 * Work on files that pauses. Where it yields a descriptor, that file has to be on disk before the work continues; an error of the
 * sync is thrown into the work there. Where it yields nothing, other work may have a turn.
 */
export type DiskSteps = Generator<number | void, void, void>

interface Failure {
  readonly cause: unknown
}

const syncNow = (descriptor: number): Failure | undefined => {
  try {
    fsyncSync(descriptor)
    return undefined
  } catch (cause) {
    return { cause }
  }
}

const goOn = (steps: DiskSteps, failure: Failure | undefined): IteratorResult<number | void, void> =>
  failure === undefined ? steps.next() : steps.throw(failure.cause)

/** Does all the work in this turn of the event loop. */
export const doNow = (steps: DiskSteps): void => {
  let at = steps.next()
  while (at.done !== true) at = goOn(steps, typeof at.value === "number" ? syncNow(at.value) : undefined)
}

const fsyncAside = promisify(fsync)

const syncAside = (descriptor: number): Promise<Failure | undefined> =>
  fsyncAside(descriptor).then(() => undefined, (cause: unknown) => ({ cause }))

const turn = (): Promise<undefined> => new Promise((resolve) => setImmediate(() => resolve(undefined)))

/** Work whose files are synced by threads of the system, so that other work has turns of the event loop meanwhile. */
export class DiskWork {
  /** Several callers wait for the same end. An error of the work goes to each of them. `stop` is an end without an error. */
  readonly end: Promise<void>
  private readonly steps: DiskSteps
  private isStopped = false

  /** Begins the work: its first step is done at the return. */
  constructor(steps: DiskSteps) {
    this.steps = steps
    this.end = this.run()
  }

  private async run(): Promise<void> {
    let at = this.steps.next()
    while (at.done !== true) {
      const failure = await (typeof at.value === "number" ? syncAside(at.value) : turn())
      if (this.isStopped) return
      at = goOn(this.steps, failure)
    }
  }

  /**
   * Ends the work where it waits: the generator returns there, so it still closes its files. If it waits for a sync, the result of that
   * sync stays unknown. A second sync would not tell: the system reports an error of a file only once.
   */
  stop(): void {
    this.isStopped = true
    this.steps.return()
  }
}
