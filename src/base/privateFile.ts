import { chmodSync, closeSync, existsSync, openSync, statSync } from "node:fs"

/** For the owner only, whatever the umask of the process. */
export const PRIVATE_FILE = 0o600

/**
 * Makes a file private before SQLite opens it. A missing file is created with mode 600; an existing one, perhaps of an
 * earlier version, loses the permissions of group and others. SQLite gives its other files the same mode.
 *
 * Errors are ignored, because SQLite reports them. A file of another user stays. An existing file is not opened here:
 * closing it would drop this process's locks on it.
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
