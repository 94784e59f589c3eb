import { Effect } from "effect"
import { spawnSync } from "node:child_process"
import { closeSync, existsSync, mkdtempSync, openSync, rmSync, writeSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"

/** Full disks: a file system in memory where that is permitted, and a limit on the size of files elsewhere. */

const mount = (...args: ReadonlyArray<string>): boolean => spawnSync("mount", args).status === 0

/** A small disk for one test. */
export interface SmallDisk {
  readonly path: string
  /** Changes mount options: `size=64m`, `ro`. */
  readonly remount: (options: string) => void
  /** Writes until no room is left; returns the file to delete. */
  readonly fill: () => string
}

const open = (size: string): SmallDisk | undefined => {
  const path = mkdtempSync(join(tmpdir(), "svcd-disk-"))
  if (!mount("-t", "tmpfs", "-o", `size=${size},mode=0700`, "svcd-test", path)) {
    rmSync(path, { recursive: true })
    return undefined
  }
  return {
    path,
    remount: (options) => {
      if (!mount("-o", `remount,${options}`, path)) throw new Error(`${path} cannot be remounted with ${options}`)
    },
    fill: () => {
      const file = join(path, "filler")
      const descriptor = openSync(file, "w")
      try {
        for (let size = 65_536; size >= 1;) {
          try {
            writeSync(descriptor, Buffer.alloc(size))
          } catch {
            size = Math.floor(size / 2)
          }
        }
      } finally {
        closeSync(descriptor)
      }
      return file
    }
  }
}

const close = ({ path }: SmallDisk): void => {
  spawnSync("umount", ["-l", path])
  rmSync(path, { recursive: true, force: true })
}

/** A small disk that is removed with the scope. */
export const smallDisk = (size: string) =>
  Effect.acquireRelease(
    Effect.sync(() => {
      const disk = open(size)
      if (disk === undefined) throw new Error("a file system in memory cannot be mounted")
      return disk
    }),
    (disk) => Effect.sync(() => close(disk))
  )

/** Whether this user may mount. */
export const canMount = ((): boolean => {
  const disk = open("64k")
  if (disk !== undefined) close(disk)
  return disk !== undefined
})()

/** Whether there is a shell that can limit what a program may write. */
export const canLimit = existsSync("/bin/bash")

/** Runs a program that cannot make a file larger than so many kB; a write beyond that fails as on a full disk. */
export const withFileLimit = (kilobytes: number): ReadonlyArray<string> => [
  "/bin/bash",
  "-c",
  `trap '' XFSZ; ulimit -f ${kilobytes}; exec "$@"`,
  "bash"
]

const ORDINARY_USER = "65534"

/** The command prefix that runs a program as a user that cannot write read-only files; `undefined` where it fails. */
export const asOrdinaryUser = ((): ReadonlyArray<string> | undefined => {
  if (process.getuid?.() !== 0) return []
  const under = ["setpriv", `--reuid=${ORDINARY_USER}`, `--regid=${ORDINARY_USER}`, "--clear-groups"]
  const [command = "", ...args] = [...under, process.execPath, "--version"]
  return spawnSync(command, args).status === 0 ? under : undefined
})()

/** Gives a directory to the user of `asOrdinaryUser`. */
export const handOver = (path: string): void => {
  if (process.getuid?.() === 0) spawnSync("chown", ["-R", `${ORDINARY_USER}:${ORDINARY_USER}`, path])
}
