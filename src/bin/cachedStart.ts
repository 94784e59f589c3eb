import { createHash } from "node:crypto"
import {
  closeSync,
  existsSync,
  fstatSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync
} from "node:fs"
import { createRequire } from "node:module"
import { basename, dirname, join } from "node:path"
import { fileURLToPath } from "node:url"
import { Script } from "node:vm"

/**
 * Runs a program of one file with what V8 compiled of it at an earlier start: to compile it again is a third of the work of
 * a start. The build puts this file between the one that a user starts and the program; it loads nothing of svcd.
 */

const DIGEST_BYTES = 32
/** Milliseconds after which kept code is removed. */
const OLD = 30 * 86_400_000

const digestOf = (...parts: ReadonlyArray<string | Uint8Array>): Buffer =>
  parts.reduce((hash, part) => hash.update(part), createHash("sha256")).digest()

/**
 * The directory of kept code; `undefined` if nothing is kept. A new one is for the user alone; in one that exists, `readKept`
 * refuses files that others own or can write.
 */
const cacheFolder = (env: NodeJS.ProcessEnv): string | undefined => {
  const { HOME = "", NODE_DISABLE_COMPILE_CACHE = "", XDG_CACHE_HOME = "" } = env
  const base = XDG_CACHE_HOME !== "" ? XDG_CACHE_HOME : HOME === "" ? "" : join(HOME, ".cache")
  return NODE_DISABLE_COMPILE_CACHE !== "" || base === "" ? undefined : join(base, "svcd")
}

/** The kept code; `undefined` if there is none, if it is damaged, or if another user may have written it. */
const readKept = (path: string): Buffer | undefined => {
  let descriptor: number | undefined
  try {
    descriptor = openSync(path, "r")
    const { mode, uid } = fstatSync(descriptor)
    if ((mode & 0o022) !== 0 || (process.getuid !== undefined && uid !== process.getuid())) return undefined
    const kept = readFileSync(descriptor)
    const code = kept.subarray(DIGEST_BYTES)
    return digestOf(code).equals(kept.subarray(0, DIGEST_BYTES)) ? code : undefined
  } catch {
    return undefined
  } finally {
    if (descriptor !== undefined) closeSync(descriptor)
  }
}

/** Keeps the code for the next start, and removes code that was written more than a month ago. Makes it only if it can be written. */
const keep = (path: string, makeCode: () => Buffer): void => {
  try {
    const folder = dirname(path)
    // One after the other: below /proc, a recursive call never ends.
    for (const each of [dirname(folder), folder]) if (!existsSync(each)) mkdirSync(each, { mode: 0o700 })
    const draft = `${path}.${process.pid}`
    writeFileSync(draft, "", { flag: "wx", mode: 0o600 })
    const code = makeCode()
    writeFileSync(draft, Buffer.concat([digestOf(code), code]))
    renameSync(draft, path)
    for (
      const name of readdirSync(folder).filter((each) => /^svcd(-cli)?-([a-z]+-)?[0-9a-f]{32}(\.\d+)?$/.test(each))
    ) {
      const other = join(folder, name)
      if (Date.now() - statSync(other).mtimeMs > OLD) rmSync(other)
    }
  } catch {
    // A full disk, or a directory that cannot be written: the next start compiles again.
  }
}

/** What the build tells of a program. */
export interface Kept {
  /** Of the file that a user starts. */
  readonly url: string
  /** Of the program. */
  readonly digest: string
  /** The commands of the program. */
  readonly commands: ReadonlyArray<string>
}

/**
 * Runs the program in CommonJS beside a file, such as svcd-cli.main.cjs beside svcd-cli.js, and returns what it exports. Its text is
 * ASCII. V8 keeps the functions that ran: for a program with commands those of each command alone, which the first argument that is
 * the name of one chooses, and calls of methods share one. A wrong choice costs time alone.
 *
 * `keepWhen` calls its argument, at most once, when what a start needs has run; if omitted, it is the end of the process.
 */
export const runCached = (
  { commands, digest, url }: Kept,
  keepWhen: (run: () => void) => void = (run) => void process.once("exit", run)
): unknown => {
  const program = basename(fileURLToPath(url), ".js")
  const main = join(dirname(fileURLToPath(url)), `${program}.main.cjs`)
  const source = readFileSync(main, "latin1").replace(/^#!.*/, "")
  const folder = cacheFolder(process.env)
  const id = digestOf(process.version, process.arch, digest).toString("hex").slice(0, 32)
  const command = process.argv.slice(2).find((word) => commands.includes(word))
  const name = command === undefined ? `${program}-${id}` : `${program}-${command}-${id}`
  const path = folder === undefined ? undefined : join(folder, name)
  const cachedData = path === undefined ? undefined : readKept(path)
  const script = new Script(`(function (require, module, exports, __filename, __dirname) {${source}\n})`, {
    cachedData,
    filename: main
  })
  if (path !== undefined && (cachedData === undefined || script.cachedDataRejected === true)) {
    keepWhen(() => keep(path, () => script.createCachedData()))
  }
  const module = { exports: {} }
  script.runInThisContext()(createRequire(main), module, module.exports, main, dirname(main))
  return module.exports
}
