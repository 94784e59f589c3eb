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
 * Runs a bundled program with V8 code of an earlier start: compiling is a third of the start time. The build puts this
 * file between the user's file and the program; it loads nothing of svcd.
 */

const SUM_BYTES = 4

const DAY = 86_400_000
/** Milliseconds after which kept code is removed. */
const OLD = 30 * DAY
/** Milliseconds after which a draft counts as abandoned. */
const OLD_DRAFT = DAY

/**
 * CRC-32, to find damage. Against forged code, which could include the sum, only the file's owner and mode help. A
 * digest would take 3 ms of each start, to load Node's module for cryptography.
 */
const sumOf = (content: string | Uint8Array): Buffer => {
  const sum = Buffer.alloc(SUM_BYTES)
  sum.writeUInt32BE(crc32(content))
  return sum
}

/**
 * The directory of kept code; `undefined` to keep none. A systemd service has its own (`CacheDirectory=`). Relative
 * paths do not count, as in the XDG specification. New directories are private. `keep` does not write where others own
 * or can write the directory, and `readKept` refuses such files.
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

/** `undefined` if there is none, if it is damaged, or if another user may have written it. */
const readKept = (path: string): Buffer | undefined => {
  let descriptor: number | undefined
  try {
    // Opening a pipe would wait for its writer. Windows has neither flag.
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

/** Removes the user's old code, and drafts of interrupted starts. */
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

/** Writes a draft, which then replaces the kept code. Makes the code only if it can be written. */
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

const keep = (path: string, makeCode: () => Buffer): void => {
  try {
    const folder = dirname(path)
    // One after the other: below /proc, a recursive call never ends.
    for (const each of [dirname(folder), folder]) {
      if (existsSync(each)) continue
      // With `sudo` and a user's HOME, a directory of root would obstruct the user's own starts.
      if (process.getuid?.() === 0 && statSync(dirname(each)).uid !== 0) return
      mkdirSync(each, { mode: 0o700 })
    }
    if (!isOwn(statSync(folder))) return
    removeOld(folder)
    replace(path, makeCode)
  } catch {
    // A full disk or an unwritable directory: the next start compiles again.
  }
}

export interface Kept {
  /** The file that a user starts. */
  readonly file: string
  /** Of the program, at least 24 hexadecimal digits. */
  readonly digest: string
  /** The commands of the program. */
  readonly commands: ReadonlyArray<string>
}

/**
 * Runs the program in CommonJS beside a file, such as svcd-cli.main.cjs beside svcd-cli.cjs, and returns its exports.
 * Its text is ASCII. V8 keeps the functions that ran, separately for each command; the first argument that is a
 * command's name decides. Method calls share one. A wrong choice costs only time.
 *
 * `keepWhen` calls its argument, at most once, after everything that a start needs; by default at the end of the
 * process.
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
