// Puts the Node.js that package-lock.json beside this file pins into node_modules/.bin of the project, where npm and scripts/* take it
// first, if the one that runs this is too old. It must itself run on such a one. Usage: install.mjs [--pinned], which takes the pinned one
// in any case.

import { spawnSync } from "node:child_process"
import { linkSync, mkdirSync, readFileSync, realpathSync, rmSync, symlinkSync } from "node:fs"
import { dirname, join, relative } from "node:path"
import { fileURLToPath } from "node:url"

const HERE = dirname(fileURLToPath(import.meta.url))
const PROJECT = join(HERE, "../..")

const readJson = (file) => JSON.parse(readFileSync(file, "utf8"))

const OLDEST = readJson(join(PROJECT, "package.json")).engines.node.replace(/^>=/, "")

const numbersOf = (version) => version.replace(/^v/, "").split(".").map(Number)

const isSupported = (version) => {
  const [major, minor] = numbersOf(version)
  const [oldest, oldestMinor] = numbersOf(OLDEST)
  return major > oldest || (major === oldest && minor >= oldestMinor)
}

/** The package with the Node.js of this platform, as their author names them. */
const packageName = () => {
  const system = process.platform === "win32" ? "win" : process.platform
  const prefix = process.platform === "darwin" && process.arch === "arm64" ? "node-bin" : "node"
  return `${prefix}-${system}-${process.arch}`
}

/** The version of an installed package; `undefined` if there is none. */
export const installedVersion = (folder) => {
  try {
    // Some of them have a `v` before the number in their own file.
    return readJson(join(folder, "package.json")).version.replace(/^v/, "")
  } catch {
    return undefined
  }
}

/** What is wrong, as a sentence for the operator. */
export class NoRuntime extends Error {}

/**
 * The folder of the package with Node.js for this platform, installed below `folder`, which has a package.json and a lock of such
 * packages. npm compares it with the hash of the lock.
 */
export const installRuntime = (folder = HERE) => {
  const name = packageName()
  const version = readJson(join(folder, "package.json")).optionalDependencies[name]
  if (version === undefined) throw new NoRuntime(`npm has none for ${process.platform} on ${process.arch}`)
  const installed = join(folder, "node_modules", name)
  if (installedVersion(installed) !== version) {
    console.error(`Node.js ${version}: installing from npm`)
    const npm = spawnSync("npm", ["ci", "--no-audit", "--no-fund", "--prefer-offline", "--ignore-scripts"], {
      cwd: folder,
      shell: process.platform === "win32",
      stdio: ["ignore", "ignore", "inherit"]
    })
    if (npm.status !== 0 || installedVersion(installed) !== version) {
      throw new NoRuntime(`npm could not install ${name} ${version}`)
    }
  }
  if (spawnSync(programOf(installed), ["--version"]).status !== 0) {
    throw new NoRuntime(`that of npm, ${name} ${version}, does not run on this system`)
  }
  return installed
}

/** The program of an installed package. */
export const programOf = (installed) => join(installed, readJson(join(installed, "package.json")).bin.node)

const linkInto = (bin, program) => {
  mkdirSync(bin, { recursive: true })
  const windows = process.platform === "win32"
  const link = join(bin, windows ? "node.exe" : "node")
  rmSync(link, { force: true })
  // Symbolic links are for administrators there.
  if (windows) linkSync(program, link)
  else symlinkSync(relative(bin, program), link)
}

const main = ([option, ...others]) => {
  if (others.length > 0 || (option !== undefined && option !== "--pinned")) {
    throw new NoRuntime("usage: install.mjs [--pinned]")
  }
  if (option === undefined && isSupported(process.version)) return
  try {
    linkInto(join(PROJECT, "node_modules/.bin"), programOf(installRuntime()))
  } catch (error) {
    if (!(error instanceof NoRuntime)) throw error
    throw new NoRuntime(
      `Node.js ${OLDEST} or newer is needed, and this is ${process.versions.node}; ${error.message}: install one from https://nodejs.org`
    )
  }
}

if (process.argv[1] !== undefined && realpathSync(process.argv[1]) === fileURLToPath(import.meta.url)) {
  try {
    main(process.argv.slice(2))
  } catch (error) {
    if (!(error instanceof NoRuntime)) throw error
    console.error(error.message)
    process.exitCode = 1
  }
}
