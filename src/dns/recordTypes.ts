import { TYPE_NUMBERS } from "../values/records.ts"

/** Words for record types (IANA, "Domain Name System (DNS) Parameters"), and RFC 3597 for the others. */

/** Types that values cannot hold, except with the item `o`, but that people ask for. */
const FURTHER_TYPES = {
  PTR: 12,
  NAPTR: 35,
  SMIMEA: 53,
  CDS: 59,
  CDNSKEY: 60,
  OPENPGPKEY: 61,
  SVCB: 64,
  HTTPS: 65,
  ANY: 255,
  URI: 256,
  CAA: 257
} as const

/** What programs may ask for. */
export type AskedType = keyof typeof TYPE_NUMBERS | keyof typeof FURTHER_TYPES | `TYPE${number}`

export const ANY_TYPE = FURTHER_TYPES.ANY

const NUMBERS: ReadonlyMap<string, number> = new Map(Object.entries({ ...TYPE_NUMBERS, ...FURTHER_TYPES }))

const WORDS: ReadonlyMap<number, string> = new Map(Array.from(NUMBERS, ([word, number]) => [number, word]))

/** Types of messages and transfers, not of records: OPT, TKEY, TSIG, IXFR, AXFR. */
const NO_RECORDS: ReadonlySet<number> = new Set([0, 41, 249, 250, 251, 252])

/** The number of a type, written as `AAAA` or `TYPE28`, in any case; `undefined` if nothing can be asked with it. */
export const typeOfWord = (word: string): number | undefined => {
  const upper = word.toUpperCase()
  const digits = /^TYPE(\d{1,5})$/.exec(upper)?.[1]
  const number = digits === undefined ? NUMBERS.get(upper) : Number(digits)
  return number === undefined || number > 0xffff || NO_RECORDS.has(number) ? undefined : number
}

export const wordOfType = (number: number): string => WORDS.get(number) ?? `TYPE${number}`
