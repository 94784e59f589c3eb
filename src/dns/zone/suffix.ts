import type { HostText, RecordData } from "../../values/records.ts"
import { MAX_NAME_BYTES, type WireName, wireNameText } from "../wire/name.ts"

/** The zone below another name than `bit.` (`-dnssuffix`): hosts of values that are within `.bit` move with it. */

const BIT = "bit."

/** The origin of the zone without a suffix. */
export const BIT_ORIGIN = "\x03bit\0" as WireName

/** The text of an origin, which is nearly always this one. */
export const originText = (origin: WireName): HostText => origin === BIT_ORIGIN ? BIT : wireNameText(origin)

const moved = (host: HostText, origin: HostText): HostText => {
  if (host !== BIT && !host.endsWith(`.${BIT}`)) return host
  const longer = host.slice(0, -BIT.length) + origin
  // The wire form has one byte more than the text.
  return longer.length < MAX_NAME_BYTES ? longer : host
}

/** Records of values as they are in the zone with this origin. */
export const inOrigin = (records: ReadonlyArray<RecordData>, origin: WireName): ReadonlyArray<RecordData> => {
  if (origin === BIT_ORIGIN) return records
  const text = originText(origin)
  return records.map((record) => "target" in record ? { ...record, target: moved(record.target, text) } : record)
}
