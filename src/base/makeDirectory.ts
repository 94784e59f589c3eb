import { existsSync, mkdirSync, statSync } from "node:fs"
import { dirname } from "node:path"

/** For the owner alone. */
export const DIRECTORY_MODE = 0o700

const isDirectory = (path: string): boolean => statSync(path, { throwIfNoEntry: false })?.isDirectory() === true

/**
 * Makes a directory, and those above it that are missing, unless it is there. Throws as `node:fs` does. That has a mode
 * of its own for this, which never comes back where an existing directory takes none, as under /proc (Node.js 20).
 * Returns the uppermost directory that it made, `undefined` where it made none.
 */
export const makeDirectory = (path: string): string | undefined => {
  if (isDirectory(path)) return undefined
  const above = dirname(path)
  const made = existsSync(above) ? undefined : makeDirectory(above)
  try {
    mkdirSync(path, { mode: DIRECTORY_MODE })
    return made ?? path
  } catch (error) {
    // Somebody else may have made it meanwhile.
    if (!isDirectory(path)) throw error
    return made
  }
}
