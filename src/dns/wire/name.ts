import type { Brand } from "../../protocol/keys.ts"
import type { HostText } from "../../values/records.ts"

/**
 * A DNS name as on the wire, without compression, one character per byte: `\x03www\x07example\x03bit\0`. In
 * lower case unless said otherwise. Two names are equal if and only if their strings are, even where a label holds a
 * dot or a zero byte.
 */
export type WireName = Brand<string, "WireName">

/** RFC 1035, section 2.3.4: bytes of a label, and of a name with the zero at its end. */
export const MAX_LABEL_BYTES = 63
export const MAX_NAME_BYTES = 255

export const ROOT = "\0" as WireName

/** A label as on the wire, without its length byte: one character per byte. */
export type WireLabel = string

/** The bytes of the label that begins at an offset of a name. */
const lengthAt = (name: WireName, offset: number): number => name.charCodeAt(offset)

/** The first label first. `ROOT` has none. */
export const wireLabels = (name: WireName): Array<WireLabel> => {
  const labels: Array<WireLabel> = []
  for (let at = 0, length = lengthAt(name, 0); length > 0; length = lengthAt(name, at)) {
    labels.push(name.slice(at + 1, at + 1 + length))
    at += 1 + length
  }
  return labels
}

/** Without the root: 2 for `example.bit.` and for `*.bit.`. */
export const labelCount = (name: WireName): number => {
  let count = 0
  for (let at = 0, length = lengthAt(name, 0); length > 0; length = lengthAt(name, at)) {
    count += 1
    at += 1 + length
  }
  return count
}

/** `undefined` if the name is `ROOT`. */
export const firstLabel = (name: WireName): WireLabel | undefined =>
  name === ROOT ? undefined : name.slice(1, 1 + lengthAt(name, 0))

/** The name without its first label; that of `ROOT` is `ROOT`. */
export const parentName = (name: WireName): WireName =>
  name === ROOT ? ROOT : name.slice(1 + lengthAt(name, 0)) as WireName

/** `undefined` if the label is empty or too long, or if the name would be too long. */
export const childName = (label: WireLabel, parent: WireName): WireName | undefined =>
  label.length === 0 || label.length > MAX_LABEL_BYTES || label.length + 1 + parent.length > MAX_NAME_BYTES
    ? undefined
    : (String.fromCharCode(label.length) + label + parent) as WireName

/** The name of these labels below `parent`; `undefined` beyond the limits. */
export const nameOfLabels = (labels: ReadonlyArray<WireLabel>, parent: WireName = ROOT): WireName | undefined =>
  labels.reduceRight<WireName | undefined>((name, label) => name && childName(label, name), parent)

/** Whether the name is `ancestor` or a name below it. */
export const isAtOrBelow = (name: WireName, ancestor: WireName): boolean => {
  const target = name.length - ancestor.length
  if (target < 0) return false
  let at = 0
  while (at < target) at += 1 + lengthAt(name, at)
  return at === target && name.endsWith(ancestor)
}

/** The name without its `count` first labels. */
export const ancestorName = (name: WireName, count: number): WireName => {
  let at = 0
  for (let i = 0; i < count && lengthAt(name, at) > 0; i++) at += 1 + lengthAt(name, at)
  return name.slice(at) as WireName
}

const CAPITALS = /[A-Z]/

/**
 * Lowers the letters A to Z and no other byte (RFC 4343, section 3). The length of a label is never a letter, as it is
 * at most 63.
 */
export const lowerCaseName = (name: WireName): WireName =>
  CAPITALS.test(name) ? name.replace(/[A-Z]+/g, (letters) => letters.toLowerCase()) as WireName : name

/** The order of DNSSEC (RFC 4034, section 6.1) for names in lower case: by labels, the last one first. */
export const compareWireNames = (a: WireName, b: WireName): number => {
  if (a === b) return 0
  const left = wireLabels(a)
  const right = wireLabels(b)
  const shared = Math.min(left.length, right.length)
  for (let i = 1; i <= shared; i++) {
    const one = left[left.length - i] ?? ""
    const other = right[right.length - i] ?? ""
    if (one !== other) return one < other ? -1 : 1
  }
  return left.length - right.length
}

/** Takes a host within the limits, as records have it. */
export const wireNameOfHost = (host: HostText): WireName => {
  if (host === ".") return ROOT
  let name = ""
  for (let start = 0; start < host.length;) {
    const dot = host.indexOf(".", start)
    const end = dot < 0 ? host.length : dot
    name += String.fromCharCode(end - start) + host.slice(start, end)
    start = end + 1
  }
  return `${name}\0` as WireName
}

/** Characters that a zone file gives a meaning (RFC 1035, section 5.1). */
const SPECIAL = /[."\\();@$]/g

const OUTSIDE_PRINTABLE = /[^!-~]/g

const decimals = (char: string): string => `\\${String(char.charCodeAt(0)).padStart(3, "0")}`

/** A text as zone files print it, for any bytes: `\.` and `\046` stand for characters with a meaning of their own. */
export const wireNameText = (name: WireName): string => {
  if (name === ROOT) return "."
  let text = ""
  for (const label of wireLabels(name)) {
    text += `${label.replace(SPECIAL, "\\$&").replace(OUTSIDE_PRINTABLE, decimals)}.`
  }
  return text
}

/** A backslash with three digits or one character, a dot, or any other byte. */
const NAME_PART = /\\(\d{3})|\\([\0-\xff])|(\.)|([\0-\xff])/gy

/** Four characters for each byte. */
const LONGEST_TEXT = 4 * MAX_NAME_BYTES

/**
 * Reads a name as zone files and command lines have it, in lower case. The dot at the end may be left out. `undefined`
 * for an empty label, a character beyond U+00FF, a wrong escape, or a name beyond the limits.
 */
export const readNameText = (text: string): WireName | undefined => {
  if (text === ".") return ROOT
  if (text.length > LONGEST_TEXT) return undefined
  const labels: Array<WireLabel> = []
  let label = ""
  let read = 0
  for (const [part, code, escaped, dot, plain] of text.matchAll(NAME_PART)) {
    if (plain === "\\" || (code !== undefined && Number(code) > 0xff)) return undefined
    read += part.length
    if (dot === undefined) {
      label += code === undefined ? escaped ?? plain ?? "" : String.fromCharCode(Number(code))
      continue
    }
    labels.push(label)
    label = ""
  }
  if (read !== text.length) return undefined
  if (label !== "") labels.push(label)
  const name = labels.length === 0 ? undefined : nameOfLabels(labels)
  return name && lowerCaseName(name)
}
