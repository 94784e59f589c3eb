import type { Bytes } from "../protocol/bytes.ts"
import type { NameKey } from "../protocol/keys.ts"
import type { HostText, RecordData } from "./records.ts"

/** The zone that a `d/` name makes: its value and the imported values as a tree of DNS labels. */

/** Records and names at one owner name. Without records it is an empty non-terminal; leaves always have records. */
export interface ZoneNode {
  /** By number of the type, never empty. A node with CNAME has no other type, one with NS at most DS (and glue if it is a server). */
  readonly sets: ReadonlyMap<number, ReadonlyArray<RecordData>>
  /** By label, in lower case; `*` is the wildcard. Below a node with NS only hosts with glue. None below DNAME. */
  readonly below: ReadonlyMap<string, ZoneNode>
}

export interface DomainZone {
  /** `example.bit.` */
  readonly host: HostText
  readonly top: ZoneNode
  /** All names that were read or missed, the domain's own first. A change of any of them can change the zone. */
  readonly sources: ReadonlyArray<NameKey>
  /** Whether limits of imports left something out. */
  readonly isCut: boolean
}

/** Yields the name whose value is wanted next, and takes it; `undefined` for a missing or expired name. */
export type ZoneWork = Generator<Bytes, DomainZone, Bytes | undefined>
