// How much an installation of svcd brings: fails above the goal. Usage: measure-packed.mjs FOLDER

import { readdirSync, readFileSync, statSync } from "node:fs"
import { join } from "node:path"

/** More than this is not what users of a library accept. */
const MOST_PACKAGES = 50
const MOST_MEGABYTES = 120

const folder = process.argv[2] ?? ""
const { packages } = JSON.parse(readFileSync(join(folder, "node_modules/.package-lock.json"), "utf8"))
const count = Object.keys(packages).length

let bytes = 0
for (const entry of readdirSync(join(folder, "node_modules"), { recursive: true, withFileTypes: true })) {
  if (entry.isFile()) bytes += statSync(join(entry.parentPath, entry.name)).size
}

const megabytes = bytes / 1e6
console.log(
  `svcd installs ${count} packages, ${megabytes.toFixed(1)} MB; the goal is ${MOST_PACKAGES} and ${MOST_MEGABYTES}`
)
process.exitCode = count <= MOST_PACKAGES && megabytes <= MOST_MEGABYTES ? 0 : 1
