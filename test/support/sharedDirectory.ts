import { chmodSync, mkdtempSync, rmSync, statfsSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import type { TestProject } from "vitest/node"
import { bundleOf, sourcesOf } from "./bundle.ts"

/** The temporary directory of a run: of each test, and for files that its processes share. */

/** Files in memory, where the platform has them. The tests sync files thousands of times. */
const MEMORY = "/dev/shm"

/** Bytes. Tests that run at the same time use a fraction of it. */
const ENOUGH = 2 ** 31

const hasRoom = (path: string): boolean => {
  try {
    const { bavail, bsize } = statfsSync(path)
    return bavail * bsize >= ENOUGH
  } catch {
    return false
  }
}

export const setup = ({ provide }: TestProject): () => void => {
  const directory = mkdtempSync(join(hasRoom(MEMORY) ? MEMORY : tmpdir(), "svcd-tests-"))
  // Some tests run a node as another user.
  chmodSync(directory, 0o711)
  // `os.tmpdir` of the test processes and of their children.
  process.env["TMPDIR"] = directory
  provide("sharedDirectory", directory)
  return () => {
    for (const path of [directory, bundleOf(directory), sourcesOf(directory)]) {
      rmSync(path, { recursive: true, force: true })
    }
  }
}
