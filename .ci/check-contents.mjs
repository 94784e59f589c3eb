// Checks the list of contents of the packages: that it has the form of CycloneDX 1.5 as far as svcd uses it, and every package that
// is in the unpacked archive: those of the files of licences, those below node_modules, and Node.js.
// Usage: check-contents.mjs LIST FOLDER

import * as Either from "effect/Either"
import * as ParseResult from "effect/ParseResult"
import * as Schema from "effect/Schema"
import { readdirSync, readFileSync } from "node:fs"
import { basename, dirname, join } from "node:path"

const [list, folder] = process.argv.slice(2)
if (list === undefined || folder === undefined) throw new Error("usage: check-contents.mjs LIST FOLDER")

const Text = Schema.NonEmptyTrimmedString
/** `scheme:type/namespace/name@version`; the namespace of npm begins with an escaped @. */
const Purl = Schema.String.pipe(Schema.pattern(/^pkg:(npm|generic)\/(%40[\w.-]+\/)?[\w.-]+@[\w.+-]+(\?.*)?$/))
const Licence = Schema.Union(
  Schema.Struct({ license: Schema.Union(Schema.Struct({ id: Text }), Schema.Struct({ name: Text })) }),
  Schema.Struct({ expression: Text })
)

const Component = Schema.Struct({
  "bom-ref": Text,
  type: Schema.Literal("library", "platform", "application"),
  name: Text,
  version: Text,
  purl: Purl,
  licenses: Schema.NonEmptyArray(Licence),
  hashes: Schema.optional(Schema.Array(
    Schema.Struct({
      alg: Schema.Literal("SHA-1", "SHA-256", "SHA-512"),
      content: Schema.String.pipe(Schema.pattern(/^([0-9a-f]{40}|[0-9a-f]{64}|[0-9a-f]{128})$/))
    })
  ))
})

const Contents = Schema.Struct({
  bomFormat: Schema.Literal("CycloneDX"),
  specVersion: Schema.Literal("1.5"),
  serialNumber: Schema.String.pipe(
    Schema.pattern(/^urn:uuid:[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/)
  ),
  version: Schema.Int.pipe(Schema.positive()),
  metadata: Schema.Struct({
    timestamp: Schema.String.pipe(Schema.pattern(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/)),
    component: Component
  }),
  components: Schema.NonEmptyArray(Component),
  dependencies: Schema.Array(Schema.Struct({ ref: Text, dependsOn: Schema.optional(Schema.Array(Text)) }))
})

const files = readdirSync(folder, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile())
  .map((entry) => join(entry.parentPath, entry.name))

/** The packages whose code is in a bundle, as `name@version`. */
const bundled = files.filter((file) => basename(file) === "LICENCES.txt").flatMap((file) =>
  [...readFileSync(file, "utf8").matchAll(/(?:^|-{80}\n\n)(\S+) (\S+) \(/g)].map(([, name, version]) =>
    `${name}@${version}`
  )
)
const installed = files.filter((file) =>
  /\/node_modules\/(@[^/]+\/)?[^/@]+$/.test(dirname(file)) && basename(file) === "package.json"
)
  .map((file) => JSON.parse(readFileSync(file, "utf8"))).map(({ name, version }) => `${name}@${version}`)

const purlOf = (id) => `pkg:npm/${id.replace(/^@/, "%40")}`

const decoded = Schema.decodeUnknownEither(Contents, { errors: "all" })(JSON.parse(readFileSync(list, "utf8")))
const problems = Either.match(decoded, {
  onLeft: (error) => [ParseResult.TreeFormatter.formatErrorSync(error)],
  onRight: ({ components, dependencies, metadata }) => {
    const purls = new Set(components.map(({ purl }) => purl))
    const refs = [metadata.component, ...components].map((each) => each["bom-ref"])
    const known = new Set(refs)
    return [
      ...[...new Set([...bundled, ...installed])].filter((id) => !purls.has(purlOf(id)))
        .map((id) => `the archive has ${id}, and the list has not`),
      ...(bundled.length === 0 ? ["the archive has no file of licences"] : []),
      ...([...purls].some((purl) => purl.startsWith("pkg:generic/node@")) ? [] : ["the list has no Node.js"]),
      ...(known.size === refs.length ? [] : ["two components have the same bom-ref"]),
      ...dependencies.flatMap(({ dependsOn = [], ref }) => [ref, ...dependsOn]).filter((ref) => !known.has(ref))
        .map((ref) => `dependencies name ${ref}, which is not a component`)
    ]
  }
})
if (problems.length > 0) {
  console.error(problems.join("\n"))
  process.exitCode = 1
} else {
  console.log(`${list}: CycloneDX, with all ${new Set([...bundled, ...installed]).size} packages of the archive`)
}
