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
 * A folder for data directories: in memory where the system has one, as a run makes thousands of them and a sync costs
 * nothing there. The loss of data by a disk is simulated, and needs no disk.
 */
export const placeInMemory = (): string => {
  try {
    accessSync("/dev/shm", constants.W_OK)
    return "/dev/shm"
  } catch {
    return tmpdir()
  }
}

/** A folder of its own, and the function that removes it. */
export const makeWorkplace = (): { readonly path: string; readonly remove: () => void } => {
  const path = mkdtempSync(join(placeInMemory(), "svcd-crash-"))
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

/**
 * Ports that the system assigns to no program by itself, some for each process: a node that starts again within its
 * process, or a while after the port was chosen, finds it free.
 */
const FIRST_PORT = 20_000 + (process.pid % 120) * 100
const PORTS = 100
let asked = 0

const isFree = (port: number): Promise<boolean> =>
  new Promise((resolve) => {
    const server = createServer()
    server.once("error", () => resolve(false))
    server.listen(port, "127.0.0.1", () => server.close(() => resolve(true)))
  })

/** A loopback port that is free now, and not the one of the previous call. */
export const freePort = async (): Promise<number> => {
  for (let tried = 0; tried < PORTS; tried++) {
    const port = FIRST_PORT + asked++ % PORTS
    if (await isFree(port)) return port
  }
  throw new Error(`no port from ${FIRST_PORT} to ${FIRST_PORT + PORTS - 1} is free`)
}
