// The list of what is inside the packages, in CycloneDX: what npm knows of the packages in the bundles and of those with
// native code, and Node.js.

import { createHash } from "node:crypto"
import { readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { commitTime, PROJECT, run } from "./facts.mjs"
import { runtime } from "./runtime.mjs"

/** The packages that stand in the file of licences of a bundle, as `name version (licence)`. */
const bundled = (folder) =>
  [...readFileSync(join(PROJECT, "build", folder, "LICENCES.txt"), "utf8").matchAll(/(?:^|-{80}\n\n)(\S+) (\S+) \(/g)]
    .map(([, name, version]) => `${name}@${version}`)

const NATIVE = ["better-sqlite3", "zeromq", "cmake-ts", "secp256k1"]

/** Writes the list. Returns its path. */
export const listContents = (file) => {
  const found = JSON.parse(run("npm", ["sbom", "--sbom-format", "cyclonedx"]))
  const inside = new Set([...bundled("bin"), ...bundled("native/secp256k1")])
  const nameOf = ({ group, name }) => group === undefined ? name : `${group}/${name}`
  const components = found.components.filter((part) =>
    inside.has(`${nameOf(part)}@${part.version}`) || NATIVE.includes(nameOf(part))
  ).map(({ properties: _, ...part }) => part)
  const missing = [...inside].filter((id) => !components.some((part) => `${nameOf(part)}@${part.version}` === id))
  if (missing.length > 0) throw new Error(`npm sbom does not know ${missing.join(", ")}`)
  const node = {
    "bom-ref": `node@${runtime.version}`,
    type: "platform",
    name: "node",
    version: runtime.version,
    purl: `pkg:generic/node@${runtime.version}`,
    licenses: [{ license: { id: "MIT" } }]
  }
  const kept = new Set([...components.map((part) => part["bom-ref"]), found.metadata.component["bom-ref"]])
  const dependencies = found.dependencies.filter(({ ref }) => kept.has(ref))
    .map(({ dependsOn = [], ref }) => ({ ref, dependsOn: dependsOn.filter((other) => kept.has(other)) }))
  const { serialNumber: _, ...others } = found
  const list = {
    ...others,
    metadata: {
      ...found.metadata,
      component: { ...found.metadata.component, name: "svcd" },
      timestamp: new Date(commitTime * 1000).toISOString()
    },
    components: [...components, node].sort((a, b) => a["bom-ref"].localeCompare(b["bom-ref"], "en")),
    dependencies
  }
  // npm's own number is random: this one is the same for the same contents.
  const hex = createHash("sha256").update(JSON.stringify(list)).digest("hex")
  const uuid = `${hex.slice(0, 8)}-${hex.slice(8, 12)}-5${hex.slice(13, 16)}-a${hex.slice(17, 20)}-${hex.slice(20, 32)}`
  writeFileSync(file, `${JSON.stringify({ serialNumber: `urn:uuid:${uuid}`, ...list }, null, 2)}\n`)
  return file
}
