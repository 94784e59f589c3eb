// Bundles the programs, one file each: loading a thousand modules is half of the work of a start. The library stays as it is
// compiled. `npm run build` calls this after the compiler. Usage: bundle.js FOLDER, below the packages that they load.

import { buildSync } from "esbuild"
import { readdirSync, readFileSync, writeFileSync } from "node:fs"
import { join, resolve } from "node:path"
import process from "node:process"
import { fileURLToPath } from "node:url"

const ROOT = fileURLToPath(new URL("../../", import.meta.url))

const program = (name: string): URL => new URL(`../src/bin/${name}.js`, import.meta.url)

/** The programs, and the worker threads that they start: a program looks for its threads in its own folder. */
const ENTRIES = [
  program("svcd"),
  program("svcd-cli"),
  program("svcd-wallet"),
  program("svcd-mail"),
  new URL("../src/chain/background/backgroundWorker.js", import.meta.url),
  new URL("../src/chain/indexes/setWorker.js", import.meta.url),
  new URL("../src/chain/write/verifyWorker.js", import.meta.url),
  new URL("../src/light/linkWorker.js", import.meta.url)
]

/** Native code stays in its package. */
const EXTERNAL = ["better-sqlite3", "secp256k1", "zeromq"]

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

const bundlePrograms = (folder: string): void => {
  const { metafile } = buildSync({
    absWorkingDir: ROOT,
    banner: { js: BANNER },
    bundle: true,
    entryNames: "[name]",
    entryPoints: ENTRIES.map((entry) => fileURLToPath(entry)),
    external: EXTERNAL,
    format: "esm",
    legalComments: "none",
    logLevel: "error",
    metafile: true,
    outdir: resolve(folder),
    platform: "node",
    sourcemap: true,
    sourcesContent: false,
    target: "node20"
  })
  const packages = new Set(Object.keys(metafile.inputs).map(packageOf).filter((name) => name !== undefined))
  const rule = `\n\n${"-".repeat(80)}\n\n`
  writeFileSync(join(folder, LICENCES), `${[...packages].sort().map(licenceOf).join(rule)}\n`)
}

const [folder] = process.argv.slice(2)
if (folder === undefined) throw new Error("usage: bundle.js FOLDER")
bundlePrograms(folder)
