import { DNS_ITEMS } from "./domainItems.ts"
import type { DomainLevel } from "./domainLevel.ts"
import type { Findings } from "./findings.ts"
import { LONGEST_HOST } from "./hosts.ts"
import type { Located } from "./locatedJson.ts"
import { type HostText, type RecordData, recordText, TYPE_NUMBERS, typeNumberOf } from "./records.ts"

/** What an owner name has in DNS, and the names below it (IFA-0001, "Item Suppression Rules"). */

/** Records and names at one owner name. Without records it is an empty non-terminal; leaves always have records. */
export interface ZoneNode {
  /** By number of the type, never empty. A node with CNAME has no other type, one with NS at most DS (and glue if it is a server). */
  readonly sets: ReadonlyMap<number, ReadonlyArray<RecordData>>
  /** By label, in lower case; `*` is the wildcard. Below a node with NS only hosts with glue. None below DNAME. */
  readonly below: ReadonlyMap<string, ZoneNode>
}

/** Labels below the domain. */
const DEEPEST = 16

/** Above: `ns` or `translate`. It replaces all records but glue of these hosts. */
interface Cut {
  readonly by: "ns" | "translate"
  readonly glue: ReadonlySet<HostText>
}

interface LevelPlace {
  readonly owner: HostText
  readonly parent: HostText
  readonly labels: number
  readonly cut: Cut | undefined
}

type ItemRecords = ReadonlyMap<string, ReadonlyArray<RecordData>>

/** The item that replaces others at its level, if it has a valid record. */
const REPLACING = ["ns", "translate", "alias"] as const

type Replacing = (typeof REPLACING)[number]

class TreeReader {
  readonly #findings: Findings
  readonly #apex: HostText
  isCut = false

  constructor(apex: HostText, findings: Findings) {
    this.#apex = apex
    this.#findings = findings
  }

  node(level: DomainLevel, place: LevelPlace): ZoneNode {
    const read = this.#read(level, place)
    const by = place.cut === undefined ? REPLACING.find((key) => hasRecords(read, key)) : undefined
    const cut = place.cut ?? (by === "ns" || by === "translate" ? { by, glue: glueOf(by, read) } : undefined)
    const below = level.below.size === 0 ? NO_NAMES : this.#below(level, place, cut)
    const sets = new Map<number, Array<RecordData>>()
    for (const [key, records] of read) {
      if (this.#counts(key, { by, cut, level, place, records })) this.#add(sets, records, level.items.get(key))
    }
    if (cut === undefined && by !== "alias" && isMissing(level.items.get("mx"))) {
      this.#add(sets, mailServers(below), undefined)
    }
    for (const [type, records] of sets) if (records.length > 1) sets.set(type, distinct(records))
    return { sets, below }
  }

  /** Records by item, the opaque ones last. */
  #read(level: DomainLevel, { owner, parent }: LevelPlace): ItemRecords {
    const read = new Map<string, ReadonlyArray<RecordData>>()
    const place = { findings: this.#findings, owner, apex: this.#apex, origin: parent }
    for (const [key, part] of level.items) {
      const reader = part.kind === "null" ? undefined : DNS_ITEMS.get(key)
      if (reader === undefined || key === "o") continue
      if ((key === "ns" || key === "translate") && owner.startsWith("*.")) {
        this.#findings.error(part, "invalid", "has no effect below *: DNS has no wildcard of this kind")
      } else read.set(key, reader(part, place))
    }
    const opaque = level.items.get("o")
    if (opaque !== undefined && opaque.kind !== "null") read.set("o", DNS_ITEMS.get("o")?.(opaque, place) ?? [])
    return read
  }

  #below(level: DomainLevel, { labels, owner }: LevelPlace, cut: Cut | undefined): ReadonlyMap<string, ZoneNode> {
    const below = new Map<string, ZoneNode>()
    for (const [label, each] of level.below) {
      if (each === null) continue
      const name = `${label}.${owner}`
      if (labels === DEEPEST || name.length > LONGEST_HOST + 1) {
        this.isCut = true
        const [part] = each.items.values()
        if (part !== undefined) {
          this.#findings.error(part, "invalid", `is below more than ${DEEPEST} labels, or ${LONGEST_HOST} characters`)
        }
        continue
      }
      const node = this.node(each, { owner: name, parent: owner, labels: labels + 1, cut })
      if (node.sets.size > 0 || node.below.size > 0) below.set(label, node)
    }
    return below
  }

  #counts(
    key: string,
    { by, cut, level, place, records }: {
      readonly by: Replacing | undefined
      readonly cut: Cut | undefined
      readonly level: DomainLevel
      readonly place: LevelPlace
      readonly records: ReadonlyArray<RecordData>
    }
  ): boolean {
    const part = level.items.get(key)
    if ((key === "ip" || key === "ip6") && cut?.glue.has(place.owner) === true) return true
    const above = place.cut?.by
    if (part !== undefined && above !== undefined) {
      this.#findings.warn(part, "suppressed", `has no effect: ${above} above it replaces it`)
      return false
    }
    if (by === key || (by === "ns" && key === "ds")) return true
    if (part !== undefined && by !== undefined) {
      this.#findings.warn(part, "suppressed", `has no effect: ${by} beside it replaces it`)
      return false
    }
    if (part === undefined || key !== "ds" || records.length === 0) return true
    this.#findings.warn(part, "unusual", "has no effect without ns")
    return false
  }

  #add(sets: Map<number, Array<RecordData>>, records: ReadonlyArray<RecordData>, part: Located | undefined): void {
    for (const record of records) {
      const type = typeNumberOf(record)
      const set = sets.get(type)
      if (set === undefined) sets.set(type, [record])
      else if (set[0]?.type === record.type) set.push(record)
      else if (part !== undefined) {
        this.#findings.error(part, "invalid", `has records of the type ${type}, which another item has`)
      }
    }
  }
}

const NO_NAMES: ReadonlyMap<string, ZoneNode> = new Map()

const glueOf = (by: "ns" | "translate", read: ItemRecords): ReadonlySet<HostText> =>
  new Set(by === "ns" ? (read.get("ns") ?? []).flatMap((each) => each.type === "NS" ? [each.target] : []) : [])

const hasRecords = (read: ItemRecords, key: string): boolean => (read.get(key)?.length ?? 0) > 0

const isMissing = (part: Located | undefined): boolean => part === undefined || part.kind === "null"

const SMTP_PORT = 25

/** IFA-0001, "MX": the services of port 25 at `_smtp._tcp`. */
const mailServers = (below: ReadonlyMap<string, ZoneNode>): ReadonlyArray<RecordData> =>
  (below.get("_tcp")?.below.get("_smtp")?.sets.get(TYPE_NUMBERS.SRV) ?? []).flatMap((each) =>
    each.type === "SRV" && each.port === SMTP_PORT
      ? [{ type: "MX" as const, preference: each.priority, target: each.target }]
      : []
  )

/** A set holds each record once (RFC 2181, section 5). */
const distinct = (records: ReadonlyArray<RecordData>): Array<RecordData> =>
  [
    ...new Map(records.toReversed().map((each) => [recordText(each), each])).values()
  ].toReversed()

export interface ZoneTree {
  readonly top: ZoneNode
  /** Whether labels are missing because they are too deep or their names too long. */
  readonly isCut: boolean
}

/** `apex`: `example.bit.`. */
export const zoneTree = (level: DomainLevel, apex: HostText, findings: Findings): ZoneTree => {
  const reader = new TreeReader(apex, findings)
  const top = reader.node(level, { owner: apex, parent: apex, labels: 0, cut: undefined })
  return { top, isCut: reader.isCut }
}
