import { type Json, JsonNumber } from "../../rpc/json/json.ts"

/**
 * Versions of the protocol. Source: electrum-protocol, `protocol-changes.rst`; ElectrumX `lib/util.py`,
 * `protocol_version`.
 */

/** The numbers of a version: 1.4.2 is [1, 4, 2]. */
export type ProtocolVersion = ReadonlyArray<number>

export const VERSION_1_4_1: ProtocolVersion = [1, 4, 1]
export const VERSION_1_4_2: ProtocolVersion = [1, 4, 2]
export const VERSION_1_4_3: ProtocolVersion = [1, 4, 3]
export const VERSION_1_6: ProtocolVersion = [1, 6]

const LOWEST: ProtocolVersion = [1, 4]
const HIGHEST = VERSION_1_6

/** Those with a definition: 1.5 was skipped. Highest first. */
const DEFINED: ReadonlyArray<ProtocolVersion> = [VERSION_1_6, VERSION_1_4_3, VERSION_1_4_2, VERSION_1_4_1, LOWEST]

export const versionText = (version: ProtocolVersion): string => version.join(".")

export const PROTOCOL_MIN = versionText(LOWEST)
export const PROTOCOL_MAX = versionText(HIGHEST)

/** As of numbers in order; a version is before those that it begins. */
export const compareVersions = (a: ProtocolVersion, b: ProtocolVersion): number => {
  for (let at = 0; at < Math.max(a.length, b.length); at++) {
    const order = (a[at] ?? -1) - (b[at] ?? -1)
    if (order !== 0) return order
  }
  return 0
}

export const isAtLeast = (version: ProtocolVersion, other: ProtocolVersion): boolean =>
  compareVersions(version, other) >= 0

const MOST_NUMBERS = 8

const readVersion = (value: Json | undefined): ProtocolVersion | undefined => {
  if (typeof value !== "string" || !/^[0-9]{1,9}(?:\.[0-9]{1,9})*$/.test(value)) return undefined
  const numbers = value.split(".").map(Number)
  return numbers.length <= MOST_NUMBERS ? numbers : undefined
}

/** Zeros at the end mean nothing: 1.6.0 is 1.6. */
const significant = (version: ProtocolVersion): ProtocolVersion =>
  version.slice(0, version.findLastIndex((number) => number > 0) + 1)

const isSame = (a: ProtocolVersion, b: ProtocolVersion): boolean =>
  compareVersions(significant(a), significant(b)) === 0

/**
 * The version that client and server speak, and how it is written to the client; `undefined` if they have none in
 * common. A range is answered with its highest version that has a definition. A single version is what the client
 * wants to read again, exactly as it wrote it.
 */
export const negotiate = (
  asked: Json | undefined
): { readonly version: ProtocolVersion; readonly text: string } | undefined => {
  if (asked === undefined || asked === null) return { version: LOWEST, text: PROTOCOL_MIN }
  if (asked instanceof JsonNumber) return undefined
  const isRange = Array.isArray(asked) && asked.length === 2
  const range: ReadonlyArray<Json> = isRange ? asked : [asked, asked]
  const low = readVersion(range[0])
  const high = readVersion(range[1])
  if (low === undefined || high === undefined) return undefined
  if (isSame(low, high)) {
    const version = DEFINED.find((each) => isSame(each, high))
    return version && { version, text: versionText(high) }
  }
  const version = DEFINED.find((each) =>
    compareVersions(significant(each), significant(high)) <= 0 &&
    compareVersions(significant(each), significant(low)) >= 0
  )
  return version && { version, text: versionText(version) }
}
