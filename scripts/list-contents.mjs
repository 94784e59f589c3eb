// Lists what the package for npm has inside, and what it depends on, beside the bundles: build/sbom.cdx.json. The last step of
// `npm run build`.

import { readFileSync } from "node:fs"
import { join } from "node:path"
import { PROJECT } from "./package/facts.mjs"
import { listContents } from "./package/sbom.mjs"

const { dependencies, peerDependencies } = JSON.parse(readFileSync(join(PROJECT, "package.json"), "utf8"))

listContents({
  bundles: ["bin", "lib", "promise", "verify", "native/secp256k1"],
  file: join(PROJECT, "build/sbom.cdx.json"),
  packages: Object.keys({ ...dependencies, ...peerDependencies })
})
