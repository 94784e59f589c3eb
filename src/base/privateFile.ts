import { chmodSync, closeSync, existsSync, openSync, statSync } from "node:fs"

/** Files in the data directory are for their owner only, whatever the umask of the process. */
export const PRIVATE_FILE = 0o600

/**
 * Makes a file private that SQLite is about to open. A missing file is created with mode 600. Group and others lose
 * their permissions on an existing file, which an earlier version may have made. SQLite gives the same mode to the
 * files beside it.
 *
 * Errors of the file system are ignored here: SQLite reports them. A file of another user stays as it is. An existing
 * file is not opened here: closing it would drop the locks that this process has on it.
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
