import { quoted } from "../base/safeText.ts"
import { MOST_READ } from "./domainLevel.ts"
import { type Findings, SILENT } from "./findings.ts"
import { isNostrKey } from "./hosts.ts"
import { isFault, type Located, memberOf, readLocatedJson } from "./locatedJson.ts"

/**
 * The public keys of nostr in a value: `"nostr": "<key>"`, `{"pubkey": …, "relays": […]}` or `{"names": {…}}` (NIP-05).
 */

export interface NostrKey {
  /** The part before the @ of an address; `_` for the name itself. */
  readonly local: string
  readonly key: string
}

const keyOf = (part: Located, findings: Findings): string | undefined => {
  const text = findings.text(part, "a public key as text")?.text
  if (text === undefined || isNostrKey(text)) return text
  findings.error(
    part,
    "invalid",
    isNostrKey(text.toLowerCase())
      ? "has capital letters: clients compare keys in lower case"
      : text.startsWith("npub1")
      ? "is an npub: values have the key in 64 hexadecimal digits"
      : text.startsWith("nsec1")
      ? "is a secret key, and the value of a name is public"
      : `${quoted(text)} is not a public key of 64 hexadecimal digits`
  )
  return undefined
}

const RELAY = /^wss?:\/\/[^\s/]+/

const checkRelays = (part: Located, findings: Findings): void => {
  const lists = part.kind === "object" ? part.members.map(({ value }) => value) : [part]
  for (const list of lists) {
    for (const relay of findings.texts(list, "a relay address as text")) {
      if (!RELAY.test(relay.text)) {
        findings.error(
          relay,
          "invalid",
          `${quoted(relay.text)} is not a relay address such as wss://relay.example`
        )
      }
    }
  }
}

export const nostrKeys = (part: Located, findings: Findings): ReadonlyArray<NostrKey> => {
  if (part.kind !== "object") {
    const key = keyOf(part, findings)
    return key === undefined ? [] : [{ local: "_", key }]
  }
  const [names, pubkey, relays] = [memberOf(part, "names"), memberOf(part, "pubkey"), memberOf(part, "relays")]
  if (relays !== undefined) checkRelays(relays, findings)
  if (names === undefined && pubkey === undefined) {
    findings.error(part, "invalid", "has neither names nor pubkey")
    return []
  }
  const single = pubkey === undefined ? undefined : keyOf(pubkey, findings)
  const found: Array<NostrKey> = single === undefined ? [] : [{ local: "_", key: single }]
  if (names !== undefined && names.kind !== "object") findings.wrongType(names, "an object of names and keys")
  for (const { key: local, value } of names?.kind === "object" ? names.members : []) {
    const key = keyOf(value, findings)
    if (key !== undefined) found.push({ local, key })
  }
  return found
}

/** A nostr account that the value of a name has. */
export interface Identity {
  /** 64 hexadecimal digits in lower case. */
  readonly pubkey: string
  /** Addresses of its relays, as `wss://relay.example`. */
  readonly relays: ReadonlyArray<string>
}

/** Relays are listed for each key, or in one list for all keys. */
const relaysOf = (nostr: Located, pubkey: string): ReadonlyArray<string> => {
  const relays = nostr.kind === "object" ? memberOf(nostr, "relays") : undefined
  const own = relays?.kind === "object" ? memberOf(relays, pubkey) : relays
  return own === undefined ? [] : SILENT.texts(own, "").map(({ text }) => text).filter((text) => RELAY.test(text))
}

/**
 * The nostr account in the value of a `d/` or `id/` name. `local` is the part of an address before the @, in any case
 * (NIP-05); `_` for the name itself. `undefined` for a value without such an account, or without valid JSON.
 */
// positional: public API, a value, then the account in it.
export const identity = (value: string, local = "_"): Identity | undefined => {
  const read = value.length > MOST_READ ? undefined : readLocatedJson(value)
  if (read === undefined || isFault(read) || read.kind !== "object") return undefined
  const nostr = memberOf(read, "nostr")
  if (nostr === undefined) return undefined
  const wanted = local.toLowerCase()
  const found = nostrKeys(nostr, SILENT).findLast((each) => each.local.toLowerCase() === wanted)
  return found === undefined ? undefined : { pubkey: found.key, relays: relaysOf(nostr, found.key) }
}
