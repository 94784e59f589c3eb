/** Numbers, times and sizes for display. */

/** An integer with commas between thousands. */
export const grouped = (value: number): string => String(value).replace(/\B(?=(\d{3})+(?!\d))/g, ",")

/** `1 peer`, `2 peers`. */
export const quantityOf = (count: number, one: string, many = `${one}s`): string =>
  `${grouped(count)} ${count === 1 ? one : many}`

const UNITS: ReadonlyArray<readonly [seconds: number, name: string]> = [
  [31_556_952, "year"],
  [86_400, "day"],
  [3_600, "hour"],
  [60, "minute"],
  [1, "second"]
]

/** A time span in its two largest units: `3 days 4 hours`. */
export const spanText = (seconds: number): string => {
  const whole = Math.max(0, Math.floor(seconds))
  const first = UNITS.findIndex(([size]) => whole >= size)
  if (first < 0) return "0 seconds"
  let left = whole
  return UNITS.slice(first, first + 2).flatMap(([size, name]) => {
    const count = Math.floor(left / size)
    left -= count * size
    return count === 0 ? [] : [quantityOf(count, name)]
  }).join(" ")
}

/** Bytes with a decimal unit. */
export const sizeText = (bytes: number): string => {
  const units = ["B", "kB", "MB", "GB", "TB"]
  const power = Math.min(units.length - 1, Math.max(0, Math.floor(Math.log10(Math.max(1, bytes)) / 3)))
  return power === 0 ? `${bytes} B` : `${(bytes / 1000 ** power).toFixed(1)} ${units[power]}`
}

/** A large number in few digits: `1.23e+12`, `512.3`, `4096`. */
export const shortNumber = (value: number): string => {
  if (value >= 1e9 || (value !== 0 && Math.abs(value) < 1e-3)) return value.toExponential(2)
  return Number.isInteger(value) ? grouped(value) : value >= 1000 ? grouped(Math.round(value)) : value.toPrecision(4)
}

/** A day in UTC: `2026-12-01`. Empty for a time beyond the calendar. */
export const dayText = (unixSeconds: number): string => {
  const date = new Date(unixSeconds * 1000)
  return Number.isNaN(date.getTime()) ? "" : date.toISOString().slice(0, 10)
}
