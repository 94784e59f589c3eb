import { chmodSync, closeSync, existsSync, openSync, statSync } from "node:fs"

/** Files of the data directory are their owner's alone, whatever the umask of the process that holds the node. */
export const PRIVATE_FILE = 0o600

/**
 * Makes a file that SQLite is about to open private: one that is missing is made with mode 600, and others lose their
 * rights to one that is there, as an earlier version made it. SQLite gives the files beside it the mode of the file.
 *
 * What the file system refuses is left to SQLite, which says it in its own words; a file of another user stays as it is.
 * An existing file is not opened here: closing it again would drop the locks that this process has on it.
 */
export const keepPrivate = (filename: string): void => {
  try {
    if (!existsSync(filename)) return closeSync(openSync(filename, "wx", PRIVATE_FILE))
    for (const file of [filename, `${filename}-wal`, `${filename}-shm`]) closeToOthers(file)
  } catch {
    return
  }
}

const closeToOthers = (file: string): void => {
  const mode = statSync(file, { throwIfNoEntry: false })?.mode ?? PRIVATE_FILE
  if ((mode & 0o077) !== 0) chmodSync(file, mode & 0o700)
}
