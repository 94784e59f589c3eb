import { below, type Random } from "../../src/base/random.ts"
import {
  childName,
  firstLabel,
  MAX_NAME_BYTES,
  parentName,
  type WireName,
  wireNameOfHost
} from "../../src/dns/wire/name.ts"

// Values of names of all kinds, and questions at, around and between them. All from one seed.

/** Names whose servers live below them, at an address that the caller serves. */
export const SECURE_CHILD = "secure-child"
export const INSECURE_CHILD = "insecure-child"

/** The label below which each of the two has a wildcard. */
export const CHILD_WILDCARD = "a"

export interface ChildServer {
  readonly address: string
  /** The DS record of the secure child: key tag, algorithm, kind of digest, digest in base64. */
  readonly ds: readonly [number, number, number, string]
}

/** `d/n12` is `n12.bit`. */
const labelOf = (index: number): string => `n${index}`

const ip = (random: Random): string => `192.0.2.${below(random, 256)}`

type Kind = (random: Random, index: number) => unknown

const KINDS: ReadonlyArray<Kind> = [
  (random) => ({ ip: [ip(random), ip(random)], ip6: `2001:db8::${below(random, 65_536).toString(16)}` }),
  (random) => ({
    ip: ip(random),
    txt: "some text",
    map: {
      www: { ip: ip(random) },
      deep: { map: { ent: { map: { leaf: ip(random) } } } },
      _tcp: { map: { _443: { tls: [[3, 1, 1, "BwcHBwcHBwcHBwcHBwcHBwcHBwcHBwcHBwcHBwcHBwc="]] } } }
    }
  }),
  (random) => ({
    txt: "wild",
    map: { "*": { ip: ip(random) }, real: { txt: "here" }, ent: { map: { leaf: ip(random) } } }
  }),
  (random) => ({ map: { a: { map: { "*": { txt: ["below", "a"] }, b: { map: { c: ip(random) } } } } } }),
  (random, index) => ({ alias: `${labelOf(below(random, index + 1))}.bit.` }),
  (random, index) => ({
    ip: ip(random),
    map: {
      www: { alias: "" },
      far: { alias: `www.${labelOf(below(random, index + 1))}.bit.` },
      "*": { alias: "www.@" }
    }
  }),
  (random, index) => ({ translate: `${labelOf(below(random, index + 1))}.bit.` }),
  (random, index) => ({ import: `d/${labelOf(below(random, index + 1))}`, txt: "own" }),
  (random) => ({ ip: Array.from({ length: 40 + below(random, 60) }, (_, i) => `10.0.${below(random, 256)}.${i}`) }),
  () => ({}),
  () => "not JSON",
  (random) => ({ mx: [[10, "mail.@"]], srv: [[5, 0, 25, "mail"]], map: { mail: ip(random), "_-x": { txt: "odd" } } })
]

const childZone = (label: string, { address, ds }: ChildServer) => ({
  ns: [`ns.${label}.bit.`],
  map: { ns: { ip: address } },
  ...(label === SECURE_CHILD ? { ds: [ds] } : {})
})

/** Values by name. */
export const generatedNames = (
  random: Random,
  count: number,
  child: ChildServer | undefined
): ReadonlyMap<string, string> => {
  const values = new Map<string, string>()
  for (let index = 0; index < count; index++) {
    const value = KINDS[below(random, KINDS.length)]?.(random, index)
    values.set(`d/${labelOf(index)}`, typeof value === "string" ? value : JSON.stringify(value))
  }
  if (child === undefined) return values
  for (const label of [SECURE_CHILD, INSECURE_CHILD]) values.set(`d/${label}`, JSON.stringify(childZone(label, child)))
  return values
}

/** A, NS, CNAME, SOA, MX, TXT, AAAA, SRV, DNAME, DS, SSHFP, DNSKEY, TLSA, HTTPS, CAA, and two without a name. */
const TYPES = [1, 1, 1, 2, 5, 6, 15, 16, 28, 33, 39, 43, 44, 48, 52, 65, 257, 1_234, 65_280]

const LABELS = ["www", "real", "ent", "leaf", "deep", "a", "b", "c", "mail", "ns", "*", "_443", "_tcp", "x", "nothing"]

const anyLabel = (random: Random): string => {
  const length = random() < 0.1 ? 63 : 1 + below(random, 6)
  return String.fromCharCode(...Array.from({ length }, () => below(random, 256)))
}

const labelFor = (random: Random): string => {
  const choice = random()
  if (choice < 0.6) return LABELS[below(random, LABELS.length)] ?? "www"
  return choice < 0.8 ? anyLabel(random) : `m${below(random, 1_000)}`
}

/** A label in the order of names just beside another one. */
const neighbour = (random: Random, label: string): string => {
  const last = label.charCodeAt(label.length - 1)
  const head = label.slice(0, -1)
  const choices = [
    `${label}\0`,
    head + String.fromCharCode(last ^ 1),
    `${head + String.fromCharCode((last + 255) & 255)}\xff`,
    head
  ]
  return choices[below(random, choices.length)] ?? label
}

/** Other capitals, which mean the same. */
const shouted = (random: Random, name: string): string =>
  random() < 0.1 ? name.replace(/[a-z]/g, (letter) => random() < 0.5 ? letter.toUpperCase() : letter) : name

export interface RandomQuestion {
  readonly name: WireName
  readonly type: number
}

const BIT = wireNameOfHost("bit.")

/** A question about a zone of so many generated names. */
export const randomQuestion = (random: Random, count: number, hasChildren: boolean): RandomQuestion => {
  const choice = random()
  let first = labelOf(below(random, count))
  if (hasChildren && choice < 0.1) first = choice < 0.05 ? SECURE_CHILD : INSECURE_CHILD
  else if (choice < 0.25) first = labelFor(random)
  else if (choice < 0.3) first = neighbour(random, first)
  let name = random() < 0.01 ? BIT : childName(first.toLowerCase(), BIT) ?? BIT
  for (let depth = below(random, 5); depth > 0; depth--) name = childName(labelFor(random), name) ?? name
  if (random() < 0.02) {
    while (name.length < MAX_NAME_BYTES - 2) {
      name = childName("q".repeat(Math.min(63, MAX_NAME_BYTES - name.length - 1)), name) ?? name
    }
  }
  if (random() < 0.05) name = childName(neighbour(random, firstLabel(name) ?? "a"), parentName(name)) ?? name
  return { name: shouted(random, name) as WireName, type: TYPES[below(random, TYPES.length)] ?? 1 }
}
