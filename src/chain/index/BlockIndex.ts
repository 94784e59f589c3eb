import { blockWork } from "../../consensus/difficulty.ts"
import type { Bytes } from "../../protocol/bytes.ts"
import { Header, HEADER_SIZE } from "../../protocol/header.ts"
import { type HeaderId, headerId, type Height } from "../../protocol/keys.ts"
import { Writer } from "../../protocol/Writer.ts"
import type { Place } from "../../storage/BlockFiles.ts"
import { HashTable, lowBytes } from "./HashTable.ts"
import { type HeaderPage, littleEndian, makePage, PAGE_RECORDS, WORDS } from "./headerPage.ts"

// The tree of all headers: a million in about 150 MB, as fixed-size records in pages. Records are numbered by arrival,
// so a parent comes before its children. A flush writes changed pages as they are, a start reads all.

// The fields of a record by their first word.
const HASH = 0
const MERKLE_ROOT = 8
const VERSION = 16
const TIME = 17
const BITS = 18
const NONCE = 19
const PARENT = 20
const HEIGHT = 21
/** A distant ancestor, plus one: see `jumpFrom`. */
const JUMP = 22
const STATUS = 23
/** Chain work, 128 bits, lowest word first. */
const WORK = 24
const TX_COUNT = 28
const DATA_FILE = 29
const DATA_OFFSET = 30
const DATA_SIZE = 31
const UNDO_FILE = 32
const UNDO_OFFSET = 33
const UNDO_SIZE = 34
/** Checksum of the stored block; see `recordChecksum`. */
const CHECKSUM = 35

/** The times for a median. Infinite where a chain has fewer than eleven. */
const times = new Float64Array(11)

/** No header; also the parent of genesis. */
export const NONE: HeaderId = headerId(-1)

export const GENESIS: HeaderId = headerId(0)

/** The first header of an index that does not begin at genesis. Nothing else is known of it. */
export interface IndexRoot {
  /** Wire order. */
  readonly hash: Bytes
  readonly height: Height
  /** The work of all headers from genesis to this one, included. */
  readonly chainwork: bigint
}

export const Status = {
  HAVE_DATA: 1,
  HAVE_UNDO: 2,
  /** It was connected once, so it is valid: scripts are verified or assumed valid. */
  VALID: 4,
  /** It violates a rule, or the operator marked it (`invalidateblock`). */
  FAILED: 8,
  FAILED_PARENT: 16,
  /** Its data and undo data were pruned; `dataPlace` is where they were. It may be stored again, without undo data. */
  PRUNED: 32
} as const

const FAILED_MASK = Status.FAILED | Status.FAILED_PARENT

export interface StoredData {
  readonly place: Place
  readonly txCount: number
  readonly checksum: number
}

/** Chain work stays below 2^128 hashes. */
const WORK_LIMIT = 1n << 128n

export class BlockIndex {
  private readonly pages: Array<HeaderPage> = []
  private size = 0
  private readonly table = new HashTable({
    hash: (id) => this.hash(id),
    lowBytes: (id) => lowBytes(this.pageOf(id).bytes, ((id % PAGE_RECORDS) * WORDS + HASH) * 4)
  })
  private readonly dirty = new Set<number>()
  private readonly workOfBits = new Map<number, bigint>()
  /** Height of the first header: 0 unless planted. */
  private rootHeight: Height = 0

  get count(): number {
    return this.size
  }

  /** All headers after another one, parents first. */
  *ids(after: HeaderId = NONE): Iterable<HeaderId> {
    for (let place = after + 1; place < this.size; place++) yield headerId(place)
  }

  /** Visits all headers, parents first. Unlike `ids`, it makes no object for each of a million headers. */
  each(visit: (id: HeaderId, status: number) => void): void {
    for (let id = GENESIS; id < this.size; id = headerId(id + 1)) visit(id, this.status(id))
  }

  private words(id: HeaderId): Uint32Array {
    if (id < 0 || id >= this.size) throw new Error(`header number ${id} does not exist`)
    return this.pageOf(id).words
  }

  private field(id: HeaderId, field: number): number {
    return this.words(id)[(id % PAGE_RECORDS) * WORDS + field] ?? 0
  }

  // positional: the header sync sets fifteen fields per header
  private setField(id: HeaderId, field: number, value: number): void {
    this.words(id)[(id % PAGE_RECORDS) * WORDS + field] = value
    this.dirty.add((id / PAGE_RECORDS) | 0)
  }

  // positional: each lookup by hash runs it for each compared slot
  private blob(id: HeaderId, field: number, size: number): Uint8Array {
    const at = ((id % PAGE_RECORDS) * WORDS + field) * 4
    return this.pageOf(id).bytes.subarray(at, at + size)
  }

  private pageOf(id: HeaderId): HeaderPage {
    const page = this.pages[(id / PAGE_RECORDS) | 0]
    if (page === undefined) throw new Error(`header number ${id} does not exist`)
    return page
  }

  /** A view in wire order. */
  hash(id: HeaderId): Uint8Array {
    return this.blob(id, HASH, 32)
  }

  height(id: HeaderId): Height {
    return this.field(id, HEIGHT)
  }

  /** `NONE` for genesis. */
  parent(id: HeaderId): HeaderId {
    return headerId(this.field(id, PARENT) - 1)
  }

  version(id: HeaderId): number {
    return this.field(id, VERSION) | 0
  }

  time(id: HeaderId): number {
    return this.field(id, TIME)
  }

  bits(id: HeaderId): number {
    return this.field(id, BITS)
  }

  header(id: HeaderId): Header {
    const parent = this.parent(id)
    return new Header(
      new Writer(HEADER_SIZE).i32(this.version(id)).bytes(parent === NONE ? new Uint8Array(32) : this.hash(parent))
        .bytes(this.blob(id, MERKLE_ROOT, 32)).u32(this.time(id)).u32(this.bits(id)).u32(this.field(id, NONCE))
        .toBytes()
    )
  }

  merkleRoot(id: HeaderId): Uint8Array {
    return this.blob(id, MERKLE_ROOT, 32)
  }

  status(id: HeaderId): number {
    return this.field(id, STATUS)
  }

  has(id: HeaderId, bit: number): boolean {
    return (this.field(id, STATUS) & bit) !== 0
  }

  isFailed(id: HeaderId): boolean {
    return (this.field(id, STATUS) & FAILED_MASK) !== 0
  }

  setStatus(id: HeaderId, status: number): void {
    if (this.field(id, STATUS) !== status) this.setField(id, STATUS, status)
  }

  addStatus(id: HeaderId, bits: number): void {
    this.setStatus(id, this.status(id) | bits)
  }

  clearStatus(id: HeaderId, bits: number): void {
    this.setStatus(id, this.status(id) & ~bits)
  }

  /** 0 if the block was never stored. */
  txCount(id: HeaderId): number {
    return this.field(id, TX_COUNT)
  }

  /** Valid with `HAVE_DATA`. */
  dataPlace(id: HeaderId): Place {
    return { file: this.field(id, DATA_FILE), offset: this.field(id, DATA_OFFSET), size: this.field(id, DATA_SIZE) }
  }

  undoPlace(id: HeaderId): Place {
    return { file: this.field(id, UNDO_FILE), offset: this.field(id, UNDO_OFFSET), size: this.field(id, UNDO_SIZE) }
  }

  /** The checksum of the block's record; `NO_CHECKSUM` if an old version wrote it. */
  checksum(id: HeaderId): number {
    return this.field(id, CHECKSUM)
  }

  setChecksum(id: HeaderId, checksum: number): void {
    this.setField(id, CHECKSUM, checksum)
  }

  setData(id: HeaderId, { checksum, place, txCount }: StoredData): void {
    this.setField(id, DATA_FILE, place.file)
    this.setField(id, DATA_OFFSET, place.offset)
    this.setField(id, DATA_SIZE, place.size)
    this.setField(id, TX_COUNT, txCount)
    this.setField(id, CHECKSUM, checksum)
    this.addStatus(id, Status.HAVE_DATA)
  }

  setUndo(id: HeaderId, place: Place): void {
    this.setField(id, UNDO_FILE, place.file)
    this.setField(id, UNDO_OFFSET, place.offset)
    this.setField(id, UNDO_SIZE, place.size)
    this.addStatus(id, Status.HAVE_UNDO)
  }

  /** The work of all headers from genesis to this one. */
  chainwork(id: HeaderId): bigint {
    let work = 0n
    for (let i = 3; i >= 0; i--) work = (work << 32n) | BigInt(this.field(id, WORK + i))
    return work
  }

  compareWork(a: HeaderId, b: HeaderId): number {
    const ours = this.words(a)
    const theirs = this.words(b)
    const one = (a % PAGE_RECORDS) * WORDS + WORK
    const other = (b % PAGE_RECORDS) * WORDS + WORK
    for (let i = 3; i >= 0; i--) {
      const difference = (ours[one + i] ?? 0) - (theirs[other + i] ?? 0)
      if (difference !== 0) return difference
    }
    return 0
  }

  private workOf(bits: number): bigint {
    let work = this.workOfBits.get(bits)
    if (work === undefined) {
      work = blockWork(bits)
      // There are few different values. The limit protects against attacks.
      if (this.workOfBits.size >= 10_000) this.workOfBits.clear()
      this.workOfBits.set(bits, work)
    }
    return work
  }

  find(hash: Bytes): HeaderId {
    return this.table.find(hash)
  }

  /** Adds a header to its parent (`NONE` for genesis) and returns its number. The hash must be unknown. */
  add(header: Header, parent: HeaderId): HeaderId {
    const id = headerId(this.size)
    const height = parent === NONE ? 0 : this.height(parent) + 1
    const work = (parent === NONE ? 0n : this.chainwork(parent)) + this.workOf(header.bits)
    if (work >= WORK_LIMIT) throw new Error(`the chain work at height ${height} is above 2^128`)
    if (id % PAGE_RECORDS === 0) this.pages.push(makePage())
    this.size++
    this.blob(id, HASH, 32).set(header.hash)
    this.blob(id, MERKLE_ROOT, 32).set(header.merkleRoot)
    this.setField(id, VERSION, header.version)
    this.setField(id, TIME, header.time)
    this.setField(id, BITS, header.bits)
    this.setField(id, NONCE, header.nonce)
    this.setField(id, PARENT, parent + 1)
    this.setField(id, HEIGHT, height)
    this.setField(id, JUMP, parent === NONE ? 0 : this.jumpFrom(parent) + 1)
    this.setWork(id, work)
    if (parent !== NONE && this.isFailed(parent)) this.addStatus(id, Status.FAILED_PARENT)
    this.table.add(id)
    return id
  }

  private setWork(id: HeaderId, work: bigint): void {
    for (let i = 0; i < 4; i++) this.setField(id, WORK + i, Number((work >> BigInt(32 * i)) & 0xffffffffn))
  }

  /** Makes a header above genesis the first one of an empty index. Other fields, such as time and bits, read as 0. */
  plant({ chainwork, hash, height }: IndexRoot): HeaderId {
    if (this.size > 0) throw new Error("the block index has a first header already")
    this.pages.push(makePage())
    this.size = 1
    this.rootHeight = height
    this.blob(GENESIS, HASH, 32).set(hash)
    this.setField(GENESIS, HEIGHT, height)
    this.setWork(GENESIS, chainwork)
    this.table.add(GENESIS)
    return GENESIS
  }

  /** The ancestor at a header's jump; `NONE` for genesis. */
  private jump(id: HeaderId): HeaderId {
    return headerId(this.field(id, JUMP) - 1)
  }

  /**
   * The jump of a child of `parent`: two jumps of equal length together, otherwise the parent. Such jumps, whose
   * lengths depend only on the height, reach any ancestor in 2 log2(n) steps (E. W. Myers, "An applicative
   * random-access stack", 1983).
   */
  private jumpFrom(parent: HeaderId): HeaderId {
    const near = this.jump(parent)
    if (near === NONE) return parent
    const far = this.jump(near)
    if (far === NONE) return parent
    const equalSteps = this.height(parent) - this.height(near) === this.height(near) - this.height(far)
    return equalSteps ? far : parent
  }

  /** The ancestor at a height up to the header's own. Logarithmic. */
  ancestor(id: HeaderId, height: Height): HeaderId {
    if (height > this.height(id) || height < this.rootHeight) return NONE
    let walk = id
    while (this.height(walk) > height) {
      const jump = this.jump(walk)
      walk = this.height(jump) >= height ? jump : this.parent(walk)
    }
    return walk
  }

  forkPoint(a: HeaderId, b: HeaderId): HeaderId {
    const height = Math.min(this.height(a), this.height(b))
    let one = this.ancestor(a, height)
    let other = this.ancestor(b, height)
    while (one !== other) {
      const apart = this.jump(one) !== this.jump(other)
      one = apart ? this.jump(one) : this.parent(one)
      other = apart ? this.jump(other) : this.parent(other)
    }
    return one
  }

  /** Median of the times of a header and up to ten before it (consensus); 0 for no header. */
  medianTimePast(id: HeaderId): number {
    let count = 0
    for (let walk = id; walk !== NONE && count < 11; walk = this.parent(walk)) times[count++] = this.time(walk)
    if (count === 0) return 0
    times.fill(Infinity, count).sort()
    return times[count >> 1] ?? 0
  }

  /** The pages that changed since the last call. */
  takeDirtyPages(): ReadonlyArray<{ readonly page: number; readonly bytes: Uint8Array }> {
    const taken = [...this.dirty].sort((a, b) => a - b).flatMap((page) => {
      const bytes = this.pages[page]?.bytes
      return bytes === undefined ? [] : [{ page, bytes }]
    })
    this.dirty.clear()
    return taken
  }

  /** Marks pages as changed again, after a failed commit. */
  restoreDirtyPages(pages: Iterable<number>): void {
    for (const page of pages) this.dirty.add(page)
  }

  /** Loads stored pages with `count` headers into an empty index, in order. The first header may be planted. */
  load(pages: Iterable<Uint8Array>, count: number): void {
    if (!littleEndian) throw new Error("the block index needs a little-endian machine")
    for (const bytes of pages) this.pages.push(makePage(bytes))
    if (this.pages.length !== Math.ceil(count / PAGE_RECORDS)) {
      throw new Error(`${count} headers do not fit ${this.pages.length} pages`)
    }
    this.size = count
    if (count > 0) this.rootHeight = this.height(GENESIS)
    this.each((id) => this.checkPlace(id))
    this.table.rebuild(count)
  }

  /** Refuses links to later headers, which could make walks endless. */
  private checkPlace(id: HeaderId): void {
    const parent = this.parent(id)
    const jump = this.jump(id)
    const sound = id === 0
      ? parent === NONE && jump === NONE
      : parent >= 0 && parent < id && jump >= 0 && jump <= parent && this.height(id) === this.height(parent) + 1
    if (!sound) throw new Error(`header number ${id} is not after its parent`)
  }
}
