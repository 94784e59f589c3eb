import { buildSync } from "esbuild"
import { execFileSync } from "node:child_process"
import { chmodSync, existsSync, mkdirSync, mkdtempSync, renameSync, rmSync } from "node:fs"
import { basename, dirname, join } from "node:path"
import { fileURLToPath, pathToFileURL } from "node:url"

const BUNDLER = fileURLToPath(new URL("../../build/scripts/bundle.js", import.meta.url))

/** Where a run of the tests, which its shared directory identifies, has its bundles: below the packages that they load. */
export const bundleOf = (sharedDirectory: string): string =>
  fileURLToPath(new URL(`../../build/bundle/${basename(sharedDirectory)}`, import.meta.url))

export const sourcesOf = (sharedDirectory: string): string => `${bundleOf(sharedDirectory)}-sources`

/** A program of one source file, bundled once a run: it starts in a fraction of the time that its sources take. */
export const bundledSource = (sharedDirectory: string, source: URL): URL => {
  const directory = sourcesOf(sharedDirectory)
  const outfile = join(directory, `${basename(dirname(source.pathname))}-${basename(source.pathname, ".ts")}.mjs`)
  if (!existsSync(outfile)) {
    const draft = `${outfile}.${process.pid}`
    buildSync({
      bundle: true,
      entryPoints: [fileURLToPath(source)],
      external: ["better-sqlite3", "secp256k1"],
      format: "esm",
      logLevel: "error",
      outfile: draft,
      platform: "node",
      target: "node22"
    })
    // Another process may have been faster; its file is as good.
    renameSync(draft, outfile)
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
