import { buildSync } from "esbuild"
import { execFileSync } from "node:child_process"
import { chmodSync, existsSync, mkdirSync, mkdtempSync, renameSync, rmSync } from "node:fs"
import { basename, dirname, join } from "node:path"
import { fileURLToPath, pathToFileURL } from "node:url"

const BUNDLER = fileURLToPath(new URL("../../build/scripts/bundle.js", import.meta.url))

/** Where a run of the tests, which its shared directory identifies, has its bundles: below the packages that they load. */
export const bundleOf = (sharedDirectory: string): string =>
  fileURLToPath(new URL(`../../build/bundle/${basename(sharedDirectory)}`, import.meta.url))

export const readerOf = (sharedDirectory: string): string => `${bundleOf(sharedDirectory)}-reader`

/** The program of the read thread, from its sources, once a run. */
export const readProgram = (sharedDirectory: string): URL => {
  const outfile = join(readerOf(sharedDirectory), "readWorker.mjs")
  if (!existsSync(outfile)) {
    buildSync({
      bundle: true,
      entryPoints: [fileURLToPath(new URL("../../src/rpc/reader/readWorker.ts", import.meta.url))],
      external: ["better-sqlite3", "secp256k1"],
      format: "esm",
      logLevel: "error",
      outfile,
      platform: "node",
      target: "node20"
    })
  }
  return pathToFileURL(outfile)
}

/** The programs, bundled once a run from what the compiler wrote last, as `npm run build` bundles them. */
export const bundled = (sharedDirectory: string): string => {
  const bundle = bundleOf(sharedDirectory)
  if (existsSync(bundle)) return bundle
  mkdirSync(dirname(bundle), { recursive: true })
  const draft = mkdtempSync(`${bundle}-`)
  // Some tests run a node as another user.
  chmodSync(draft, 0o755)
  execFileSync(process.execPath, [BUNDLER, draft, "--programs"])
  try {
    renameSync(draft, bundle)
  } catch (error) {
    rmSync(draft, { recursive: true })
    // Another process was faster; its files are as good.
    if (!existsSync(bundle)) throw error
  }
  return bundle
}
