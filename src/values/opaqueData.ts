import { binaryString, type Bytes } from "../protocol/bytes.ts"

/**
 * Checks the data of records given as raw bytes in values (IFA-0001, "o"). A secondary server refuses the whole zone
 * for one malformed record, so no owner of a name may write one.
 */

/**
 * By type, the fields of its data: a number of bytes; `n` a name; `s` a character string, `S` one or more to the end,
 * `e` an empty one; `t` the tag of CAA; `p` parameters of a service (RFC 9460, section 2.2); `*` any bytes to the end,
 * and `+` at least one.
 */
const FORMS: Readonly<Record<number, string>> = {
  1: "4",
  8: "n",
  9: "n",
  12: "n",
  13: "s s",
  14: "n n",
  15: "2 n",
  16: "S",
  17: "n n",
  18: "2 n",
  21: "2 n",
  28: "16",
  33: "6 n",
  35: "4 s s e n",
  36: "2 n",
  37: "5 +",
  48: "4 +",
  49: "+",
  52: "3 +",
  53: "3 +",
  61: "+",
  64: "2 n p",
  65: "2 n p",
  99: "S",
  104: "10",
  105: "6",
  106: "10",
  107: "2 n",
  108: "6",
  109: "8",
  256: "4 +",
  257: "1 t *",
  258: "S",
  261: "S",
  262: "S"
}

/**
 * Prohibited (IFA-0001, "o"): NS, CNAME, SOA, DNAME, OPT, DS, RRSIG, NSEC, NSEC3. The others are obsolete, have an item,
 * belong to the apex of a zone, or have fields that depend on each other.
 */
const REFUSED: ReadonlySet<number> = new Set(
  ("0 2 3 4 5 6 7 10 11 19 20 22 23 24 25 26 27 29 30 31 32 34 38 39 40 41 42 43 44 45 46 47 50 51 55 " +
    "56 57 58 59 60 62 63 66 67 68 259 260 32768 32769 65535").split(" ").map(Number)
)

/** Types in this range are for queries and messages (RFC 6895, section 3.1). */
const isMeta = (type: number): boolean => type >= 128 && type < 256

const LONGEST_LABEL = 63
const LONGEST_WIRE = 255

/** A position in the data, which moves field by field. */
class Fields {
  readonly #data: Uint8Array
  #at = 0

  constructor(data: Uint8Array) {
    this.#data = data
  }

  get isWhole(): boolean {
    return this.#at === this.#data.length
  }

  get #left(): number {
    return this.#data.length - this.#at
  }

  /** Skips a field. False if the data lacks it. */
  take(field: string): boolean {
    switch (field) {
      case "n":
        return this.#name()
      case "s":
        return this.#skip(1 + (this.#data[this.#at] ?? 0))
      case "S":
        return this.#all(() => this.take("s"))
      case "e":
        return this.#data[this.#at] === 0 && this.#skip(1)
      case "t":
        return this.#tag()
      case "p":
        return this.isWhole || this.#parameters()
      case "+":
        return this.#left > 0 && this.#skip(this.#left)
      case "*":
        return this.#skip(this.#left)
      default:
        return this.#skip(Number(field))
    }
  }

  /** One or more, to the end. */
  #all(one: () => boolean): boolean {
    while (one()) if (this.isWhole) return true
    return false
  }

  #skip(count: number): boolean {
    this.#at += count
    return this.#at <= this.#data.length
  }

  /** Lowercases the name in place, because signatures cover the lowercase form (RFC 4034, section 6.2). */
  #name(): boolean {
    const from = this.#at
    for (;;) {
      const length = this.#data[this.#at] ?? LONGEST_WIRE
      if (length > LONGEST_LABEL || length >= this.#left || this.#at + length - from >= LONGEST_WIRE) return false
      for (let at = this.#at + 1; at <= this.#at + length; at++) {
        const byte = this.#data[at] ?? 0
        if (byte >= 0x41 && byte <= 0x5a) this.#data[at] = byte + 0x20
      }
      this.#at += 1 + length
      if (length === 0) return true
    }
  }

  /** Two bytes, after so many others. */
  #number(after: number): number {
    const at = this.#at + after
    return (this.#data[at] ?? 0) * 256 + (this.#data[at + 1] ?? 0)
  }

  /** RFC 8659, section 4.1: letters and digits. */
  #tag(): boolean {
    const from = this.#at + 1
    const end = from + (this.#data[this.#at] ?? 0)
    const tag = binaryString(this.#data.subarray(from, end))
    return this.#skip(end - this.#at) && /^[a-zA-Z0-9]+$/.test(tag)
  }

  #parameters(): boolean {
    let last = -1
    return this.#all(() => {
      if (this.#left < 4) return false
      const [key, length] = [this.#number(0), this.#number(2)]
      const value = this.#data.subarray(this.#at + 4, this.#at + 4 + length)
      const isNext = key > last && isParameter(key, value) && (key !== NO_DEFAULT_ALPN || last === ALPN)
      last = key
      return isNext && this.#skip(4 + length)
    })
  }
}

const ALPN = 1
const NO_DEFAULT_ALPN = 2

/** A list of protocols, each a string of at least one byte. */
const isAlpn = (value: Bytes): boolean => {
  let at = 0
  while (at < value.length && value[at] !== 0) at += 1 + (value[at] ?? 0)
  return at > 0 && at === value.length
}

/** RFC 9460, section 7. `mandatory`, `ech` and later keys are refused, because their values have their own formats. */
const isParameter = (key: number, value: Bytes): boolean => {
  const { length } = value
  switch (key) {
    case ALPN:
      return isAlpn(value)
    case 3:
      return length === 2
    case 4:
      return length > 0 && length % 4 === 0
    case 6:
      return length > 0 && length % 16 === 0
    case NO_DEFAULT_ALPN:
      return length === 0
    default:
      return false
  }
}

/** The data with its names in lower case; `undefined` if it is malformed or of a type that a value cannot have. */
export const opaqueData = (type: number, data: Bytes): Bytes | undefined => {
  if (isMeta(type) || REFUSED.has(type)) return undefined
  const form = FORMS[type]
  if (form === undefined) return data
  const own = new Uint8Array(data)
  const fields = new Fields(own)
  return form.split(" ").every((field) => fields.take(field)) && fields.isWhole ? own : undefined
}
