import { existsSync, mkdirSync, statSync } from "node:fs"
import { dirname } from "node:path"

/** For the owner only. */
export const DIRECTORY_MODE = 0o700

const isDirectory = (path: string): boolean => statSync(path, { throwIfNoEntry: false })?.isDirectory() === true

/**
 * Creates a directory and its missing parents. Returns the topmost new one, `undefined` if none. The `recursive` option
 * of `node:fs` hangs below a directory that accepts no entries, such as /proc (Node.js 20).
 */
export const makeDirectory = (path: string): string | undefined => {
  if (isDirectory(path)) return undefined
  const above = dirname(path)
  const made = existsSync(above) ? undefined : makeDirectory(above)
  try {
    mkdirSync(path, { mode: DIRECTORY_MODE })
    return made ?? path
  } catch (error) {
    // Another process may have made it meanwhile.
    if (!isDirectory(path)) throw error
    return made
  }
}
