// The Node.js that goes into the packages: that of scripts/runtime, whichever runs this.

import { join } from "node:path"
import { installedVersion, installRuntime, programOf } from "../runtime/install.mjs"

const folder = installRuntime()

/** The program, its version and its licence. */
export const runtime = {
  program: programOf(folder),
  version: installedVersion(folder),
  licence: join(folder, "LICENSE")
}

/** Node.js in a list of contents. */
export const runtimeComponent = {
  "bom-ref": `node@${runtime.version}`,
  type: "platform",
  name: "node",
  version: runtime.version,
  purl: `pkg:generic/node@${runtime.version}`,
  licenses: [{ license: { id: "MIT" } }]
}
