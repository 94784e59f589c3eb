// Writes the version of package.json, or the one in SVCD_BUILD_VERSION, into src/version.ts. Usage: set-version.mjs [root]

import { existsSync, readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { fileURLToPath } from "node:url"

const root = process.argv[2] ?? fileURLToPath(new URL("..", import.meta.url))
const file = join(root, "src", "version.ts")
const given = process.env.SVCD_BUILD_VERSION
const version = given ?? JSON.parse(readFileSync(join(root, "package.json"), "utf8")).version

if (typeof version !== "string" || !/^\d+\.\d+\.\d+(-[0-9A-Za-z.-]+)?(\+[0-9A-Za-z.-]+)?$/.test(version)) {
  console.error(
    `${given === undefined ? "package.json" : "SVCD_BUILD_VERSION"}: ${JSON.stringify(version)} is not a version`
  )
  process.exit(1)
}

const text = `/** The version of this build; written by scripts/set-version.mjs from package.json. */
export const version = ${JSON.stringify(version)}
`

// An unchanged file is not written, so that a build without a change touches nothing.
if (!existsSync(file) || readFileSync(file, "utf8") !== text) writeFileSync(file, text)
