import { TYPE_NUMBERS } from "../values/records.ts"
import type { RecordSet } from "./records.ts"
import { type WireName, wireNameOfHost } from "./wire/name.ts"

/** What class CH says about the server: its version, its name, and its progress to callers on this machine. */
export interface ServerFacts {
  /** Program and version. */
  readonly version: string
  /** For `id.server.`; `undefined` for none. */
  readonly serverId: string | undefined
  /** As `syncFacts` makes it; `undefined` for callers elsewhere. */
  readonly sync: string | undefined
}

const encoder = new TextEncoder()

const factOf = (name: WireName, { serverId, sync, version }: ServerFacts): string | undefined => {
  switch (name) {
    case wireNameOfHost("version.bind."):
    case wireNameOfHost("version.server."):
      return version
    case wireNameOfHost("id.server."):
    case wireNameOfHost("hostname.bind."):
      return serverId
    case wireNameOfHost("sync.svcd."):
      return sync
    default:
      return undefined
  }
}

/** The TXT record; empty for another type. `undefined` if the name is refused. */
export const chaosAnswer = (
  { name, type }: { readonly name: WireName; readonly type: number },
  facts: ServerFacts
): ReadonlyArray<RecordSet> | undefined => {
  const text = factOf(name, facts)
  if (text === undefined) return undefined
  if (type !== TYPE_NUMBERS.TXT) return []
  const strings = [encoder.encode(text).subarray(0, 255)]
  return [{ owner: name, type, ttl: 0, records: [{ type: "TXT", strings }], signs: false }]
}
