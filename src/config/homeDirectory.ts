import { homedir } from "node:os"

/** The home of a user without one, as Debian's policy names it: it does not exist. */
export const NO_HOME = "/nonexistent"

/** From `HOME`, else of the user; `NO_HOME` if neither is known, as in some containers. */
export const homeDirectory = (): string => {
  try {
    const home = homedir()
    return home === "" ? NO_HOME : home
  } catch {
    return NO_HOME
  }
}
