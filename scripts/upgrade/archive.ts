import { mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs"
import { dirname, join } from "node:path"
import { brotliCompressSync, brotliDecompressSync, constants } from "node:zlib"

/** The longest window that any decoder accepts: content that two folders share is packed once. */
const PARAMS = { [constants.BROTLI_PARAM_LGWIN]: constants.BROTLI_MAX_WINDOW_BITS }

/** A folder in one file, packed by brotli: a line of JSON with names and sizes, then the contents in that order. */

interface Entry {
  readonly name: string
  readonly size: number
}

const LINE_END = 0x0a

const namesIn = (directory: string, below = ""): ReadonlyArray<string> =>
  readdirSync(join(directory, below), { withFileTypes: true }).flatMap((entry) => {
    const name = below === "" ? entry.name : `${below}/${entry.name}`
    return entry.isDirectory() ? namesIn(directory, name) : [name]
  })

/** The files of a folder, packed. */
export const pack = (directory: string): Buffer => {
  const names = [...namesIn(directory)].sort()
  const contents = names.map((name) => readFileSync(join(directory, name)))
  const entries = names.map((name, i): Entry => ({ name, size: contents[i]?.length ?? 0 }))
  const bytes = Buffer.concat([Buffer.from(`${JSON.stringify(entries)}\n`), ...contents])
  return brotliCompressSync(bytes, { params: { ...PARAMS, [constants.BROTLI_PARAM_SIZE_HINT]: bytes.length } })
}

/** Unpacks the folder. */
export const unpack = (packed: Uint8Array, directory: string): void => {
  const bytes = brotliDecompressSync(packed)
  const end = bytes.indexOf(LINE_END)
  const entries: ReadonlyArray<Entry> = JSON.parse(bytes.toString("utf8", 0, end))
  let at = end + 1
  for (const { name, size } of entries) {
    const file = join(directory, name)
    mkdirSync(dirname(file), { recursive: true, mode: 0o700 })
    writeFileSync(file, bytes.subarray(at, at + size), { mode: 0o600 })
    at += size
  }
}
