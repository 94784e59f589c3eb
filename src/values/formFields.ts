import type { LineWritten } from "./formRows.ts"
import { type JsonTree, type KeyPath, pathsBeside, treeOf } from "./jsonTree.ts"
import { isFault, type Located, type LocatedObject, memberOf, readLocatedJson } from "./locatedJson.ts"

/**
 * Values as fields of a form and back. A field is a list of lines. Parts that no field shows, items with unchanged
 * lines, and rows with an unchanged line stay as they are.
 */

/** A missing field has no lines, or asks for no change. */
export type FormLines<Key extends string> = Readonly<Partial<Record<Key, ReadonlyArray<string>>>>

export interface FormFault<Key extends string = string> {
  readonly field: Key
  /** From 1 on. */
  readonly line: number
  /** The problem, to be read after the line. */
  readonly message: string
}

export interface ReadForm<Key extends string> {
  readonly lines: FormLines<Key>
  /** The parts of the value that no field shows, as `map.www.tls`. */
  readonly kept: ReadonlyArray<string>
}

export type WrittenForm<Key extends string> =
  | { readonly value: string }
  | { readonly faults: ReadonlyArray<FormFault<Key>> }

export interface FormItem {
  readonly path: KeyPath
  readonly rows: ReadonlyArray<FormRow>
  /** The path of its part in the value. */
  readonly shown: string
}

export interface FormRow {
  readonly line: string
  readonly part: Located
}

export interface WantedRow {
  readonly path: KeyPath
  readonly line: string
  /** The place among the lines of its field, from 1 on. */
  readonly number: number
  readonly written: LineWritten
}

export type Shape =
  /** A text, or a list of texts. */
  | "texts"
  /** A list of one or more texts. */
  | "list"
  | "text"
  | "rows"

export interface FormField<Key extends string> {
  readonly key: Key
  /** Omits items that the field cannot show whole. */
  readonly read: (object: LocatedObject) => ReadonlyArray<FormItem>
  readonly show: (row: FormRow, path: KeyPath) => string
  readonly want: (line: string, object: LocatedObject) => Omit<WantedRow, "number">
  readonly shape: (path: KeyPath) => Shape
}

export const partAt = (object: LocatedObject, path: KeyPath): Located | undefined => {
  let part: Located | undefined = object
  for (const key of path) part = part?.kind === "object" ? memberOf(part, key) : undefined
  return part
}

/** The rows as lines; `undefined` if one cannot be shown. */
export const itemAt = (
  object: LocatedObject,
  path: KeyPath,
  lineOf: (row: Located) => string | undefined
): FormItem | undefined => {
  const part = partAt(object, path)
  if (part === undefined) return undefined
  const rows: Array<FormRow> = []
  for (const row of part.kind === "array" ? part.items : [part]) {
    const line = lineOf(row)
    if (line === undefined) return undefined
    rows.push({ line, part: row })
  }
  return rows.length === 0 ? undefined : { path, rows, shown: part.path }
}

const objectOf = (value: string): { readonly text: string; readonly object: LocatedObject } | undefined => {
  const text = value.trim() === "" ? "{}" : value
  const object = readLocatedJson(text)
  return isFault(object) || object.kind !== "object" ? undefined : { text, object }
}

/** `undefined` if the value is not a JSON object. */
export const readForm = <Key extends string>(
  fields: ReadonlyArray<FormField<Key>>,
  value: string
): ReadForm<Key> | undefined => {
  const read = objectOf(value)
  if (read === undefined) return undefined
  const shown = new Set<string>()
  const lines: Partial<Record<Key, ReadonlyArray<string>>> = {}
  for (const { key, read: itemsIn, show } of fields) {
    const items = itemsIn(read.object)
    for (const item of items) shown.add(item.shown)
    lines[key] = items.flatMap(({ path, rows }) => rows.map((row) => show(row, path)))
  }
  return { lines, kept: pathsBeside(read.object, shown) }
}

export const linesOf = (text: string): ReadonlyArray<string> =>
  text.split(/\r\n|\r|\n/).map((line) => line.trim()).filter((line) => line !== "")

const pathKey = (path: KeyPath): string => JSON.stringify(path)

const jsonOf = (
  rows: ReadonlyArray<string>,
  { shape, was }: { readonly shape: Shape; readonly was: Located | undefined }
) => {
  const [only] = rows
  const isBare = shape === "text" ||
    (shape === "texts" && rows.length === 1 && was?.kind !== "array")
  return isBare ? only ?? "" : `[${rows.join(",")}]`
}

interface Draft {
  readonly object: LocatedObject
  readonly text: string
  readonly tree: JsonTree
}

const byItem = <Key extends string>(
  { want }: FormField<Key>,
  lines: ReadonlyArray<string>,
  { object }: Draft
): ReadonlyMap<string, ReadonlyArray<WantedRow>> => {
  const items = new Map<string, Array<WantedRow>>()
  for (const [at, line] of lines.entries()) {
    const row = { ...want(line, object), number: at + 1 }
    const key = pathKey(row.path)
    const rows = items.get(key)
    if (rows === undefined) items.set(key, [row])
    else rows.push(row)
  }
  return items
}

const joined = (rows: ReadonlyArray<{ readonly line: string }>): string => rows.map(({ line }) => line).join("\n")

/** Why an item cannot be written at all, and the first row with that problem. */
const barrierTo = (
  [first, second]: ReadonlyArray<WantedRow>,
  { item, shape, was }: {
    readonly item: FormItem | undefined
    readonly shape: Shape
    readonly was: Located | undefined
  }
): Omit<FormFault, "field"> | undefined => {
  if (
    first !== undefined && item === undefined && was !== undefined && !(was.kind === "array" && was.items.length === 0)
  ) {
    const message = `cannot be added: the value has ${was.path} in a form that no field shows, so edit it as JSON`
    return { line: first.number, message }
  }
  return shape === "text" && second !== undefined
    ? { line: second.number, message: "is one too many: there can be only one" }
    : undefined
}

const putField = <Key extends string>(
  field: FormField<Key>,
  lines: ReadonlyArray<string>,
  draft: Draft
): ReadonlyArray<FormFault<Key>> => {
  const { object, text, tree } = draft
  const before = new Map(field.read(object).map((item) => [pathKey(item.path), item]))
  const wanted = byItem(field, lines, draft)
  const faults: Array<FormFault<Key>> = []
  for (const [at, { path }] of before) if (!wanted.has(at)) tree.remove(path)
  for (const [at, rows] of wanted) {
    const path = rows[0]?.path ?? []
    const item = before.get(at)
    if (item !== undefined && joined(item.rows) === joined(rows)) continue
    const was = partAt(object, path)
    const shape = field.shape(path)
    const barrier = barrierTo(rows, { item, shape, was })
    if (barrier !== undefined) {
      faults.push({ field: field.key, ...barrier })
      continue
    }
    const kept = new Map(item?.rows.map(({ line, part }) => [line, text.slice(part.at, part.end)]))
    const written: Array<string> = []
    for (const { line, number, written: made } of rows) {
      const json = kept.get(line) ?? ("json" in made ? made.json : undefined)
      if (json !== undefined) written.push(json)
      else faults.push({ field: field.key, line: number, message: "wrong" in made ? made.wrong : "" })
    }
    if (written.length === rows.length) tree.set(path, jsonOf(written, { shape, was }))
  }
  return faults
}

/** Fields that `lines` lacks stay. `undefined` if the value before is not a JSON object. */
export const writeForm = <Key extends string>(
  fields: ReadonlyArray<FormField<Key>>,
  value: string,
  lines: FormLines<Key>
): WrittenForm<Key> | undefined => {
  const read = objectOf(value)
  const tree = read === undefined ? undefined : treeOf(read.object, read.text)
  if (read === undefined || tree === undefined) return undefined
  const faults = fields.flatMap((field) => {
    const wanted = lines[field.key]
    return wanted === undefined ? [] : putField(field, wanted, { ...read, tree })
  })
  return faults.length > 0 ? { faults } : { value: tree.json }
}
