export const grouped = (value: number): string => String(Math.round(value)).replace(/\B(?=(\d{3})+(?!\d))/g, ",")

/** `1 peer`, `2 peers`. */
export const quantityOf = (count: number, one: string, many = `${one}s`): string =>
  `${grouped(count)} ${count === 1 ? one : many}`

/** In seconds, the longest first. The script of the pages uses the same units. */
export const TIME_UNITS = [
  ["year", 31_557_600],
  ["month", 2_629_800],
  ["day", 86_400],
  ["hour", 3_600],
  ["minute", 60],
  ["second", 1]
] as const

/** In the two largest units: `3 days 4 hours`. */
export const spanText = (seconds: number): string => {
  const whole = Math.max(0, Math.round(seconds))
  const first = TIME_UNITS.findIndex(([, size]) => whole >= size)
  if (first < 0) return "0 seconds"
  let left = whole
  return TIME_UNITS.slice(first, first + 2).flatMap(([name, size]) => {
    const count = Math.floor(left / size)
    left -= count * size
    return count === 0 ? [] : [quantityOf(count, name)]
  }).join(" ")
}

const SIZES = ["B", "kB", "MB", "GB", "TB"] as const

/** In powers of 1000, not of 1024: `1.2 MB`. */
export const sizeText = (bytes: number): string => {
  let value = bytes
  let unit = 0
  while (value >= 999.5 && unit < SIZES.length - 1) {
    value /= 1000
    unit++
  }
  return `${unit === 0 || value >= 99.5 ? Math.round(value) : value.toFixed(1)} ${SIZES[unit] ?? ""}`
}

/** A large number in few digits: `1.23e+12`, `512.3`, `4096`. */
export const shortNumber = (value: number): string => {
  if (value >= 1e9 || (value !== 0 && Math.abs(value) < 1e-3)) return value.toExponential(2)
  return Number.isInteger(value) ? grouped(value) : value >= 1000 ? grouped(Math.round(value)) : value.toPrecision(4)
}

/** In UTC: `2026-12-01`. Empty for a time beyond the calendar. */
export const dayText = (unixSeconds: number): string => {
  const date = new Date(unixSeconds * 1000)
  return Number.isNaN(date.getTime()) ? "" : date.toISOString().slice(0, 10)
}
