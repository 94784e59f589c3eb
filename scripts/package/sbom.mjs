// The list of what is inside a package, in CycloneDX: what npm knows of the packages in the bundles and of those that are installed
// beside them, and Node.js where it is inside.

import { createHash } from "node:crypto"
import { readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { PROJECT, run } from "./facts.mjs"

/** The packages in the file of licences of a bundle, as `name version (licence)`. */
const bundled = (folder) =>
  [...readFileSync(join(PROJECT, "build", folder, "LICENCES.txt"), "utf8").matchAll(/(?:^|-{80}\n\n)(\S+) (\S+) \(/g)]
    .map(([, name, version]) => `${name}@${version}`)

/**
 * Writes the list: of the bundles in these folders of build, of the packages with these names, and of other components. `time` is that of
 * the list in seconds, and missing where no commit has one. Returns the path.
 */
export const listContents = ({ bundles, file, others: added = [], packages, time }) => {
  const found = JSON.parse(run("npm", ["sbom", "--sbom-format", "cyclonedx"]))
  const inside = new Set(bundles.flatMap(bundled))
  const nameOf = ({ group, name }) => group === undefined ? name : `${group}/${name}`
  const components = found.components.filter((part) =>
    inside.has(`${nameOf(part)}@${part.version}`) || packages.includes(nameOf(part))
  ).map(({ properties: _, ...part }) => part)
  const missing = [...inside].filter((id) => !components.some((part) => `${nameOf(part)}@${part.version}` === id))
  if (missing.length > 0) throw new Error(`npm sbom does not know ${missing.join(", ")}`)
  const kept = new Set([...components.map((part) => part["bom-ref"]), found.metadata.component["bom-ref"]])
  const dependencies = found.dependencies.filter(({ ref }) => kept.has(ref))
    .map(({ dependsOn = [], ref }) => ({ ref, dependsOn: dependsOn.filter((other) => kept.has(other)) }))
  const { metadata: { timestamp: _time, ...metadata }, serialNumber: _, ...others } = found
  const list = {
    ...others,
    metadata: {
      ...metadata,
      component: { ...metadata.component, name: "svcd" },
      ...time === undefined ? {} : { timestamp: new Date(time * 1000).toISOString() }
    },
    components: [...components, ...added].sort((a, b) => a["bom-ref"].localeCompare(b["bom-ref"], "en")),
    dependencies
  }
  // npm's own number is random: this one is the same for the same contents.
  const hex = createHash("sha256").update(JSON.stringify(list)).digest("hex")
  const uuid = `${hex.slice(0, 8)}-${hex.slice(8, 12)}-5${hex.slice(13, 16)}-a${hex.slice(17, 20)}-${hex.slice(20, 32)}`
  writeFileSync(file, `${JSON.stringify({ serialNumber: `urn:uuid:${uuid}`, ...list }, null, 2)}\n`)
  return file
}
