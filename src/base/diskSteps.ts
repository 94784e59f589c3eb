import { syncAside, syncFile } from "./disk.ts"
import { nextTurn } from "./turns.ts"

/**
 * Resumable work on files. A yielded descriptor is synced before the work continues, and a sync error is thrown into
 * it. Yielding nothing lets other tasks run.
 */
export type DiskSteps = Generator<number | void, void, void>

interface Failure {
  readonly cause: unknown
}

const syncNow = (descriptor: number): Failure | undefined => {
  try {
    syncFile(descriptor)
    return undefined
  } catch (cause) {
    return { cause }
  }
}

const goOn = (steps: DiskSteps, failure: Failure | undefined): IteratorResult<number | void, void> =>
  failure === undefined ? steps.next() : steps.throw(failure.cause)

export const doNow = (steps: DiskSteps): void => {
  let at = steps.next()
  while (at.done !== true) at = goOn(steps, typeof at.value === "number" ? syncNow(at.value) : undefined)
}

const synced = (descriptor: number): Promise<Failure | undefined> =>
  syncAside(descriptor).then(() => undefined, (cause: unknown) => ({ cause }))

const turn = (): Promise<undefined> => new Promise((resolve) => nextTurn(() => resolve(undefined)))

/** Runs fsync on the thread pool, so that the event loop stays responsive. */
export class DiskWork {
  /** Any number of callers can await this; each sees a failure. Resolves after `stop`. */
  readonly end: Promise<void>
  private readonly steps: DiskSteps
  private isStopped = false

  constructor(steps: DiskSteps) {
    this.steps = steps
    this.end = this.run()
  }

  private async run(): Promise<void> {
    let at = this.steps.next()
    while (at.done !== true) {
      const failure = await (typeof at.value === "number" ? synced(at.value) : turn())
      if (this.isStopped) return
      at = goOn(this.steps, failure)
    }
  }

  /**
   * Ends the work where it waits: the generator returns there and closes its files. The result of a pending sync stays
   * unknown; a second sync would not report an error, as the system reports a file's error only once.
   */
  stop(): void {
    this.isStopped = true
    this.steps.return()
  }
}
