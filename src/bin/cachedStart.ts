import {
  closeSync,
  constants,
  existsSync,
  fstatSync,
  lstatSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  type Stats,
  statSync,
  writeFileSync
} from "node:fs"
import { createRequire } from "node:module"
import { basename, dirname, isAbsolute, join } from "node:path"
import { Script } from "node:vm"
import { crc32 } from "node:zlib"

/**
 * Runs a program of one file with what V8 compiled of it at an earlier start: to compile it again is a third of the work of
 * a start. The build puts this file between the one that a user starts and the program; it loads nothing of svcd.
 */

const SUM_BYTES = 4

const DAY = 86_400_000
/** Milliseconds after which kept code is removed. */
const OLD = 30 * DAY
/** Milliseconds after which a draft is one that a start did not finish. */
const OLD_DRAFT = DAY

/**
 * The sum that finds damage: CRC-32. It need not resist an author of false code, which could write the sum too; against that stand
 * the owner and the mode of the file. A digest would take 3 ms of each start, to load Node's module for cryptography.
 */
const sumOf = (content: string | Uint8Array): Buffer => {
  const sum = Buffer.alloc(SUM_BYTES)
  sum.writeUInt32BE(crc32(content))
  return sum
}

/**
 * The directory of kept code; `undefined` if nothing is kept. A service of systemd has its own (`CacheDirectory=`). A relative path
 * does not count, as the base directories of XDG say. A new directory is for the user alone. In one that others own or can write,
 * `keep` writes nothing, and in each `readKept` refuses files that others own or can write.
 */
const cacheFolder = (env: NodeJS.ProcessEnv): string | undefined => {
  const { CACHE_DIRECTORY = "", HOME = "", NODE_DISABLE_COMPILE_CACHE = "", XDG_CACHE_HOME = "" } = env
  if (NODE_DISABLE_COMPILE_CACHE !== "") return undefined
  const [ofService = ""] = CACHE_DIRECTORY.split(":")
  if (isAbsolute(ofService)) return ofService
  if (isAbsolute(XDG_CACHE_HOME)) return join(XDG_CACHE_HOME, "svcd")
  return isAbsolute(HOME) ? join(HOME, ".cache", "svcd") : undefined
}

/** Whether the user owns it, and no other may write it. */
const isOwn = ({ mode, uid }: Stats): boolean =>
  (mode & 0o022) === 0 && (process.getuid === undefined || uid === process.getuid())

/** The kept code; `undefined` if there is none, if it is damaged, or if another user may have written it. */
const readKept = (path: string): Buffer | undefined => {
  let descriptor: number | undefined
  try {
    // To open a pipe would wait for its writer. Windows has neither flag.
    descriptor = openSync(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK)
    const stats = fstatSync(descriptor)
    if (!stats.isFile() || !isOwn(stats)) return undefined
    const kept = readFileSync(descriptor)
    const code = kept.subarray(SUM_BYTES)
    return sumOf(code).equals(kept.subarray(0, SUM_BYTES)) ? code : undefined
  } catch {
    return undefined
  } finally {
    if (descriptor !== undefined) closeSync(descriptor)
  }
}

/** Removes the user's code that was written more than a month ago, and drafts of starts that were interrupted. */
const removeOld = (folder: string): void => {
  for (const name of readdirSync(folder)) {
    const draft = /^svcd(?:-cli)?-(?:[a-z]+-)?[0-9a-f]{32}(\.[0-9a-f]+)?$/.exec(name)
    if (draft === null) continue
    const path = join(folder, name)
    const stats = lstatSync(path, { throwIfNoEntry: false })
    if (stats === undefined || !stats.isFile() || !isOwn(stats)) continue
    if (Date.now() - stats.mtimeMs > (draft[1] === undefined ? OLD : OLD_DRAFT)) rmSync(path, { force: true })
  }
}

/** Writes the code into a draft, which then takes the place of what is kept. Makes the code only if it can be written. */
const replace = (path: string, makeCode: () => Buffer): void => {
  const draft = `${path}.${process.pid.toString(16)}${process.hrtime.bigint().toString(16)}`
  const descriptor = openSync(
    draft,
    constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL | constants.O_NOFOLLOW,
    0o600
  )
  try {
    try {
      const code = makeCode()
      writeFileSync(descriptor, Buffer.concat([sumOf(code), code]))
    } finally {
      closeSync(descriptor)
    }
    renameSync(draft, path)
  } catch (error) {
    rmSync(draft, { force: true })
    throw error
  }
}

/** Keeps the code for the next start, and removes what is old. */
const keep = (path: string, makeCode: () => Buffer): void => {
  try {
    const folder = dirname(path)
    // One after the other: below /proc, a recursive call never ends.
    for (const each of [dirname(folder), folder]) {
      if (existsSync(each)) continue
      // With `sudo` and the HOME of a user, a directory of root would be in the way of the user's own starts.
      if (process.getuid?.() === 0 && statSync(dirname(each)).uid !== 0) return
      mkdirSync(each, { mode: 0o700 })
    }
    if (!isOwn(statSync(folder))) return
    removeOld(folder)
    replace(path, makeCode)
  } catch {
    // A full disk, or a directory that cannot be written: the next start compiles again.
  }
}

/** What the build tells of a program. */
export interface Kept {
  /** The path of the file that a user starts. */
  readonly file: string
  /** Of the program, in hexadecimal digits, at least 24. */
  readonly digest: string
  /** The commands of the program. */
  readonly commands: ReadonlyArray<string>
}

/**
 * Runs the program in CommonJS beside a file, such as svcd-cli.main.cjs beside svcd-cli.cjs, and returns what it exports. Its text is
 * ASCII. V8 keeps the functions that ran: for a program with commands those of each command alone, which the first argument that is
 * the name of one chooses, and calls of methods share one. A wrong choice costs time alone.
 *
 * `keepWhen` calls its argument, at most once, when what a start needs has run; if omitted, it is the end of the process.
 */
export const runCached = (
  { commands, digest, file }: Kept,
  keepWhen: (run: () => void) => void = (run) => void process.once("exit", run)
): unknown => {
  const program = basename(file).replace(/\.c?js$/, "")
  const main = join(dirname(file), `${program}.main.cjs`)
  const source = readFileSync(main, "latin1").replace(/^#!.*/, "")
  const folder = cacheFolder(process.env)
  const id = digest.slice(0, 24) + sumOf(`${process.version} ${process.arch}`).toString("hex")
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
