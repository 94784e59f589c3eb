import { type BuildOptions, buildSync, type Metafile } from "esbuild"
import { readdirSync, readFileSync, writeFileSync } from "node:fs"
import { isBuiltin } from "node:module"
import { join, resolve } from "node:path"
import { fileURLToPath } from "node:url"

/** What bundles have in common. */

export const ROOT = fileURLToPath(new URL("../../../", import.meta.url))

/** The file that the compiler made of a source below src, named without its ending. */
export const compiled = (name: string): string => fileURLToPath(new URL(`../../src/${name}.js`, import.meta.url))

/** The worker threads: a program, and the library, looks for its threads in its own folder. */
export const THREADS = [
  "chain/background/backgroundWorker",
  "chain/indexes/setWorker",
  "chain/write/verifyWorker",
  "light/linkWorker",
  "rpc/reader/readWorker"
]
  .map(compiled)

/** Native code stays in its package. */
export const NATIVE = ["better-sqlite3", "secp256k1", "zeromq"]

/** Native code that bundled packages would use if it were installed; they work without it, and svcd does not install it. */
const UNUSED = ["bufferutil", "pg-native", "utf-8-validate"]

/** Packages in CommonJS load Node's modules by this name. */
const BANNER = `import { createRequire as createRequireOfBundle } from "node:module";
const require = createRequireOfBundle(import.meta.url);`

/** The file with the licences of the packages whose code is in the bundles. */
const LICENCES = "LICENCES.txt"

/** The folder of the package that a file of node_modules belongs to. */
const packageOf = (file: string): string | undefined => {
  const parts = file.split("/")
  const at = parts.lastIndexOf("node_modules")
  if (at === -1) return undefined
  return parts.slice(0, at + (parts[at + 1]?.startsWith("@") === true ? 3 : 2)).join("/")
}

const licenceOf = (folder: string): string => {
  const path = join(ROOT, folder)
  const { license, name, version }: Record<string, unknown> = JSON.parse(
    readFileSync(join(path, "package.json"), "utf8")
  )
  const texts = readdirSync(path).filter((file) => /^licen[cs]e(-\w+)?(\.\w+)?$/i.test(file)).sort()
  return [
    `${String(name)} ${String(version)} (${String(license)})`,
    ...texts.map((file) => readFileSync(join(path, file), "utf8").trim())
  ].join("\n\n")
}

/** The name of the package that a bundle imports from. */
export const packageNameOf = (path: string): string => path.split("/").slice(0, path.startsWith("@") ? 2 : 1).join("/")

/** The packages, other than Node's own modules, that the files of a bundle load at run time. */
const loadedBy = ({ outputs }: Metafile): ReadonlyArray<string> =>
  Object.values(outputs).flatMap(({ imports }) => imports)
    .filter(({ external, path }) => external === true && !isBuiltin(path) && !/^[./]/.test(path))
    .map(({ path }) => packageNameOf(path))

/** What the bundles take from package.json. */
interface Manifest {
  readonly bin: Readonly<Record<string, string>>
  readonly dependencies: Readonly<Record<string, string>>
  readonly engines: { readonly node: string }
  readonly exports: Readonly<Record<string, string | { readonly default: string; readonly types: string }>>
  readonly peerDependencies: Readonly<Record<string, string>>
}

export const manifest: Manifest = JSON.parse(readFileSync(join(ROOT, "package.json"), "utf8"))

/**
 * Writes characters beyond ASCII of a bundle as escapes. esbuild leaves them in tagged templates, and one of them doubles the text of
 * the program in memory. No template here reads its raw text.
 */
const toAscii = (file: string): void => {
  const text = readFileSync(file, "utf8")
  // Behind a backslash an escape would say something else.
  if (/\\[^\0-\x7f]/.test(text)) {
    throw new Error(`${file} has an escaped character beyond ASCII: write its escape in the source`)
  }
  const ascii = text.replaceAll(/[^\0-\x7f]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`)
  if (ascii !== text) writeFileSync(file, ascii)
}

/** Bundles into a folder, without the licences; returns the folders of the packages that are inside. */
export const compose = (folder: string, options: BuildOptions): ReadonlyArray<string> => {
  const { external = [], ...others } = options
  const { metafile } = buildSync({
    absWorkingDir: ROOT,
    banner: { js: BANNER },
    bundle: true,
    chunkNames: "[name]-[hash]",
    entryNames: "[name]",
    format: "esm",
    legalComments: "none",
    logLevel: "error",
    outdir: resolve(folder),
    platform: "node",
    sourcemap: true,
    sourcesContent: false,
    target: "node22",
    ...others,
    external: [...NATIVE, ...UNUSED, ...external],
    metafile: true
  })
  for (const file of Object.keys(metafile.outputs)) if (file.endsWith("js")) toAscii(join(ROOT, file))
  const { dependencies, peerDependencies } = manifest
  for (const name of loadedBy(metafile)) {
    if (UNUSED.includes(name)) continue
    if (dependencies[name] === undefined && peerDependencies[name] === undefined) {
      throw new Error(`${folder} loads ${name}, which is not among the dependencies of package.json`)
    }
  }
  return [...new Set(Object.keys(metafile.inputs).map(packageOf).filter((name) => name !== undefined))]
}

export const writeLicences = (folder: string, packages: ReadonlyArray<string>): void => {
  const rule = `\n\n${"-".repeat(80)}\n\n`
  writeFileSync(join(folder, LICENCES), `${packages.toSorted().map(licenceOf).join(rule)}\n`)
}

/** Bundles into a folder that no other bundle shares. */
export const bundle = (folder: string, options: BuildOptions): void => writeLicences(folder, compose(folder, options))
