// Amounts are integers in the smallest unit (1 NMC = 10^8). A double holds them exactly: the final supply is 2.1 ×
// 10^15, below 2^53. Only this file converts amounts to text and back.

export const COIN = 100_000_000

export const AMOUNT_DECIMALS = 8

/** The limit of each amount and each sum of amounts (consensus). */
export const MAX_MONEY = 21_000_000 * COIN

export const isMoney = (amount: number): boolean => amount >= 0 && amount <= MAX_MONEY

/** `-0.01024800`: all decimals, no exponent. Throws `RangeError` for a fraction. */
export const formatAmount = (units: number | bigint): string => {
  const exact = typeof units === "number" && !Number.isSafeInteger(units) ? BigInt(units) : units
  const digits = String(exact < 0 ? -exact : exact).padStart(AMOUNT_DECIMALS + 1, "0")
  return `${exact < 0 ? "-" : ""}${digits.slice(0, -AMOUNT_DECIMALS)}.${digits.slice(-AMOUNT_DECIMALS)}`
}

/** At least two decimals: `0.01`. Upstream `util/moneystr.cpp`, `FormatMoney`. */
export const formatMoney = (units: number): string => formatAmount(units).replace(/0{1,6}$/, "")

/** The same with as few decimals as possible: `1`. */
export const shortAmount = (units: number): string => formatAmount(units).replace(/\.?0+$/, "")

/** `0.01 NMC`. */
export const amountText = (units: number): string => `${shortAmount(units)} NMC`

/** An estimate, rounded up to at most four decimals to avoid false precision. */
export const aboutText = (units: number): string => `about ${amountText(Math.ceil(units / 10_000) * 10_000)}`

const DECIMAL = /^(-?)(0|[1-9][0-9]*)(?:\.([0-9]+))?(?:[eE]([+-]?[0-9]+))?$/

/** More digits than any valid value has. This also bounds `repeat` for untrusted exponents. */
const MAX_DIGITS = 18

/**
 * Moves the decimal point right by `decimals`. `undefined` if the text is not a number, or if the result is a fraction
 * or out of range. Exact: only the last step uses a double. Upstream `util/strencodings.cpp`, `ParseFixedPoint`.
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

/** Parses an amount of any sign and size; `undefined` as in `parseFixedPoint`. */
export const parseAmount = (text: string): number | undefined => parseFixedPoint(text, AMOUNT_DECIMALS)

/** Parses a positive amount that a user typed, or returns what is wrong with it. */
export const writtenAmount = (text: string): { readonly units: number } | { readonly wrong: string } => {
  const plain = text.trim().replace(/\s*NMC$/i, "")
  if (plain.includes(",")) return { wrong: "Use a decimal point and no commas, as in 1.5." }
  if (plain === "") return { wrong: "Enter an amount, such as 0.5." }
  if (/^-[\d.]/.test(plain)) return { wrong: "The amount is negative. It must be above zero." }
  if (!/^(?:\d+(?:\.\d*)?|\.\d+)$/.test(plain)) {
    return { wrong: "This is not an amount. Use digits and a decimal point only, as in 0.5." }
  }
  if (/\.\d{8}\d*[1-9]/.test(plain)) {
    return { wrong: "The amount has more than 8 decimals. The smallest amount is 0.00000001." }
  }
  const units = parseAmount(plain.replace(/^\./, "0.").replace(/\.$/, ""))
  if (units === undefined || !isMoney(units)) {
    return { wrong: `The amount exceeds the total supply of ${shortAmount(MAX_MONEY)} NMC.` }
  }
  return units === 0 ? { wrong: "The amount is zero. It must be above zero." } : { units }
}
