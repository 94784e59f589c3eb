import { type Bytes, EMPTY } from "../../protocol/bytes.ts"

// Numbers and booleans on the stack: little endian, the sign in the highest bit of the last byte, zero empty. Source:
// upstream `script/script.h`, `CScriptNum`.

/** The longest operand in bytes. Results may be longer. */
const NUMBER_SIZE = 4

export const FALSE: Bytes = EMPTY

export const TRUE: Bytes = Uint8Array.of(1)

export const fromBoolean = (value: boolean): Bytes => value ? TRUE : FALSE

/** Whether an element is true: anything but zeros, where a negative zero of any length is a zero. */
export const isTrue = (element: Bytes): boolean => {
  const last = element.length - 1
  for (let i = 0; i < last; i++) if (element[i] !== 0) return true
  return last >= 0 && element[last] !== 0 && element[last] !== 0x80
}

const isMinimal = (element: Bytes): boolean => {
  const last = element.at(-1)
  if (last === undefined || (last & 0x7f) !== 0) return true
  // A last byte with only the sign is allowed only if the byte before has no room for it.
  return element.length > 1 && ((element[element.length - 2] ?? 0) & 0x80) !== 0
}

/** The number in an element; `undefined` if it is too long or, with `minimal`, longer than needed. */
export const decodeNumber = (element: Bytes, minimal: boolean, maxSize = NUMBER_SIZE): number | undefined => {
  const { length } = element
  if (length > maxSize || (minimal && !isMinimal(element))) return undefined
  let value = 0
  for (let i = length - 1; i >= 0; i--) value = value * 256 + (element[i] ?? 0)
  const sign = 128 * 256 ** (length - 1)
  return length > 0 && value >= sign ? sign - value : value
}

export const encodeNumber = (value: number): Bytes => {
  if (value === 0) return EMPTY
  const bytes: Array<number> = []
  let rest = Math.abs(value)
  for (; rest > 0; rest = Math.floor(rest / 256)) bytes.push(rest % 256)
  const last = bytes[bytes.length - 1] ?? 0
  const sign = value < 0 ? 0x80 : 0
  if (last >= 0x80) bytes.push(sign)
  else bytes[bytes.length - 1] = last | sign
  return Uint8Array.from(bytes)
}
