import { type FileHandle, open } from "node:fs/promises"

interface Waiting {
  readonly file: FileHandle
  readonly whenSynced: () => Promise<void>
  readonly resolve: () => void
  readonly reject: (error: unknown) => void
}

/** Makes sure that the names of new files survive a power cut. Where directories cannot be synced, there is no need. */
export const syncDirectory = async (directory: string): Promise<void> => {
  if (process.platform === "win32") return
  const handle = await open(directory, "r")
  try {
    await handle.sync()
  } finally {
    await handle.close()
  }
}

/**
 * Brings files to the disk in groups. While one group is on its way the next one gathers: all its files are synced at
 * the same time, which the file system's journal turns into few writes, and their directory once for all of them.
 */
export class GroupCommit {
  readonly #directory: string
  #waiting: Array<Waiting> = []
  #running = false

  constructor(directory: string) {
    this.#directory = directory
  }

  /**
   * Resolves when a file's content is on the disk, what `whenSynced` did to its name is too, and the file is closed.
   * Closes the file in any case.
   */
  commit(file: FileHandle, whenSynced: () => Promise<void>): Promise<void> {
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
    const steps = await Promise.allSettled(group.map(async ({ file, whenSynced }) => {
      try {
        await file.sync()
      } finally {
        await file.close()
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
