import { BlockIndex, NONE } from "../../src/chain/index/BlockIndex.ts"
import { Header, HEADER_SIZE } from "../../src/protocol/header.ts"
import { headerId } from "../../src/protocol/keys.ts"

const HEADERS = 1_000_000

/** Regtest's bits. */
const BITS = 0x207fffff

/** A header on top of `previous`; `number` makes it different from all others. */
const headerBehind = (previous: Uint8Array, number: number): Header => {
  const bytes = new Uint8Array(HEADER_SIZE)
  const view = new DataView(bytes.buffer)
  view.setInt32(0, 1, true)
  bytes.set(previous, 4)
  view.setUint32(36, number, true)
  view.setUint32(68, 1_300_000_000 + 600 * number, true)
  view.setUint32(72, BITS, true)
  view.setUint32(76, number, true)
  return new Header(bytes)
}

/** Heap and buffers in use, after garbage collection where it can be triggered. */
const memory = (): number => {
  globalThis.gc?.()
  const { arrayBuffers, heapUsed } = process.memoryUsage()
  return heapUsed + arrayBuffers
}

const secondsOf = (work: () => void): number => {
  const started = performance.now()
  work()
  return (performance.now() - started) / 1000
}

const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve))

/**
 * The header tree with a million headers: memory a header, and how fast headers are added, found, looked up among the
 * ancestors of the tip and loaded from their pages. Run with `--expose-gc` for exact memory.
 */
export const benchHeaderTree = async (): Promise<object> => {
  await turn()
  const before = memory()
  const residentBefore = process.memoryUsage().rss
  const index = new BlockIndex()
  let previous: Uint8Array = new Uint8Array(32)
  let hashing = 0
  const insertSeconds = secondsOf(() => {
    for (let number = 0; number < HEADERS; number++) {
      const header = headerBehind(previous, number)
      const started = number % 100 === 0 ? performance.now() : 0
      previous = header.hash
      if (number % 100 === 0) hashing += 100 * (performance.now() - started) / 1000
      index.add(header, headerId(number === 0 ? NONE : number - 1))
    }
  })
  await turn()
  const used = memory() - before
  const resident = process.memoryUsage().rss - residentBefore
  const samples = Array.from({ length: 100_000 }, (_, i) => (i * 7919) % HEADERS)
  const hashes = samples.map((id) => index.hash(headerId(id)).slice())
  const findSeconds = secondsOf(() => {
    for (const hash of hashes) index.find(hash)
  })
  const ancestorSeconds = secondsOf(() => {
    for (const height of samples) index.ancestor(headerId(HEADERS - 1), height)
  })
  const pages = index.takeDirtyPages().map(({ bytes }) => bytes)
  const loaded = new BlockIndex()
  const loadSeconds = secondsOf(() => loaded.load(pages, HEADERS))
  if (loaded.find(previous) !== HEADERS - 1) throw new Error("the loaded tree lacks its tip")
  return {
    what: "header tree: a chain of synthetic headers",
    headers: HEADERS,
    bytesPerHeader: Math.round(used / HEADERS),
    memoryMB: Math.round(used / 1e6),
    residentMB: Math.round(resident / 1e6),
    exactMemory: globalThis.gc !== undefined,
    insertSeconds,
    insertsPerSecond: Math.round(HEADERS / insertSeconds),
    hashShareOfInsert: hashing / insertSeconds,
    findsPerSecond: Math.round(samples.length / findSeconds),
    ancestorsPerSecond: Math.round(samples.length / ancestorSeconds),
    loadSeconds
  }
}
