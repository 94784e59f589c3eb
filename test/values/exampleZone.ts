import { recordText, recordTypeText } from "../../src/values/records.ts"
import { type DomainZone, domainZone, recordsBelow, zoneFrom } from "../../src/values/zone.ts"

/** The zone of `d/example`, of values as texts. */

export const bytes = (text: string): Uint8Array => new TextEncoder().encode(text)
export const text = (given: Uint8Array): string => new TextDecoder().decode(given)

/** The zone of `d/example` among these values. */
export const zoneOf = (values: ReadonlyMap<string, string>, host = "example.bit."): DomainZone =>
  zoneFrom(
    domainZone({ name: bytes("d/example"), value: bytes(values.get("d/example") ?? ""), host }),
    (name) => {
      const value = values.get(text(name))
      return value === undefined ? undefined : bytes(value)
    }
  )

export const linesOf = ({ host, top }: DomainZone): ReadonlyArray<string> =>
  Array.from(
    recordsBelow(host, top),
    ({ owner, record }) => `${owner} ${recordTypeText(record)} ${recordText(record)}`
  )

export const values = (own: unknown, others: Readonly<Record<string, unknown>> = {}): ReadonlyMap<string, string> =>
  new Map(
    Object.entries({ "d/example": own, ...others }).map(([name, value]) =>
      [name, typeof value === "string" ? value : JSON.stringify(value)] as const
    )
  )

export const IP = "192.0.2.1"
export const DIGEST = "LXEWQrcmsEQBYnyp+6wy9chTD7GQPMTbAiWHF5IaSIE="
