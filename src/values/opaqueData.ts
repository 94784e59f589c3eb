import type { Bytes } from "../protocol/bytes.ts"

/**
 * Checks the data of records that values have as bytes (IFA-0001, "o"). A secondary server refuses the whole zone for
 * one malformed record, so no owner of a name may write one.
 */

/**
 * By type, the fields of its data: a number of bytes; `n` a name; `s` a character string, `S` one or more to the end;
 * `b` a bitmap of types (RFC 4034, section 4.1.2); `p` parameters of a service (RFC 9460, section 2.2); `*` any bytes
 * to the end, and `+` at least one. `-`: obsolete types, and those whose fields depend on others.
 */
const FORMS: Readonly<Record<number, string>> = {
  1: "4",
  3: "n",
  4: "n",
  7: "n",
  8: "n",
  9: "n",
  11: "4 1 *",
  12: "n",
  13: "s s",
  14: "n n",
  15: "2 n",
  16: "S",
  17: "n n",
  18: "2 n",
  19: "s",
  20: "S",
  21: "2 n",
  22: "+",
  23: "n",
  24: "-",
  25: "4 *",
  26: "2 n n",
  27: "s s s",
  28: "16",
  29: "16",
  30: "-",
  33: "6 n",
  35: "4 s s s n",
  36: "2 n",
  37: "5 *",
  38: "-",
  42: "-",
  44: "2 +",
  45: "-",
  48: "4 +",
  49: "+",
  51: "4 s",
  52: "3 +",
  53: "3 +",
  55: "-",
  59: "4 +",
  60: "4 +",
  61: "+",
  62: "6 b",
  63: "6 +",
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
  257: "1 s *",
  258: "S",
  260: "-"
}

/** Questions and messages have the types of the last range (RFC 6895, section 3.1). */
const isForbidden = (type: number): boolean =>
  [0, 2, 5, 6, 39, 41, 43, 46, 47, 50].includes(type) || (type >= 128 && type < 256)

const LONGEST_LABEL = 63
const LONGEST_WIRE = 255

/** Moves over the fields. */
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

  /** Whether the field is there. */
  take(field: string): boolean {
    switch (field) {
      case "n":
        return this.#name()
      case "s":
        return this.#skip(1 + (this.#data[this.#at] ?? 0))
      case "S":
        return this.#all(() => this.take("s"))
      case "b":
        return this.isWhole || this.#all(() => this.#window())
      case "p":
        return this.isWhole || this.#parameters()
      case "+":
        return this.#left > 0 && this.#skip(this.#left)
      case "*":
        return this.#skip(this.#left)
      case "-":
        return false
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

  /** In lower case afterwards, as signatures cover it (RFC 4034, section 6.2). */
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

  #number(): number {
    return (this.#data[this.#at] ?? 0) * 256 + (this.#data[this.#at + 1] ?? 0)
  }

  #window(): boolean {
    const length = this.#data[this.#at + 1] ?? 0
    return length > 0 && length <= 32 && this.#skip(2 + length)
  }

  #parameters(): boolean {
    let last = -1
    return this.#all(() => {
      if (this.#left < 4) return false
      const key = this.#number()
      this.#at += 2
      const isNext = key > last
      last = key
      return isNext && this.#skip(2 + this.#number())
    })
  }
}

/** The data with its names in lower case; `undefined` if it is malformed or of a type that a value cannot have. */
export const opaqueData = (type: number, data: Bytes): Bytes | undefined => {
  if (isForbidden(type)) return undefined
  const form = FORMS[type]
  if (form === undefined) return data
  const own = new Uint8Array(data)
  const fields = new Fields(own)
  return form.split(" ").every((field) => fields.take(field)) && fields.isWhole ? own : undefined
}
