import type { FileHandle } from "node:fs/promises"
import { syncDirectory } from "../../base/atomicFile.ts"
import { afterDelay, cancelTimer, type Timer } from "../../base/turns.ts"

interface Waiting {
  /** `undefined` if only names have changed. */
  readonly file: FileHandle | undefined
  readonly whenSynced: () => Promise<void>
  readonly resolve: () => void
  readonly reject: (error: unknown) => void
}

/** Milliseconds: changed names that no caller waits for are synced with the next group, or after this time. */
const SOON = 500

/** Syncs files, and their directory, once per group, which the file system's journal merges into few writes. */
export class GroupCommit {
  readonly #directory: string
  #waiting: Array<Waiting> = []
  #running = false
  #soon: Timer | undefined

  constructor(directory: string) {
    this.#directory = directory
  }

  /** Resolves when the content and the rename by `whenSynced` are on disk. Closes the file in any case. */
  commit(file: FileHandle, whenSynced: () => Promise<void>): Promise<void> {
    return this.#gather(file, whenSynced)
  }

  syncNames(): Promise<void> {
    return this.#gather(undefined, () => Promise.resolve())
  }

  syncSoon(): void {
    this.#soon ??= afterDelay(SOON, () => {
      this.#soon = undefined
      // The next caller that waits for the disk gets and reports the error.
      this.syncNames().catch(() => undefined)
    }).unref()
  }

  #gather(file: FileHandle | undefined, whenSynced: () => Promise<void>): Promise<void> {
    return new Promise((resolve, reject) => {
      this.#waiting.push({ file, whenSynced, resolve, reject })
      if (!this.#running) void this.#run()
    })
  }

  async #run(): Promise<void> {
    this.#running = true
    while (this.#waiting.length > 0) {
      const group = this.#waiting
      this.#waiting = []
      await this.#commitGroup(group)
    }
    this.#running = false
  }

  async #commitGroup(group: ReadonlyArray<Waiting>): Promise<void> {
    cancelTimer(this.#soon)
    this.#soon = undefined
    const steps = await Promise.allSettled(group.map(async ({ file, whenSynced }) => {
      try {
        await file?.sync()
      } finally {
        await file?.close()
      }
      await whenSynced()
    }))
    const directory = await syncDirectory(this.#directory).then(() => undefined, (error: unknown) => ({ error }))
    for (const [index, { reject, resolve }] of group.entries()) {
      const step = steps[index]
      if (step?.status === "rejected") reject(step.reason)
      else if (directory !== undefined) reject(directory.error)
      else resolve()
    }
  }
}
