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

const fsyncAside = promisify(fsync)

const syncAside = (descriptor: number): Promise<Failure | undefined> =>
  fsyncAside(descriptor).then(() => undefined, (cause: unknown) => ({ cause }))

const turn = (): Promise<undefined> => new Promise((resolve) => setImmediate(() => resolve(undefined)))

/** Runs work on files, in one turn of the event loop or in many. An error of the work goes to the caller that runs it then. */
export class DiskWork {
  private readonly steps: DiskSteps
  /** Where the work waits: another object after each step. Absent before the first one. */
  private at: IteratorResult<number | void, void> | undefined

  private aside: Promise<void> | undefined

  constructor(steps: DiskSteps) {
    this.steps = steps
  }

  private goOn(failure?: Failure): void {
    // An error ends the work.
    this.at = { done: true, value: undefined }
    this.at = failure === undefined ? this.steps.next() : this.steps.throw(failure.cause)
  }

  /** Does all that is left in this turn. If `finishAside` is under way, it then ends without an error. */
  finishNow(): void {
    if (this.at === undefined) this.goOn()
    while (this.at?.done === false) this.goOn(typeof this.at.value === "number" ? syncNow(this.at.value) : undefined)
  }

  /**
   * Does all that is left, and lets threads of the system sync the files, so that other work has turns meanwhile. Several callers
   * wait for the same end.
   */
  finishAside(): Promise<void> {
    return this.aside ??= this.goOnAside()
  }

  private async goOnAside(): Promise<void> {
    if (this.at === undefined) this.goOn()
    while (this.at?.done === false) {
      const before: unknown = this.at
      const failure = await (typeof this.at.value === "number" ? syncAside(this.at.value) : turn())
      if (this.at !== before) return
      this.goOn(failure)
    }
  }

  /** Ends the work where it waits. It still closes its files. */
  stop(): void {
    if (this.at === undefined || this.at.done === true) return
    this.at = { done: true, value: undefined }
    this.steps.return()
  }
}
