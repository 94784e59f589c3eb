import { quoted } from "../base/safeText.ts"
import { importsOf } from "./domainImport.ts"
import { DNS_ITEMS } from "./domainItems.ts"
import { type DomainLevel, levelOf } from "./domainLevel.ts"
import type { Findings, ProgramView } from "./findings.ts"
import { canonicalOnion } from "./hosts.ts"
import type { Located, LocatedObject } from "./locatedJson.ts"
import { nostrKeys } from "./nostr.ts"
import { type HostText, recordText, recordTypeText } from "./records.ts"
import { recordsBelow } from "./zone.ts"
import { zoneTree } from "./zoneTree.ts"

/** Checks the value of a `d/` name (Domain Name Specification), and computes its DNS records. */

/** Per list of records in a view. */
const MOST_RECORDS = 100

/** Not DNS records, so suppression does not concern them. */
const OTHER_ITEMS: ReadonlySet<string> = new Set([
  "import",
  "info",
  "tor",
  "i2p",
  "freenet",
  "zeronet",
  "nostr"
])

const DEPRECATED: Readonly<Record<string, string>> = {
  fingerprint: "is no longer read: use tls",
  service: "is no longer read: use srv below map",
  email: "is no longer read by domain programs",
  delegate: "is an old item that few programs read: use import"
}

const checkOnions = (part: Located, findings: Findings): ReadonlyArray<string> =>
  findings.texts(part, "an onion service address as text").flatMap((each) => {
    const host = canonicalOnion(each.text)
    if (host === undefined) {
      findings.error(each, "invalid", `${quoted(each.text)} is not the address of an onion service`)
      return []
    }
    if (host.length < 56) findings.warn(each, "deprecated", "is an address of version 2, which Tor no longer reaches")
    return [host]
  })

interface OtherPlace {
  readonly findings: Findings
  /** `www.example.bit.` */
  readonly owner: HostText
}

const readImports = (
  items: ReadonlyMap<string, Located>,
  { findings, owner }: OtherPlace
): ReadonlyArray<string> =>
  (["delegate", "import"] as const).flatMap((key) => {
    const part = items.get(key)
    if (part === undefined || part.kind === "null") return []
    const verb = key === "import" ? "also has what is in" : "has only what is in"
    return importsOf(part, findings).map(({ selector, text }) =>
      `${owner} ${verb} ${selector === "" ? text : `${selector} of ${text}`}`
    )
  })

class OtherItems {
  readonly views: Array<ProgramView> = []
  readonly imports: Array<string> = []
  readonly #findings: Findings

  constructor(findings: Findings) {
    this.#findings = findings
  }

  read({ below, items }: DomainLevel, owner: HostText): void {
    const findings = this.#findings
    for (const [key, part] of items) if (part.kind !== "null") this.#checkKey(key, part)
    this.imports.push(...readImports(items, { findings, owner }))
    const info = items.get("info")
    if (info !== undefined && !["object", "text", "null"].includes(info.kind)) {
      findings.wrongType(info, "a text or an object")
    }
    const onions = [items.get("tor"), owner.startsWith("_tor.") ? items.get("txt") : undefined]
      .flatMap((part) => part === undefined || part.kind === "null" ? [] : checkOnions(part, findings))
    if (onions.length > 0) {
      this.views.push({ program: "Tor", sees: onions.map((host) => `${owner.replace(/^_tor\./, "")} → ${host}`) })
    }
    const nostr = items.get("nostr")
    const keys = nostr === undefined || nostr.kind === "null" ? [] : nostrKeys(nostr, findings)
    if (keys.length > 0) {
      const host = owner.slice(0, -1)
      this.views.push({ program: "nostr", sees: keys.map(({ key, local }) => `${local}@${host} is ${key}`) })
    }
    for (const [label, level] of below) if (level !== null) this.read(level, `${label}.${owner}`)
  }

  #checkKey(key: string, part: Located): void {
    const deprecated = DEPRECATED[key]
    if (deprecated !== undefined) this.#findings.warn(part, "deprecated", deprecated)
    else if (key === "o") this.#findings.warn(part, "unusual", "is experimental, and few programs read it")
    else if (!DNS_ITEMS.has(key) && !OTHER_ITEMS.has(key)) {
      this.#findings.warn(part, "unknown-item", "is not an item of the Domain Name Specification")
    }
  }
}

/** `host`: `example.bit`. Imported names are named, not read. */
export const viewDomain = (
  object: LocatedObject,
  { findings, host }: { readonly findings: Findings; readonly host: string }
): ReadonlyArray<ProgramView> => {
  const apex = `${host}.`
  const level = levelOf(object, findings)
  const { top } = zoneTree(level, apex, findings)
  const others = new OtherItems(findings)
  others.read(level, apex)
  const lines = Array.from(
    recordsBelow(apex, top),
    ({ owner, record }) => `${owner} ${recordTypeText(record)} ${recordText(record)}`
  )
  const shown = lines.slice(0, MOST_RECORDS)
  return [
    {
      program: "DNS",
      sees: [
        ...shown,
        ...(lines.length > shown.length ? [`and ${lines.length - shown.length} more records`] : []),
        ...others.imports
      ]
    },
    ...others.views
  ]
}
