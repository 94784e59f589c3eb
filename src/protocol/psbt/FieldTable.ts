import { type Bytes, EMPTY } from "../bytes.ts"
import type { Reader } from "../Reader.ts"
import type { Steps } from "../steps.ts"
import { both, type Records, type UnknownRecord } from "./Psbt.ts"
import { PsbtFault, PsbtRecord, type RecordWriter, sorted } from "./records.ts"

/** What reading needs from the rules of the network. */
export interface PsbtRules {
  /** Whether bytes are an ECDSA signature in strict encoding with a defined hash type. This is a consensus rule. */
  readonly isSignature: (signature: Bytes) => boolean
}

interface FieldReading<V> {
  readonly add: (record: PsbtRecord) => void
  readonly end: () => V
}

export interface Field<V> {
  /** The type in the key of its records; `undefined` for those that have no field of their own. */
  readonly type: number | undefined
  /** The fault of a second record with the same key. */
  readonly duplicate: string
  /** Whether an input with final scripts is written without it. */
  readonly unfinished?: boolean
  readonly open: (rules: PsbtRules) => FieldReading<V>
  readonly write: (value: V, to: RecordWriter) => void
  /** The value of both; on a contradiction that of the first. */
  readonly merge: (first: V, second: V) => V
}

/** In the order of writing. */
export type FieldsOf<M> = { readonly [K in keyof M]: Field<M[K]> }

/** The same fields, which an input with final scripts is written without. */
export const unlessFinal = <M>(fields: FieldsOf<M>): FieldsOf<M> => {
  const marked: { -readonly [K in keyof M]: Field<M[K]> } = { ...fields }
  for (const key in fields) marked[key] = { ...fields[key], unfinished: true }
  return marked
}

export const provided = (what: string): string => `Duplicate Key, ${what} already provided`

export interface FieldNames {
  readonly duplicate: string
  readonly name: string
}

/** The value of a record without data in its key. */
export interface ValueCodec<A> {
  readonly read: (value: Bytes) => A | undefined
  readonly write: (value: A) => Bytes
}

export const single = <A>(
  type: number,
  { duplicate, name }: FieldNames,
  codec: ValueCodec<A>
): Field<A | undefined> => ({
  type,
  duplicate: provided(duplicate),
  open: () => {
    let found: A | undefined
    return {
      add: (record) => {
        if (record.key.length !== 1) throw new PsbtFault(`${name} key is more than one byte type`)
        found = codec.read(record.value)
      },
      end: () => found
    }
  },
  write: (value, to) => {
    if (value !== undefined) to.record(type, EMPTY, codec.write(value))
  },
  merge: (first, second) => first ?? second
})

export interface ItemCodec<A> {
  readonly read: (record: PsbtRecord, rules: PsbtRules) => A
  /** The data of the key, and the value. */
  readonly write: (item: A) => readonly [data: Bytes, value: Bytes]
  /** The key among the items: the data of the key unless stated. Of two items with one key the first counts. */
  readonly key?: (item: A) => string
  /** The fault of two items with one key, where that is a fault. */
  readonly clash?: string
  /** The order of writing: by key unless stated. */
  readonly order?: (items: Records<A>) => ReadonlyArray<A>
}

export const many = <A>(type: number, duplicate: string, codec: ItemCodec<A>): Field<Records<A>> => ({
  type,
  duplicate,
  open: (rules) => {
    const items = new Map<string, A>()
    return {
      add: (record) => {
        const item = codec.read(record, rules)
        const key = codec.key === undefined ? record.dataKey : codec.key(item)
        if (!items.has(key)) items.set(key, item)
        else if (codec.clash !== undefined) throw new PsbtFault(codec.clash)
      },
      end: () => items
    }
  },
  write: (items, to) => {
    if (items.size === 0) return
    for (const item of (codec.order ?? sorted)(items)) to.record(type, ...codec.write(item))
  },
  merge: both
})

/** A field whose records are kept whole, by their whole key. */
export const kept = <A extends UnknownRecord>(
  type: number | undefined,
  duplicate: string,
  read: (record: PsbtRecord) => A
): Field<Records<A>> => ({
  type,
  duplicate,
  open: () => {
    const items = new Map<string, A>()
    return { add: (record) => void items.set(record.keyText, read(record)), end: () => items }
  },
  write: (items, to) => {
    for (const { key, value } of sorted(items)) to.writer.varBytes(key).varBytes(value)
  },
  merge: both
})

type Key<M> = Extract<keyof M, string>

interface TableParts<M> {
  readonly place: string
  readonly empty: M
  readonly fields: FieldsOf<M>
  /** The field of records whose type no other has. */
  readonly other: Key<M>
}

export class FieldTable<M> {
  private readonly place: string
  private readonly empty: M
  private readonly fields: FieldsOf<M>
  private readonly other: Key<M>
  private readonly keys: Array<Key<M>> = []
  private readonly byType = new Map<number | undefined, Key<M>>()

  constructor({ empty, fields, other, place }: TableParts<M>) {
    this.place = place
    this.empty = empty
    this.fields = fields
    this.other = other
    for (const key in fields) {
      this.keys.push(key)
      this.byType.set(fields[key].type, key)
    }
  }

  *read(reader: Reader, rules: PsbtRules): Steps<M> {
    const seen = new Set<string>()
    const map = { ...this.empty }
    const readings = new Map<string, FieldReading<unknown>>()
    const ends: Array<() => void> = []
    const open = <K extends Key<M>>(key: K): FieldReading<unknown> => {
      const reading = this.fields[key].open(rules)
      ends.push(() => {
        map[key] = reading.end()
      })
      readings.set(key, reading)
      return reading
    }
    for (;;) {
      if (reader.remaining === 0) throw new PsbtFault(`Separator is missing at the end of ${this.place} map`)
      const bytes = reader.varBytes("key")
      if (bytes.length === 0) break
      const record = new PsbtRecord(bytes, reader)
      const key = this.byType.get(record.type) ?? this.other
      if (seen.size === seen.add(record.keyText).size) throw new PsbtFault(this.fields[key].duplicate)
      const reading = readings.get(key) ?? open(key)
      reading.add(record)
      yield
    }
    for (const end of ends) end()
    return map
  }

  write(map: M, to: RecordWriter, isFinal = false): void {
    for (const key of this.keys) {
      const field = this.fields[key]
      if (!isFinal || field.unfinished !== true) field.write(map[key], to)
    }
    to.writer.u8(0)
  }

  /** The records of both maps. On a contradiction the first one counts. */
  merge(first: M, second: M): M {
    const merged = { ...first }
    for (const key of this.keys) merged[key] = this.fields[key].merge(first[key], second[key])
    return merged
  }
}
