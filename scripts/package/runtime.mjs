// The Node.js that goes into the packages: that of scripts/runtime, whichever runs this.

import { readFileSync } from "node:fs"
import { join } from "node:path"
import { installRuntime, programOf } from "../runtime/install.mjs"

const folder = installRuntime()

/** The program, its version and its licence. */
export const runtime = {
  program: programOf(folder),
  version: JSON.parse(readFileSync(join(folder, "package.json"), "utf8")).version,
  licence: join(folder, "LICENSE")
}
