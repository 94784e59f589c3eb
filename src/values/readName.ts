import { escapeUnsafe, quoted } from "../base/safeText.ts"
import { MAX_NAME_LENGTH } from "../consensus/names.ts"
import { type Bytes, fromHex, toHex } from "../protocol/bytes.ts"
import { type NameKey, nameKey } from "../protocol/keys.ts"
import { classify, decodeText, encodeText } from "../protocol/nameText.ts"
import { nameFaultOf } from "./nameFault.ts"

/**
 * Which name a person means by a text: `foo`, `foo.bit`, `www.foo.bit`, `https://foo.bit/`, `d/Foo`, `id/alice`,
 * `0x642f666f6f`. JSON-RPC does not read names: there, they are exact.
 */

/** What a text without a namespace is. `exact`: any text is the name itself. */
export type NameKind = "domain" | "identity" | "exact"

/** The host below a domain that the text names. */
export interface HostBelow {
  /** `www.foo.bit`. */
  readonly host: string
  /** `foo.bit`. */
  readonly domain: string
  /** `www`; with dots if it is more than one level. */
  readonly below: string
}

/** What the person may not expect. Ask before a name with one costs money. */
export interface Surprise {
  readonly code:
    /** The name is the one of the whole domain. */
    | "below"
    /** The text has no namespace. It is read as a domain. */
    | "assumed"
    /** The name has no namespace, or one that no program reads. */
    | "namespace"
    /** No resolver finds the name as typed. */
    | "upper-case"
    /** No program reads the name as what its namespace is for. */
    | "form"
    /** The text has an invisible character. */
    | "invisible"
  /** A whole sentence. */
  readonly sentence: string
}

export interface ReadName {
  readonly _tag: "Read"
  /** The text, without spaces and quotes around it. */
  readonly typed: string
  /** What is most likely meant. */
  readonly name: Bytes
  /** The name as text; `0x` and hex if it is not UTF-8. */
  readonly text: string
  /** For a sentence: `the domain foo.bit`. */
  readonly what: string
  readonly host: HostBelow | undefined
  readonly surprises: ReadonlyArray<Surprise>
  /** Other names that the text may mean, the likeliest first. */
  readonly others: ReadonlyArray<Bytes>
}

export interface UnreadName {
  readonly _tag: "Unread"
  /** Why the text is not a name: a whole sentence. */
  readonly why: string
  readonly others: ReadonlyArray<Bytes>
}

export type NameReading = ReadName | UnreadName

/** Longer texts are not read. */
const LONGEST_TEXT = 2_048

/** RFC 1035, with a dot at the end. */
const MAX_DOMAIN = 254

/** Characters that a URL does not take as part of its host. */
const NO_HOST = /[\s/\\?#@:%[\]]/

const ASCII = /^[\0-\x7f]*$/

/** In lower case, and letters beyond ASCII as DNS has them. */
const dnsName = (host: string): string | undefined => {
  const url = `http://${host}`
  return host.length > MAX_DOMAIN || NO_HOST.test(host) || !URL.canParse(url) ? undefined : new URL(url).hostname
}

/** `undefined` for a text that is not below `.bit`. */
const labelsOf = (host: string): ReadonlyArray<string> | undefined => {
  const labels = dnsName(host)?.replace(/\.$/, "").split(".") ?? []
  return labels.length > 1 && labels.at(-1) === "bit" ? labels.slice(0, -1) : undefined
}

/** A label of a domain; the ending prevents that digits become an IP address. */
const dnsLabel = (label: string): string | undefined => {
  const [first = "", ...rest] = labelsOf(`${label}.bit`) ?? []
  return first === "" || rest.length > 0 ? undefined : first
}

const isDomain = (name: string): boolean => {
  const bytes = decodeText(name, "ascii")
  return bytes !== undefined && classify(bytes) === "domain"
}

/**
 * The name with the records of a `.bit` domain: `d/example` for `example.bit` and any domain below it. Ignores case and
 * a dot at the end; a label beyond ASCII becomes its `xn--` form. `undefined` for another ending or an invalid label.
 */
export const nameOfDomain = (domain: string): string | undefined => {
  const labels = labelsOf(domain)
  const name = `d/${labels?.at(-1) ?? ""}`
  return labels === undefined || labels.includes("") || !isDomain(name) ? undefined : name
}

/**
 * A host below `.bit` as DNS has it: `www.xn--zrich-kva.bit` for `www.Zürich.bit.`. `undefined` for any other text, and for
 * a host with an empty label.
 */
export const bitHostOf = (text: string): string | undefined => {
  const labels = labelsOf(text)
  return labels === undefined || labels.includes("") ? undefined : `${labels.join(".")}.bit`
}

/** As text in a sentence. */
const shown = (text: string): string => /^[!-~]{1,100}$/.test(text) ? text : quoted(text)

interface Guess {
  readonly name: string
  readonly host?: HostBelow | undefined
  readonly surprises?: ReadonlyArray<Surprise>
  readonly others?: ReadonlyArray<string>
}

const WITH_SCHEME = /^(?:[a-z][a-z0-9+.-]*:\/\/)?([^/?#:\s]*)(?::\d+)?(?:[/?#].*)?$/i

const hostBelow = (labels: ReadonlyArray<string>): HostBelow | undefined => {
  const domain = `${labels.at(-1)}.bit`
  const below = labels.slice(0, -1).join(".")
  return below === "" ? undefined : { host: `${below}.${domain}`, domain, below }
}

const belowSurprise = ({ domain, host }: HostBelow, name: string): Surprise => ({
  code: "below",
  sentence: `${host} is a subdomain of ${domain}. The name ${name} is for the whole domain.`
})

/** A domain, or a host below one, with or without the rest of an address. */
const guessDomain = (typed: string): Guess | string | undefined => {
  const host = WITH_SCHEME.exec(typed)?.[1] ?? ""
  const labels = labelsOf(host)
  if (labels === undefined) {
    return /[^/]\.bit\.?$/i.test(host) ? `${shown(host)} has a character that domains cannot have.` : undefined
  }
  if (labels.includes("")) return `${shown(host)} is not a domain. Part of it is missing.`
  const name = `d/${labels.at(-1)}`
  const below = hostBelow(labels)
  return { name, host: below, surprises: below === undefined ? [] : [belowSurprise(below, name)] }
}

const upperCase = ({ name, typed }: { readonly name: string; readonly typed: string }): Surprise => ({
  code: "upper-case",
  sentence: `Names are case-sensitive. Programs look up ${name}, never ${shown(typed)}.`
})

/** The domain or identity of a text with a namespace; `undefined` if the text is the name. */
const guessInNamespace = (typed: string): Guess | undefined => {
  const slash = typed.indexOf("/")
  const namespace = typed.slice(0, slash).toLowerCase()
  const label = typed.slice(slash + 1)
  switch (namespace) {
    case "d": {
      const domain = guessDomain(label)
      if (typeof domain === "object") {
        const { surprises = [] } = domain
        return typed.startsWith("d/")
          ? domain
          : { ...domain, surprises: [...surprises, upperCase({ typed, name: domain.name })] }
      }
      const name = `d/${dnsLabel(label) ?? ""}`
      if (name === typed || !isDomain(name)) return undefined
      const isEncoded = typed.startsWith("d/") && !ASCII.test(label)
      return { name, surprises: isEncoded ? [] : [upperCase({ typed, name })] }
    }
    case "id": {
      const name = `id/${label.toLowerCase()}`
      const bytes = decodeText(name, "ascii")
      return name === typed || bytes === undefined || classify(bytes) !== "identity"
        ? undefined
        : { name, surprises: [upperCase({ typed, name })] }
    }
    case "dd":
    case "idd": {
      const name = `${namespace}/${label}`
      return name === typed ? undefined : { name, surprises: [upperCase({ typed, name })] }
    }
  }
  return undefined
}

/** `example.com`: the label before another ending than `.bit`. */
const OTHER_ENDING = /^([^/@:\s]*\.)?([^./@:\s]+)\.[a-z]{2,63}\.?$/i

/** A text without a namespace and without the ending of a domain. */
const guessBare = (typed: string, kind: NameKind | undefined): Guess => {
  const identity = `id/${typed.toLowerCase()}`
  if (kind === "identity") return { name: identity }
  const label = dnsLabel(typed)
  const domain = `d/${label ?? typed.toLowerCase()}`
  if (label !== undefined && isDomain(domain)) {
    const sentence = `${shown(typed)} has no namespace. It is read as the domain ${label}.bit, with the name ${domain}.`
    return { name: domain, surprises: kind === undefined ? [{ code: "assumed", sentence }] : [], others: [identity] }
  }
  if (kind === "domain") return { name: domain, others: [identity] }
  const other = dnsLabel(OTHER_ENDING.exec(typed)?.[2] ?? "")
  if (other === undefined) return { name: typed, others: [domain, identity] }
  const sentence = `${shown(typed)} does not end in .bit. The name d/${other} is for ${other}.bit.`
  return { name: typed, surprises: [{ code: "namespace", sentence }], others: [`d/${other}`, domain, identity] }
}

const guess = (typed: string, kind: NameKind | undefined): Guess | string => {
  if (kind === "exact") return { name: typed }
  const domain = guessDomain(typed)
  if (domain !== undefined) return domain
  return typed.includes("/") ? guessInNamespace(typed) ?? { name: typed } : guessBare(typed, kind)
}

const whatOf = (name: Bytes, text: string): string => {
  const label = text.slice(text.indexOf("/") + 1)
  switch (classify(name)) {
    case "domain":
      return `the domain ${label}.bit`
    case "identity":
      return `the identity ${label}`
    default:
      return `the name ${shown(text)}`
  }
}

const sentenceOf = (message: string): string => `${message.charAt(0).toUpperCase()}${message.slice(1)}.`

/** What is wrong with the name itself, in the words of lint. */
const faultsOf = (name: Bytes): ReadonlyArray<Surprise> => {
  const fault = nameFaultOf(name)
  if (fault === undefined) return []
  return [{ code: fault.code === "namespace" ? "namespace" : "form", sentence: sentenceOf(fault.message) }]
}

const invisible = (typed: string): ReadonlyArray<Surprise> =>
  escapeUnsafe(typed) === typed
    ? []
    : [{ code: "invisible", sentence: `The text contains an invisible character: ${quoted(typed)}.` }]

const HEX = /^0x((?:[0-9a-f]{2})+)$/i

const QUOTED = /^(['"])(.*)\1$/s

/** Possible names, each once. */
const namesOf = (texts: ReadonlyArray<string>, beside?: Bytes): ReadonlyArray<Bytes> => {
  const found = new Map<NameKey, Bytes>()
  for (const text of texts) {
    const name = decodeText(text, "utf8")
    if (name !== undefined && name.length > 0 && name.length <= MAX_NAME_LENGTH) found.set(nameKey(name), name)
  }
  if (beside !== undefined) found.delete(nameKey(beside))
  return [...found.values()]
}

const readHex = (typed: string): ReadName | undefined => {
  const name = fromHex(HEX.exec(typed)?.[1] ?? "") ?? new Uint8Array()
  if (name.length === 0 || name.length > MAX_NAME_LENGTH) return undefined
  const text = encodeText(name, "utf8") ?? `0x${toHex(name)}`
  const surprises = [...faultsOf(name), ...invisible(text)]
  const others = namesOf([`d/${typed.toLowerCase()}`, `id/${typed.toLowerCase()}`, typed], name)
  return { _tag: "Read", typed, name, text, what: `the name ${shown(text)}`, host: undefined, surprises, others }
}

const WITHOUT_LABEL = /^[a-z]*\/\s*$/i

/** Without `kind`, a text without a namespace is read as a domain, and that is a surprise. */
export const readName = (given: string, kind?: NameKind): NameReading => {
  if (given.length > LONGEST_TEXT) return { _tag: "Unread", why: "The text is too long for a name.", others: [] }
  const trimmed = given.trim()
  const typed = QUOTED.exec(trimmed)?.[2]?.trim() ?? trimmed
  const texts = [typed, trimmed, given]
  const unread = (why: string): UnreadName => ({ _tag: "Unread", why, others: namesOf(texts) })
  if (typed === "") return unread("Enter a name.")
  if (WITHOUT_LABEL.test(typed)) return unread(`${shown(typed)} is not a complete name, such as d/example.`)
  const hex = kind === "exact" ? undefined : readHex(typed)
  if (hex !== undefined) return hex
  const found = guess(typed, kind)
  if (typeof found === "string") return unread(found)
  const { host, others = [], surprises = [] } = found
  const name = decodeText(found.name, "utf8")
  if (name === undefined) return unread("The name is not Unicode text.")
  if (name.length > MAX_NAME_LENGTH) return unread(faultsOf(name)[0]?.sentence ?? "")
  const faults = faultsOf(name).filter(({ code }) => surprises.every((each) => each.code !== code))
  return {
    _tag: "Read",
    typed,
    name,
    text: found.name,
    what: whatOf(name, found.name),
    host,
    surprises: [...surprises, ...faults, ...invisible(typed)],
    others: namesOf([...others, ...texts], name)
  }
}

/** The names that a text may mean, the likeliest first. */
export const namesMeant = (given: string): ReadonlyArray<Bytes> => {
  const reading = readName(given)
  return reading._tag === "Read" ? [reading.name, ...reading.others] : reading.others
}
