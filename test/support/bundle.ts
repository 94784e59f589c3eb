import { buildSync } from "esbuild"
import { chmodSync, existsSync, mkdirSync, mkdtempSync, renameSync, rmSync } from "node:fs"
import { basename, dirname } from "node:path"
import { fileURLToPath } from "node:url"

const program = (name: string): URL => new URL(`../../build/src/bin/${name}.js`, import.meta.url)

/** The programs, and what they start by its file name. */
const ENTRIES = {
  svcd: program("svcd"),
  "svcd-cli": program("svcd-cli"),
  "svcd-wallet": program("svcd-wallet"),
  "svcd-mail": program("svcd-mail"),
  verifyWorker: new URL("../../build/src/chain/write/verifyWorker.js", import.meta.url),
  backgroundWorker: new URL("../../build/src/chain/background/backgroundWorker.js", import.meta.url),
  linkWorker: new URL("../../build/src/light/linkWorker.js", import.meta.url),
  setWorker: new URL("../../build/src/chain/indexes/setWorker.js", import.meta.url)
}

/** Native code. */
const EXTERNAL = ["better-sqlite3", "secp256k1"]

/** Packages in CommonJS load Node's modules by this name. */
const BANNER = `import { createRequire as from } from "node:module"; const require = from(import.meta.url);`

/** Where a run of the tests, which its shared directory identifies, has its bundles: below the packages that they load. */
export const bundleOf = (sharedDirectory: string): string =>
  fileURLToPath(new URL(`../../build/bundle/${basename(sharedDirectory)}`, import.meta.url))

/**
 * The programs of the build in few files, bundled once a run: loading a thousand modules is half of the work of a start, and
 * the tests start nodes more than a hundred times. The tests of `npm run crash` and of `check-docs` run the build itself.
 */
export const bundled = (sharedDirectory: string): string => {
  const bundle = bundleOf(sharedDirectory)
  if (existsSync(bundle)) return bundle
  mkdirSync(dirname(bundle), { recursive: true })
  const draft = mkdtempSync(`${bundle}-`)
  // Some tests run a node as another user.
  chmodSync(draft, 0o755)
  buildSync({
    entryPoints: Object.fromEntries(Object.entries(ENTRIES).map(([name, file]) => [name, fileURLToPath(file)])),
    external: EXTERNAL,
    banner: { js: BANNER },
    outdir: draft,
    bundle: true,
    splitting: true,
    platform: "node",
    format: "esm",
    target: "node20",
    logLevel: "warning"
  })
  try {
    renameSync(draft, bundle)
  } catch (error) {
    rmSync(draft, { recursive: true })
    // Another process was faster; its files are as good.
    if (!existsSync(bundle)) throw error
  }
  return bundle
}
