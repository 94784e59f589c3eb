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
 * Runs a bundled program with V8's compiled code from an earlier start, because compiling takes a third of the start
 * time. The build puts this file between the file that users start and the program. It loads nothing else of svcd.
 */

const SUM_BYTES = 4

const DAY = 86_400_000
/** Milliseconds after which kept code is removed. */
const OLD = 30 * DAY
/** Milliseconds after which a draft counts as abandoned. */
const OLD_DRAFT = DAY

/**
 * CRC-32, which detects damage. It cannot detect forged code, which could include a valid sum; the checks of owner and
 * mode prevent that. A digest would add 3 ms to each start, to load Node's crypto module.
 */
const sumOf = (content: string | Uint8Array): Buffer => {
  const sum = Buffer.alloc(SUM_BYTES)
  sum.writeUInt32BE(crc32(content))
  return sum
}

/**
 * The cache directory; `undefined` for no cache. A systemd service has its own (`CacheDirectory=`). Relative paths are
 * ignored, as the XDG specification requires. New directories are private. `keep` does not write to a directory that
 * other users own or can write to, and `readKept` refuses such files.
 */
const cacheFolder = (env: NodeJS.ProcessEnv): string | undefined => {
  const { CACHE_DIRECTORY = "", HOME = "", NODE_DISABLE_COMPILE_CACHE = "", XDG_CACHE_HOME = "" } = env
  if (NODE_DISABLE_COMPILE_CACHE !== "") return undefined
  const [ofService = ""] = CACHE_DIRECTORY.split(":")
  if (isAbsolute(ofService)) return ofService
  if (isAbsolute(XDG_CACHE_HOME)) return join(XDG_CACHE_HOME, "svcd")
  return isAbsolute(HOME) ? join(HOME, ".cache", "svcd") : undefined
}

/** Whether the user owns it, and nobody else can write to it. */
const isOwn = ({ mode, uid }: Stats): boolean =>
  (mode & 0o022) === 0 && (process.getuid === undefined || uid === process.getuid())

/** `undefined` if the file is missing or damaged, or if another user may have written it. */
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

/** Writes a draft, which then replaces the old code. Calls `makeCode` only if the draft can be written. */
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
    // One level at a time, because a recursive mkdir below /proc never returns.
    for (const each of [dirname(folder), folder]) {
      if (existsSync(each)) continue
      // With `sudo` and the user's HOME, a directory owned by root would block the user's own cache.
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
  /** Digest of the program, at least 24 hexadecimal digits. */
  readonly digest: string
  /** The commands of the program. */
  readonly commands: ReadonlyArray<string>
}

/**
 * Runs the CommonJS program beside a file, such as svcd-cli.main.cjs beside svcd-cli.cjs, and returns its exports. Its
 * source is ASCII. V8 keeps only functions that ran, so each command has its own file, chosen by the first argument
 * that is a command. RPC calls share one file. A wrong choice only costs time.
 *
 * `keepWhen` receives the function that writes the cache, and calls it at most once, when the start is complete. By
 * default, it runs at the end of the process.
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
