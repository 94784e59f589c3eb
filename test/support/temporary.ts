import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"

/** Runs `work` with a directory of its own, which is removed afterwards. */
export const withDirectory = <A>(work: (directory: string) => A): A => {
  const directory = mkdtempSync(join(tmpdir(), "svcd-test-"))
  try {
    return work(directory)
  } finally {
    rmSync(directory, { recursive: true, force: true })
  }
}

/** As `withDirectory`, for asynchronous work. */
export const withDirectoryAsync = async <A>(work: (directory: string) => Promise<A>): Promise<A> => {
  const directory = mkdtempSync(join(tmpdir(), "svcd-test-"))
  try {
    return await work(directory)
  } finally {
    rmSync(directory, { recursive: true, force: true })
  }
}
