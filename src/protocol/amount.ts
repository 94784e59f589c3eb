/**
 * Amounts are integers in the smallest unit (1 NMC = 10^8). A double holds each of them exactly: the final supply is
 * 2.1 × 10^15, below 2^53. Only this file turns amounts into text and back.
 */

export const COIN = 100_000_000

/** Decimals of an amount in NMC. */
export const AMOUNT_DECIMALS = 8

/** The upper limit of each amount and of each sum of amounts (consensus). */
export const MAX_MONEY = 21_000_000 * COIN

export const isMoney = (amount: number): boolean => amount >= 0 && amount <= MAX_MONEY

/**
 * Returns an amount as NMC with all decimals: `-0.01024800`. Never with an exponent.
 *
 * @throws RangeError for a number that is no integer
 */
export const formatAmount = (units: number | bigint): string => {
  const exact = typeof units === "number" && !Number.isSafeInteger(units) ? BigInt(units) : units
  const digits = String(exact < 0 ? -exact : exact).padStart(AMOUNT_DECIMALS + 1, "0")
  return `${exact < 0 ? "-" : ""}${digits.slice(0, -AMOUNT_DECIMALS)}.${digits.slice(-AMOUNT_DECIMALS)}`
}

/** The same with at least two decimals, and no more than needed: `0.01`. Upstream `util/moneystr.cpp`, `FormatMoney`. */
export const formatMoney = (units: number): string => formatAmount(units).replace(/0{1,6}$/, "")

/** The same with no more decimals than needed: `1`. */
export const shortAmount = (units: number): string => formatAmount(units).replace(/\.?0+$/, "")

/** An amount as users read it, with its unit: `0.01 NMC`. */
export const amountText = (units: number): string => `${shortAmount(units)} NMC`

/** An estimate, with four decimals at most, rounded up: more would claim to be exact. */
export const aboutText = (units: number): string => `about ${amountText(Math.ceil(units / 10_000) * 10_000)}`

const DECIMAL = /^(-?)(0|[1-9][0-9]*)(?:\.([0-9]+))?(?:[eE]([+-]?[0-9]+))?$/

/** More digits than any value in range has. It also keeps untrusted exponents away from `repeat`. */
const MAX_DIGITS = 18

/**
 * Returns the integer that a decimal number becomes when its point moves right by `decimals`. Returns `undefined` for a
 * text that is not a number, leaves a fraction or is out of range. Exact: only the last step uses a double. Upstream
 * `util/strencodings.cpp`, `ParseFixedPoint`.
 */
export const parseFixedPoint = (text: string, decimals: number): number | undefined => {
  const match = DECIMAL.exec(text)
  if (match === null) return undefined
  const [, sign = "", whole = "", fraction = "", power = "0"] = match
  const digits = (whole + fraction).replace(/^0+/, "")
  const significant = digits.replace(/0+$/, "")
  const scale = Number(power) + decimals
  if (significant === "") return scale >= 0 && scale < MAX_DIGITS ? 0 : undefined
  const exponent = scale - fraction.length + digits.length - significant.length
  if (exponent < 0 || significant.length + exponent > MAX_DIGITS) return undefined
  const value = Number(significant + "0".repeat(exponent))
  return sign === "-" ? -value : value
}

/** Reads an amount in NMC into the smallest unit, whatever its sign and size; `undefined` as in `parseFixedPoint`. */
export const parseAmount = (text: string): number | undefined => parseFixedPoint(text, AMOUNT_DECIMALS)

/** Reads an amount in NMC above 0 that a person wrote, into the smallest unit; or a sentence with what is wrong with it. */
export const writtenAmount = (text: string): { readonly units: number } | { readonly wrong: string } => {
  const plain = text.trim().replace(/\s*NMC$/i, "")
  if (plain.includes(",")) return { wrong: "Write the amount with a point, as 1.5, and without commas." }
  if (plain === "") return { wrong: "Write an amount, as 0.5." }
  if (/^-[\d.]/.test(plain)) return { wrong: "The amount is negative: an amount to pay is above zero." }
  if (!/^(?:\d+(?:\.\d*)?|\.\d+)$/.test(plain)) {
    return { wrong: "This is no amount: write digits alone, with a point before the decimals, as 0.5." }
  }
  if (/\.\d{8}\d*[1-9]/.test(plain)) {
    return { wrong: "The amount has more than 8 decimals: the smallest one is 0.00000001." }
  }
  const units = parseAmount(plain.replace(/^\./, "0.").replace(/\.$/, ""))
  if (units === undefined || !isMoney(units)) {
    return { wrong: `The amount is more than all coins that can exist: ${shortAmount(MAX_MONEY)} NMC.` }
  }
  return units === 0 ? { wrong: "The amount is zero." } : { units }
}
