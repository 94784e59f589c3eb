/** The version of this build; written by scripts/set-version.mjs from package.json. */
export const version = "0.2.0"
