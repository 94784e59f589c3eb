import type { Bytes } from "../protocol/bytes.ts"
import { encodeText } from "../protocol/nameText.ts"
import { type Findings, SILENT } from "./findings.ts"
import { isDnsLabel, isIpv4Text } from "./hosts.ts"
import { isFault, type Located, type LocatedObject, type LocatedText, readLocatedJson } from "./locatedJson.ts"

/** The objects of a domain's value as levels: one for the domain and one for each subdomain, whatever their form. */

export interface DomainLevel {
  /**
   * All items but `map`, with those of `map[""]`; the last of a repeated key. `dns` stands as `ns`. A `null` counts
   * against items of imports.
   */
  readonly items: ReadonlyMap<string, Located>
  /** By label or `*`. `null` removes the label from imports. */
  readonly below: ReadonlyMap<string, DomainLevel | null>
  /** `map` is null: imports add no subdomains. */
  readonly isClosed: boolean
  /** Whether `import` or `delegate` is here or below. */
  readonly asks: boolean
}

/** One label, or the wildcard. */
export const isSubdomainKey = (key: string): boolean => key === "*" || isDnsLabel(key)

type LevelPart = LocatedObject | LocatedText

const membersOf = (object: LocatedObject): ReadonlyMap<string, Located> => {
  const members = new Map<string, Located>()
  for (const { key, value } of object.members) members.set(key, value)
  return members
}

/** A text in the place of a subdomain is its address. */
const addressOf = (text: LocatedText): ReadonlyMap<string, Located> =>
  new Map([[isIpv4Text(text.text) || !text.text.includes(":") ? "ip" : "ip6", text]])

interface Layers {
  readonly items: Map<string, Located>
  readonly below: Map<string, Array<LevelPart> | null>
  readonly findings: Findings
}

/** An item that is there already counts, unless it is `null`. */
const addItems = (members: ReadonlyMap<string, Located>, { findings, items }: Layers): void => {
  // IFA-0001, "ns": dns takes precedence.
  const replaced = members.get("dns") !== undefined && members.get("dns")?.kind !== "null"
  for (const [key, part] of members) {
    if (key === "map") continue
    if (replaced && key === "ns") {
      if (part.kind !== "null") findings.warn(part, "suppressed", "has no effect: dns beside it replaces it")
      continue
    }
    if (key === "dns" && part.kind !== "null") findings.warn(part, "deprecated", "is an old word for ns")
    const item = key === "dns" ? "ns" : key
    const before = items.get(item)
    if (before === undefined || before.kind === "null") items.set(item, part)
  }
}

/** Returns the part below the empty key. */
const addSubdomains = (map: LocatedObject, { below, findings }: Layers): LevelPart | undefined => {
  const members = membersOf(map)
  for (const [key, value] of members) {
    if (value.kind === "null") {
      if (key !== "" && !below.has(key)) below.set(key, null)
    } else if (key !== "" && !isSubdomainKey(key)) {
      findings.error(value, "invalid", "is below a key that is not a label of DNS: lower case, without dots")
    } else if (value.kind === "object" || value.kind === "text") {
      if (value.kind === "text") {
        findings.warn(value, "deprecated", "is an address alone: write {\"ip\":\"…\"}")
      }
      const before = below.get(key)
      if (key === "") continue
      if (before === undefined || before === null) below.set(key, [value])
      else before.push(value)
    } else findings.wrongType(value, "an object")
  }
  const inner = members.get("")
  return inner?.kind === "object" || inner?.kind === "text" ? inner : undefined
}

const NONE: ReadonlyMap<string, never> = new Map<string, never>()

/** A level without subdomains, as most are. */
const leafOf = (items: ReadonlyMap<string, Located>): DomainLevel => ({
  items,
  below: NONE,
  isClosed: false,
  asks: isAsking(items)
})

const isAsking = (items: ReadonlyMap<string, Located>): boolean =>
  (items.get("import") ?? items.get("delegate")) !== undefined

const levelOfParts = (parts: ReadonlyArray<LevelPart>, findings: Findings): DomainLevel => {
  const [first] = parts
  if (first !== undefined && parts.length === 1) {
    const items = first.kind === "text" ? addressOf(first) : membersOf(first)
    if (!items.has("map") && !items.has("dns")) return leafOf(items)
  }
  const layers: Layers = { items: new Map(), below: new Map(), findings }
  const queue = [...parts]
  let isClosed = false
  for (const part of queue) {
    if (part.kind === "text") {
      addItems(addressOf(part), layers)
      continue
    }
    const members = membersOf(part)
    addItems(members, layers)
    const map = members.get("map")
    if (map?.kind === "object") {
      const inner = addSubdomains(map, layers)
      if (inner !== undefined) queue.push(inner)
    } else if (map?.kind === "null") isClosed ||= part === parts[0]
    else if (map !== undefined) findings.wrongType(map, "an object of subdomains")
  }
  let asks = isAsking(layers.items)
  const below = new Map<string, DomainLevel | null>()
  for (const [label, each] of layers.below) {
    const level = each === null ? null : levelOfParts(each, findings)
    asks ||= level?.asks === true
    below.set(label, level)
  }
  return { items: layers.items, below, isClosed, asks }
}

export const levelOf = (object: LocatedObject, findings: Findings): DomainLevel => levelOfParts([object], findings)

/** Bytes of a value that are read. The network takes far shorter ones. */
export const MOST_READ = 16_384

const SPACE_OR_BRACE = [0x20, 0x09, 0x0a, 0x0d, 0x7b]

/** `undefined` for a too long value and for anything but a JSON object in UTF-8. */
export const levelOfValue = (value: Bytes): DomainLevel | undefined => {
  // Most values that are not JSON begin otherwise, and reading them would cost an exception.
  if (value.length > MOST_READ || !SPACE_OR_BRACE.includes(value[0] ?? 0)) return undefined
  const text = encodeText(value, "utf8")
  const read = text === undefined ? undefined : readLocatedJson(text)
  return read === undefined || isFault(read) || read.kind !== "object" ? undefined : levelOf(read, SILENT)
}

/** What an earlier level has counts, item by item and label by label. */
export const mergedLevels = (levels: ReadonlyArray<DomainLevel>): DomainLevel => {
  const [first, ...others] = levels
  if (first === undefined || others.length === 0) return first ?? leafOf(NONE)
  const items = new Map(first.items)
  const below = new Map(first.below)
  const shared = new Map<string, Array<DomainLevel>>()
  let { asks, isClosed } = first
  for (const level of others) {
    asks ||= level.asks
    for (const [key, part] of level.items) if (!items.has(key)) items.set(key, part)
    for (const [label, each] of isClosed ? [] : level.below) {
      const before = below.get(label)
      if (before === undefined) below.set(label, each)
      else if (before !== null && each !== null) {
        const group = shared.get(label)
        if (group === undefined) shared.set(label, [before, each])
        else group.push(each)
      }
    }
    isClosed ||= level.isClosed
  }
  for (const [label, group] of shared) below.set(label, mergedLevels(group))
  return { items, below, isClosed, asks }
}

/** The level below a selector such as `a.www`. A label that is not there is tried as `*` (IFA-0001, "import"). */
export const selectedLevel = (level: DomainLevel, selector: string): DomainLevel | undefined => {
  if (selector === "") return level
  let found: DomainLevel | undefined = level
  for (const label of selector.toLowerCase().split(".").toReversed()) {
    found = found.below.get(label) ?? found.below.get("*") ?? undefined
    if (found === undefined) return undefined
  }
  return found
}
