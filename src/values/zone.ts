import type { Bytes } from "../protocol/bytes.ts"
import { type NameKey, nameKey } from "../protocol/keys.ts"
import { type DomainImport, importsOf } from "./domainImport.ts"
import { type DomainLevel, levelOfValue, mergedLevels, MOST_READ, selectedLevel } from "./domainLevel.ts"
import { SILENT } from "./findings.ts"
import type { Located } from "./locatedJson.ts"
import type { HostText, RecordData } from "./records.ts"
import { type ZoneNode, zoneTree } from "./zoneTree.ts"

export type { ZoneNode }

/** The zone that a `d/` name makes: its value and the imported values as a tree of DNS labels. */

export interface DomainZone {
  /** `example.bit.` */
  readonly host: HostText
  readonly top: ZoneNode
  /** All names that were read or missed, the domain's own first. A change of any of them can change the zone. */
  readonly sources: ReadonlyArray<NameKey>
  /** Whether limits left something out. */
  readonly isCut: boolean
}

/** Yields the name whose value is wanted next, and takes it; `undefined` for a missing or expired name. */
export type ZoneWork = Generator<Bytes, DomainZone, Bytes | undefined>

/** Bytes of a zone's values; one that is imported twice counts twice. */
const MOST_BYTES = 65_536

/** Names of a zone, the domain's own with them. */
const MOST_NAMES = 16

/** Imports in a row: a name imports one that imports another. */
export const LONGEST_IMPORT_CHAIN = 4

/** Imports of a zone, those of the same name with them. */
const MOST_IMPORTS = 256

type LevelWork<A> = Generator<Bytes, A, Bytes | undefined>

interface ReadValue {
  readonly level: DomainLevel
  readonly bytes: number
}

interface KeyedImport extends DomainImport {
  readonly key: NameKey
}

/** Reads the imports of one zone within its limits. */
class Imports {
  readonly #read = new Map<NameKey, ReadValue | undefined>()
  readonly #lists = new Map<Located, ReadonlyArray<KeyedImport>>()
  #bytes = 0
  #imports = 0
  isCut = false

  get sources(): ReadonlyArray<NameKey> {
    return [...this.#read.keys()]
  }

  /** Each import of a value counts, as merging it is work again. `undefined` for none, a bad or a too long one. */
  take(name: NameKey, value: Bytes | undefined): DomainLevel | undefined {
    const before = this.#read.get(name)
    const bytes = before?.bytes ?? value?.length ?? 0
    const fits = bytes <= MOST_READ && this.#bytes + bytes <= MOST_BYTES
    if (!fits) this.isCut = true
    else this.#bytes += bytes
    const level = before?.level ?? (value === undefined || !fits ? undefined : levelOfValue(value))
    if (before === undefined) this.#read.set(name, level === undefined ? undefined : { level, bytes })
    return fits ? level : undefined
  }

  /** `way`: the names that lead to this level, the domain's own first. */
  *resolved(level: DomainLevel, way: ReadonlyArray<NameKey>): LevelWork<DomainLevel> {
    if (!level.asks) return level
    const items = new Map(level.items)
    const delegate = items.get("delegate")
    const imported = items.get("import")
    items.delete("delegate")
    items.delete("import")
    if (delegate !== undefined && delegate.kind !== "null") {
      const [target] = this.#listOf(delegate)
      const whole = target === undefined ? undefined : yield* this.#selected(target, way)
      if (whole !== undefined) return whole
    }
    const below = new Map(level.below)
    for (const [label, each] of level.below) {
      if (each?.asks === true) below.set(label, yield* this.resolved(each, way))
    }
    const levels: Array<DomainLevel> = [{ items, below, isClosed: level.isClosed, asks: false }]
    for (const each of imported === undefined || imported.kind === "null" ? [] : this.#listOf(imported)) {
      const other = yield* this.#selected(each, way)
      if (other !== undefined) levels.push(other)
    }
    return mergedLevels(levels)
  }

  /** Read once: a value may be imported hundreds of times, and name a thousand others. */
  #listOf(part: Located): ReadonlyArray<KeyedImport> {
    const known = this.#lists.get(part)
    if (known !== undefined) return known
    const list = importsOf(part, SILENT).map((each) => ({ ...each, key: nameKey(each.name) }))
    this.#lists.set(part, list)
    return list
  }

  /** `undefined` if the import fails. */
  *#selected({ key, name, selector }: KeyedImport, way: ReadonlyArray<NameKey>): LevelWork<DomainLevel | undefined> {
    if (way.includes(key)) return undefined
    const isNew = !this.#read.has(key)
    if (
      way.length > LONGEST_IMPORT_CHAIN || this.#imports === MOST_IMPORTS || (isNew && this.#read.size === MOST_NAMES)
    ) {
      this.isCut = true
      return undefined
    }
    this.#imports++
    const level = this.take(key, isNew ? yield name : undefined)
    return level === undefined ? undefined : selectedLevel(yield* this.resolved(level, [...way, key]), selector)
  }
}

const EMPTY_NODE: ZoneNode = { sets: new Map(), below: new Map() }

export interface DomainValue {
  /** `d/example`, in bytes. */
  readonly name: Bytes
  readonly value: Bytes
  /** The domain, which completes relative names: `example.bit.`, or `example.bit.example.org.` below a suffix. */
  readonly host: HostText
}

/** The zone of a name that exists, whatever its value is. Asks for each imported name once. */
export function* domainZone({ host, name, value }: DomainValue): ZoneWork {
  const imports = new Imports()
  const key = nameKey(name)
  const own = imports.take(key, value)
  const level = own === undefined ? undefined : yield* imports.resolved(own, [key])
  const tree = level === undefined ? { top: EMPTY_NODE, isCut: false } : zoneTree(level, host, SILENT)
  return { host, top: tree.top, sources: imports.sources, isCut: imports.isCut || tree.isCut }
}

/** Runs the work over values that are at hand. */
export const zoneFrom = (work: ZoneWork, valueOf: (name: Bytes) => Bytes | undefined): DomainZone => {
  let step = work.next()
  while (step.done !== true) step = work.next(valueOf(step.value))
  return step.value
}

export interface OwnedRecord {
  readonly owner: HostText
  readonly record: RecordData
}

/** All records of a node and below, each name before those below it. */
export function* recordsBelow(owner: HostText, { below, sets }: ZoneNode): Iterable<OwnedRecord> {
  for (const records of sets.values()) for (const record of records) yield { owner, record }
  for (const [label, node] of below) yield* recordsBelow(`${label}.${owner}`, node)
}
