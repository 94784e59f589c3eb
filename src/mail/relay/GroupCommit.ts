import type { FileHandle } from "node:fs/promises"
import { syncDirectory } from "../../base/atomicFile.ts"

interface Waiting {
  /** `undefined` if only names have changed. */
  readonly file: FileHandle | undefined
  readonly whenSynced: () => Promise<void>
  readonly resolve: () => void
  readonly reject: (error: unknown) => void
}

/** For changed names that no caller waits for: synced with the next group or, without one, after this many ms. */
const SOON = 500

/**
 * Syncs files to the disk in groups. While one group is syncing the next one gathers: all its files are synced at the
 * same time, which the file system's journal merges into few writes, and their directory is synced once for all.
 */
export class GroupCommit {
  readonly #directory: string
  #waiting: Array<Waiting> = []
  #running = false
  #soon: NodeJS.Timeout | undefined

  constructor(directory: string) {
    this.#directory = directory
  }

  /**
   * Resolves when a file's content and the change that `whenSynced` made to its name are on the disk, and the file is
   * closed. Closes the file in any case.
   */
  commit(file: FileHandle, whenSynced: () => Promise<void>): Promise<void> {
    return this.#gather(file, whenSynced)
  }

  /** Resolves when all changes of file names are on the disk. */
  syncNames(): Promise<void> {
    return this.#gather(undefined, () => Promise.resolve())
  }

  /** Syncs changed names later, for callers that do not wait. */
  syncSoon(): void {
    this.#soon ??= setTimeout(() => {
      this.#soon = undefined
      // The next caller that waits for the disk gets the error and reports it.
      this.syncNames().catch(() => undefined)
    }, SOON).unref()
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
    clearTimeout(this.#soon)
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
