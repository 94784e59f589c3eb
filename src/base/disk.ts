import * as fs from "node:fs"
import { promisify } from "node:util"

/**
 * The calls that change files or make them durable, and those that the system's thread pool answers. Reads that block
 * the event loop use `node:fs`. All functions throw system errors.
 */

/** Work for the thread pool, in both forms. */
export interface DiskCall<A> {
  /** Name of the Node.js function. */
  readonly name: string
  /** A path or a descriptor; nothing for a function of `node:crypto`. */
  readonly on?: string | number
  /** Blocks the event loop. */
  readonly now: () => A
  readonly later: () => Promise<A>
}

/** Where files are written. Only `useVirtual` replaces it. */
export interface Disk {
  /** Returns how many bytes were written, perhaps fewer than all. Without a position, after those written before. */
  readonly write: (descriptor: number, bytes: Uint8Array, position: number | null) => number
  readonly sync: (descriptor: number) => void
  readonly truncate: (descriptor: number, to: { readonly size: number }) => void
  readonly rename: (from: string, to: string) => void
  readonly aside: <A>(call: DiskCall<A>) => Promise<A>
}

export const systemDisk: Disk = {
  write: (descriptor, bytes, position) => fs.writeSync(descriptor, bytes, 0, bytes.length, position),
  sync: fs.fsyncSync,
  truncate: (descriptor, { size }) => fs.ftruncateSync(descriptor, size),
  rename: fs.renameSync,
  aside: ({ later }) => later()
}

let disk = systemDisk

export const replaceDisk = (other: Disk): Disk => {
  const replaced = disk
  disk = other
  return replaced
}

/** At a position, or after the bytes written before. */
export const writeAll = (descriptor: number, bytes: Uint8Array, position: number | null = null): void => {
  for (let done = 0; done < bytes.length;) {
    done += disk.write(descriptor, bytes.subarray(done), position === null ? null : position + done)
  }
}

export const syncFile = (descriptor: number): void => disk.sync(descriptor)

export const truncateFile = (descriptor: number, to: { readonly size: number }): void => disk.truncate(descriptor, to)

export const renameFile = ({ from, to }: { readonly from: string; readonly to: string }): void => disk.rename(from, to)

const [closeLater, fsyncLater, openLater, readLater, renameLater, rmLater, writeLater] = [
  promisify(fs.close),
  promisify(fs.fsync),
  promisify(fs.open),
  promisify(fs.read),
  promisify(fs.rename),
  promisify(fs.rm),
  promisify(fs.write)
]

/** Runs work on the thread pool, as do all functions below. */
export const doAside = <A>(call: DiskCall<A>): Promise<A> => disk.aside(call)

export const syncAside = (descriptor: number): Promise<void> =>
  disk.aside({ name: "fsync", on: descriptor, now: () => disk.sync(descriptor), later: () => fsyncLater(descriptor) })

export const renameAside = ({ from, to }: { readonly from: string; readonly to: string }): Promise<void> =>
  disk.aside({ name: "rename", on: to, now: () => disk.rename(from, to), later: () => renameLater(from, to) })

const writeAllLater = async (descriptor: number, bytes: Uint8Array): Promise<void> => {
  for (let done = 0; done < bytes.length;) {
    done += (await writeLater(descriptor, bytes, done, bytes.length - done, null)).bytesWritten
  }
}

/** After the bytes written before. */
export const writeAside = (descriptor: number, bytes: Uint8Array): Promise<void> =>
  disk.aside({
    name: "write",
    on: descriptor,
    now: () => writeAll(descriptor, bytes),
    later: () => writeAllLater(descriptor, bytes)
  })

/** `mode` is that of a new file. */
export const openAside = (
  path: string,
  { flags, mode }: { readonly flags: string | number; readonly mode?: number }
): Promise<number> =>
  disk.aside({
    name: "open",
    on: path,
    now: () => fs.openSync(path, flags, mode),
    later: () => openLater(path, flags, mode)
  })

export const closeAside = (descriptor: number): Promise<void> =>
  disk.aside({
    name: "close",
    on: descriptor,
    now: () => fs.closeSync(descriptor),
    later: () => closeLater(descriptor)
  })

/** Fills the bytes from a position, or from where the last read ended. Returns how many there were. */
export const readAside = (descriptor: number, bytes: Uint8Array, position: number | null = null): Promise<number> =>
  disk.aside({
    name: "read",
    on: descriptor,
    now: () => fs.readSync(descriptor, bytes, 0, bytes.length, position),
    later: () => readLater(descriptor, bytes, 0, bytes.length, position).then(({ bytesRead }) => bytesRead)
  })

/** No-op for a missing file. */
export const removeAside = (path: string): Promise<void> =>
  disk.aside({
    name: "rm",
    on: path,
    now: () => fs.rmSync(path, { force: true }),
    later: () => rmLater(path, { force: true })
  })

const ofPath = <A>(name: string, now: (path: string) => A, later: (path: string) => Promise<A>) =>
(
  path: string
): Promise<A> => disk.aside({ name, on: path, now: () => now(path), later: () => later(path) })

/** Fails for a missing file. */
export const unlinkAside = ofPath("unlink", fs.unlinkSync, promisify(fs.unlink))

/** For small files of the node. For one that a caller names, use `readGiven`. */
export const fileAside = ofPath("readFile", (path) => fs.readFileSync(path), fs.promises.readFile)

export const entriesAside = ofPath("readdir", (path) => fs.readdirSync(path), (path) => fs.promises.readdir(path))

export const statAside = ofPath("stat", (path) => fs.statSync(path), (path) => fs.promises.stat(path))

/** As `statAside`, but of a link itself. */
export const lstatAside = ofPath("lstat", (path) => fs.lstatSync(path), (path) => fs.promises.lstat(path))

export const realPathAside = ofPath(
  "realpath",
  (path) => fs.realpathSync(path),
  (path) => fs.promises.realpath(path)
)

/** Bytes of the file system that this process may still write. */
export const freeAside = ofPath(
  "statfs",
  (path) => bytesFree(fs.statfsSync(path)),
  (path) => fs.promises.statfs(path).then(bytesFree)
)

const bytesFree = ({ bavail, bsize }: { readonly bavail: number; readonly bsize: number }): number => bavail * bsize
