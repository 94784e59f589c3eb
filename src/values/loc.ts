import type { Bytes } from "../protocol/bytes.ts"

/** A place on Earth (RFC 1876): `52 22 23.000 N 4 53 32.000 E -2.00m 0.00m 10000m 10m` and its 16 bytes. */

const ANGLE = String.raw`(\d{1,3})(?: (\d{1,2})(?: (\d{1,2}(?:\.\d{1,3})?))?)?`
const METRES = String.raw`(\d{1,8}(?:\.\d{1,2})?)m?`
const PLACE = new RegExp(
  `^${ANGLE} ([NS]) ${ANGLE} ([EW]) (-?)${METRES}(?: ${METRES}(?: ${METRES}(?: ${METRES})?)?)?$`
)

/** Thousandths of a second of arc, and centimetres, at 0 of the fields: the equator, the meridian, 100 km below sea level. */
const ZERO_ANGLE = 2 ** 31
const SEA_LEVEL = 10_000_000

const LARGEST = 2 ** 32 - 1

/** Degrees, minutes and seconds in thousandths of a second. */
const angleOf = ([degrees, minutes = "0", seconds = "0"]: ReadonlyArray<string | undefined>): number | undefined =>
  Number(minutes) > 59 || Number(seconds) >= 60
    ? undefined
    : (Number(degrees) * 60 + Number(minutes)) * 60_000 + Math.round(Number(seconds) * 1_000)

const centimetres = (metres: string): number => Math.round(Number(metres) * 100)

/** A byte of a digit and a power of ten. */
const sizeByte = (metres: string): number => {
  let digit = centimetres(metres)
  let power = 0
  while (digit > 9) {
    digit = Math.floor(digit / 10)
    power++
  }
  return digit * 16 + power
}

/** The record's data, or `undefined` for any other text. */
export const locBytes = (text: string): Bytes | undefined => {
  const found = PLACE.exec(text)
  if (found === null) return undefined
  const [, d1, m1, s1, north, d2, m2, s2, east, sign, height = "", size = "1", across = "10000", up = "10"] = found
  const [latitude, longitude] = [angleOf([d1, m1, s1]), angleOf([d2, m2, s2])]
  if (latitude === undefined || latitude > 90 * 3_600_000) return undefined
  if (longitude === undefined || longitude > 180 * 3_600_000) return undefined
  const altitude = SEA_LEVEL + (sign === "-" ? -1 : 1) * centimetres(height)
  if (altitude < 0 || altitude > LARGEST || [size, across, up].some((each) => Number(each) > 90_000_000)) {
    return undefined
  }
  const bytes = new Uint8Array(16)
  bytes.set([0, sizeByte(size), sizeByte(across), sizeByte(up)])
  const view = new DataView(bytes.buffer)
  view.setUint32(4, ZERO_ANGLE + (north === "N" ? latitude : -latitude))
  view.setUint32(8, ZERO_ANGLE + (east === "E" ? longitude : -longitude))
  view.setUint32(12, altitude)
  return bytes
}

const angleText = (field: number, [more, less]: readonly [more: string, less: string]): string => {
  const angle = Math.abs(field - ZERO_ANGLE)
  const [degrees, minutes] = [Math.floor(angle / 3_600_000), Math.floor(angle / 60_000) % 60]
  return `${degrees} ${minutes} ${((angle % 60_000) / 1_000).toFixed(3)} ${field < ZERO_ANGLE ? less : more}`
}

const metresText = (centimetres: number): string => `${(centimetres / 100).toFixed(2)}m`

const sizeText = (byte = 0): string => metresText((byte >> 4) * 10 ** (byte & 15))

/** All fields of the 16 bytes. */
export const locText = (data: Bytes): string => {
  const view = new DataView(data.buffer, data.byteOffset, data.byteLength)
  return [
    angleText(view.getUint32(4), ["N", "S"]),
    angleText(view.getUint32(8), ["E", "W"]),
    metresText(view.getUint32(12) - SEA_LEVEL),
    ...[1, 2, 3].map((at) => sizeText(data[at]))
  ].join(" ")
}
