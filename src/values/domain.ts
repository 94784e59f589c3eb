import { quoted } from "../base/safeText.ts"
import { DNS_ITEMS, type DnsData, type DomainPlace, importsOf, isSubdomainKey } from "./domainItems.ts"
import type { Findings, ProgramView } from "./findings.ts"
import { canonicalOnion } from "./hosts.ts"
import { type Located, type LocatedObject, memberOf } from "./locatedJson.ts"
import { nostrKeys } from "./nostr.ts"

/** Checks the value of a `d/` name (Domain Name Specification), and computes its DNS records. */

/** Per list of records in a view. */
const MOST_RECORDS = 100

/** Not DNS records, so suppression does not concern them. */
const OTHER_ITEMS: ReadonlySet<string> = new Set([
  "map",
  "import",
  "info",
  "tor",
  "i2p",
  "freenet",
  "zeronet",
  "nostr",
  "o"
])

const DEPRECATED: Readonly<Record<string, string>> = {
  dns: "is an old word for ns",
  fingerprint: "is no longer read: use tls",
  service: "is no longer read: use srv below map",
  email: "is no longer read by programs for domains",
  delegate: "is no longer read: use import"
}

interface Limits {
  /** The item that suppresses all records, except glue for these hosts. */
  readonly by: "ns" | "translate" | undefined
  readonly glue: ReadonlySet<string>
}

interface DomainWalk {
  readonly findings: Findings
  readonly apex: string
  readonly records: Array<{ readonly owner: string } & DnsData>
  readonly others: Array<ProgramView>
  readonly imports: Array<string>
}

/** Below a key of `map`, a text is only the address. */
const objectOf = (value: Located): LocatedObject | undefined => {
  if (value.kind === "object") return value
  if (value.kind !== "text") return undefined
  const { at, end, path } = value
  return { kind: "object", at, end, path, members: [{ key: "ip", at, value }] }
}

/** Items of `map[""]` count where the level has no such item. */
const itemsOf = (object: LocatedObject): ReadonlyMap<string, Located> => {
  const map = memberOf(object, "map")
  const inner = map?.kind === "object" ? memberOf(map, "") : undefined
  const items = new Map<string, Located>()
  for (const each of [inner === undefined ? undefined : objectOf(inner), object]) {
    for (const { key, value } of each?.kind === "object" ? each.members : []) items.set(key, value)
  }
  return new Map([...items].filter(([, value]) => value.kind !== "null"))
}

const checkOnions = (part: Located, findings: Findings): ReadonlyArray<string> =>
  findings.texts(part, "the address of an onion service in a text").flatMap((each) => {
    const host = canonicalOnion(each.text)
    if (host === undefined) {
      findings.error(each, "invalid", `${quoted(each.text)} is not the address of an onion service`)
      return []
    }
    if (host.length < 56) findings.warn(each, "deprecated", "is an address of version 2, which Tor no longer reaches")
    return [host]
  })

const suppressed = (
  items: ReadonlyMap<string, Located>,
  { by, glue }: Limits,
  { findings, owner }: DomainPlace
): ReadonlyMap<string, string> => {
  const why = new Map<string, string>()
  const own = (["ns", "dns", "translate", "alias"] as const).find((key) => items.has(key))
  for (const [key, part] of items) {
    if (!DNS_ITEMS.has(key)) continue
    const isGlue = (key === "ip" || key === "ip6") && glue.has(owner)
    const isOwn = own === key || (key === "ds" && (own === "ns" || own === "dns"))
    const reason = by !== undefined ? isGlue ? undefined : by : own !== undefined && !isOwn ? own : undefined
    if (reason === undefined) continue
    why.set(key, reason)
    findings.warn(
      part,
      "suppressed",
      `has no effect: ${reason} ${by === undefined ? "beside it" : "above it"} replaces it`
    )
  }
  return why
}

const readLevel = (
  object: LocatedObject,
  { limits, owner, parent }: { readonly owner: string; readonly parent: string; readonly limits: Limits },
  walk: DomainWalk
): void => {
  const { apex, findings } = walk
  const place: DomainPlace = { findings, owner, apex, origin: parent }
  const items = itemsOf(object)
  const without = suppressed(items, limits, place)
  const read = new Map<string, ReadonlyArray<DnsData>>()
  for (const [key, part] of items) {
    const deprecated = DEPRECATED[key]
    if (deprecated !== undefined) findings.warn(part, "deprecated", deprecated)
    const reader = DNS_ITEMS.get(key)
    if (reader !== undefined) read.set(key, reader(part, place))
    else if (deprecated === undefined && !OTHER_ITEMS.has(key)) {
      findings.warn(part, "unknown-item", "is not an item of the Domain Name Specification")
    }
  }
  for (const [key, data] of read) {
    if (without.has(key)) continue
    for (const each of data) walk.records.push({ owner, ...each })
  }
  readOthers(items, place, walk)
  const servers = (read.get("ns") ?? read.get("dns") ?? []).map(({ data }) => data)
  const below: Limits = limits.by !== undefined
    ? limits
    : items.has("ns") || items.has("dns")
    ? { by: "ns", glue: new Set(servers) }
    : items.has("translate")
    ? { by: "translate", glue: new Set() }
    : limits
  const map = items.get("map")
  if (map === undefined) return
  if (map.kind !== "object") return findings.wrongType(map, "an object of subdomains")
  for (const { key, value } of map.members) readSubdomain(value, { key, owner, below }, walk)
}

const readSubdomain = (
  value: Located,
  { below, key, owner }: { readonly key: string; readonly owner: string; readonly below: Limits },
  walk: DomainWalk
): void => {
  const { findings } = walk
  if (value.kind === "null") return
  if (!isSubdomainKey(key)) {
    return findings.error(value, "invalid", "is below a key that is not a label of DNS: lower case, without dots")
  }
  if (value.kind === "text") findings.warn(value, "deprecated", "is an address alone: write {\"ip\":\"…\"}")
  const object = objectOf(value)
  if (object === undefined) return findings.wrongType(value, "an object")
  // The items below the empty key are those of the level itself.
  if (key !== "") readLevel(object, { owner: `${key}.${owner}`, parent: owner, limits: below }, walk)
}

const readOthers = (items: ReadonlyMap<string, Located>, place: DomainPlace, walk: DomainWalk): void => {
  const { findings, owner } = place
  const imported = items.get("import")
  if (imported !== undefined) walk.imports.push(...importsOf(imported, place).map((name) => `${owner} ${name}`))
  const info = items.get("info")
  if (info !== undefined && info.kind !== "object" && info.kind !== "text") {
    findings.wrongType(info, "a text or an object")
  }
  const opaque = items.get("o")
  if (opaque !== undefined) findings.warn(opaque, "unusual", "is experimental, and few programs read it")
  const tor = items.get("tor")
  const label = owner.startsWith("_tor.") ? items.get("txt") : undefined
  const onions = [tor, label].flatMap((part) => part === undefined ? [] : checkOnions(part, findings))
  if (onions.length > 0) {
    walk.others.push({ program: "Tor", sees: onions.map((host) => `${owner.replace(/^_tor\./, "")} → ${host}`) })
  }
  const nostr = items.get("nostr")
  const keys = nostr === undefined ? [] : nostrKeys(nostr, findings)
  if (keys.length > 0) {
    const host = owner.slice(0, -1)
    walk.others.push({ program: "nostr", sees: keys.map(({ key, local }) => `${local}@${host} is ${key}`) })
  }
}

/** `host`: `example.bit`. */
export const viewDomain = (
  object: LocatedObject,
  { findings, host }: { readonly findings: Findings; readonly host: string }
): ReadonlyArray<ProgramView> => {
  const apex = `${host}.`
  const walk: DomainWalk = { findings, apex, records: [], others: [], imports: [] }
  readLevel(object, { owner: apex, parent: apex, limits: { by: undefined, glue: new Set() } }, walk)
  const lines = walk.records.map(({ data, owner, type }) => `${owner} ${type} ${data}`)
  const shown = lines.slice(0, MOST_RECORDS)
  return [
    {
      program: "DNS",
      sees: [
        ...shown,
        ...(lines.length > shown.length ? [`and ${lines.length - shown.length} more records`] : []),
        ...walk.imports.map((each) => `${each.replace(" ", " also has what is in ")}`)
      ]
    },
    ...walk.others
  ]
}
