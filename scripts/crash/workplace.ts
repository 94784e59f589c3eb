import { accessSync, constants, mkdtempSync, rmSync } from "node:fs"
import { createServer } from "node:net"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { undoAtEnd } from "./leftovers.ts"

/** The project's root, from build/scripts/crash and from scripts/crash. */
export const ROOT = ((): string => {
  const here = fileURLToPath(import.meta.url).replaceAll("\\", "/")
  const inBuild = here.lastIndexOf("/build/scripts/")
  return inBuild >= 0 ? here.slice(0, inBuild) : fileURLToPath(new URL("../../", import.meta.url))
})()

/**
 * Where data directories are made: in memory where the system has a place for that, as thousands are made and a sync
 * costs nothing there. What a disk would have lost is simulated, and needs no disk.
 */
const memory = (): string => {
  try {
    accessSync("/dev/shm", constants.W_OK)
    return "/dev/shm"
  } catch {
    return tmpdir()
  }
}

/** A folder of its own, and what removes it. */
export const makeWorkplace = (): { readonly path: string; readonly remove: () => void } => {
  const path = mkdtempSync(join(memory(), "svcd-crash-"))
  const remove = (): void => rmSync(path, { recursive: true, force: true })
  const done = undoAtEnd(remove)
  return {
    path,
    remove: () => {
      remove()
      done()
    }
  }
}

/** A loopback port that is free now. */
export const freePort = (): Promise<number> =>
  new Promise((resolve, reject) => {
    const server = createServer()
    server.once("error", reject)
    server.listen(0, "127.0.0.1", () => {
      const address = server.address()
      server.close(() => resolve(typeof address === "object" && address !== null ? address.port : 0))
    })
  })
