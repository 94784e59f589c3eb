import { FLAGS, META_TYPES, RCODES } from "../../src/dns/wire/codes.ts"
import type { DnsMessage, MessageRecord } from "../../src/dns/wire/message.ts"
import {
  isAtOrBelow,
  lowerCaseName,
  wireLabels,
  type WireName,
  wireNameOfHost,
  wireNameText
} from "../../src/dns/wire/name.ts"
import { EMPTY, toHex } from "../../src/protocol/bytes.ts"
import { TYPE_NUMBERS } from "../../src/values/records.ts"
import { CHILD_WILDCARD, INSECURE_CHILD, type RandomQuestion, SECURE_CHILD } from "./generatedNames.ts"
import type { FrontName } from "./resolvers.ts"

// What a validating resolver says, beside what svcd says itself.

const { CNAME, DNAME, DS, RRSIG } = TYPE_NUMBERS

const BIT = wireNameOfHost("bit.")

/** Resolvers give up longer chains of aliases than this at different places, and circles with SERVFAIL. */
const MANY_ALIASES = 7

/** Names in data may have any capitals. Bytes of other data differ by one bit then, which has to do. */
export const plainData = ({ data }: MessageRecord): string =>
  toHex(data.map((byte) => byte >= 65 && byte <= 90 ? byte | 32 : byte))

const dataLines = ({ answer }: DnsMessage): ReadonlyArray<string> =>
  answer.filter(({ type }) => type !== RRSIG)
    .map((record) => `${wireNameText(record.owner)} ${record.type} ${plainData(record)}`).toSorted()

const aliases = ({ answer }: DnsMessage): number => answer.filter(({ type }) => type === CNAME).length

/** RFC 8914: codes of extended errors that say what is wrong with signatures, from "Indeterminate" to "NSEC Missing". */
const BOGUS = { first: 5, last: 12 } as const

/** Codes of EDNS options and of extended errors in an OPT record, two bytes each. */
const EXTENDED_ERROR = 15

/** The extended error by which a resolver calls an answer bogus, if it does. */
export const bogusCode = ({ additional }: DnsMessage): number | undefined => {
  const data = additional.find(({ type }) => type === META_TYPES.OPT)?.data ?? EMPTY
  const word = (at: number): number => (data[at] ?? 0) << 8 | (data[at + 1] ?? 0)
  for (let at = 0; at + 6 <= data.length; at += 4 + word(at + 2)) {
    const code = word(at + 4)
    if (word(at) === EXTENDED_ERROR && code >= BOGUS.first && code <= BOGUS.last) return code
  }
  return undefined
}

export const isSecure = ({ flags }: DnsMessage): boolean => (flags & FLAGS.AD) !== 0

/** Whether an answer rests on the insecure delegation. */
const isInsecure = ({ name }: RandomQuestion, message: DnsMessage): boolean =>
  [name.toLowerCase(), ...message.answer.flatMap(({ data, owner }) => [owner, Buffer.from(data).toString("latin1")])]
    .some((each) => each.includes(INSECURE_CHILD))

export interface AskedFront extends RandomQuestion {
  readonly front: FrontName
}

/**
 * Questions that say nothing about svcd: those that resolvers ask the root, and those that Unbound 1.17 validates in no
 * zone. It asks for DS at a DNAME where a CNAME below it is wanted, and fails on wildcards for names that begin with an
 * asterisk. No resolver takes a question for DNAME below another one.
 */
const isOdd = ({ front, name, type }: AskedFront, own: DnsMessage): boolean => {
  const asked = lowerCaseName(name)
  if (!isAtOrBelow(asked, BIT) || (asked === BIT && type === DS) || (type === DNAME && aliases(own) > 0)) return true
  const hasDname = own.answer.some((record) => record.type === DNAME && record.owner !== asked)
  return front === "unbound" && ((type === CNAME && hasDname) || name.startsWith("\x01*"))
}

/** Whether resolvers differ among themselves about this question, so that none is a judge of svcd's answer. */
export const isNoCase = (asked: AskedFront, own: DnsMessage): boolean =>
  aliases(own) >= MANY_ALIASES || isCircle(own) || isOdd(asked, own)

/**
 * RFC 8198: a resolver may answer from the NSEC records that it knows. Those of RFC 4470 have owners that nobody asked for
 * then, made from a missing name, and the record says that they exist without data, even beside a wildcard. A chain of
 * aliases ends there, too. Such owners have byte 255 at the end of a label, which no host has.
 */
const isInvented = ({ name }: RandomQuestion, own: DnsMessage, found: DnsMessage): boolean => {
  const [expected, seen] = [dataLines(own), dataLines(found)]
  const isShorter = seen.length < expected.length || own.rcode === RCODES.NXDOMAIN
  if (found.rcode !== RCODES.NOERROR || !isShorter || seen.some((line) => !expected.includes(line))) return false
  return wireLabels(endOf(name, found)).some((label) => label.endsWith("\xff"))
}

/**
 * The same RFC, in the signed child, whose NSEC records lead from one name to the next: where a record ends at a wildcard,
 * Unbound 1.17 answers all names before the wildcard with no data. Records of svcd end right behind the name that they deny.
 */
const isBeforeWildcard = ({ front, name }: AskedFront, own: DnsMessage, found: DnsMessage): boolean => {
  if (front !== "unbound" || own.rcode !== found.rcode || dataLines(found).length > 0) return false
  const labels = wireLabels(lowerCaseName(name))
  const child = labels.indexOf(SECURE_CHILD)
  return labels[child - 1] === CHILD_WILDCARD && (labels[child - 2] ?? "*") < "*"
}

/**
 * Knot Resolver 5 remembers the CNAME that svcd made from a DNAME, if that type was asked for, and gives it without the
 * DNAME to later questions for other types. RFC 6672, section 3.1, wants both in each answer, as svcd's have them.
 */
const lacksDnames = (own: DnsMessage, found: DnsMessage): boolean => {
  const [expected, seen] = [dataLines(own), dataLines(found)]
  const needed = dataLines({ ...own, answer: own.answer.filter(({ type }) => type !== DNAME) })
  return aliases(found) > 0 && needed.every((line) => seen.includes(line)) &&
    seen.every((line) => expected.includes(line))
}

/** Where each alias of an answer leads. */
const targetsOf = ({ answer }: DnsMessage): ReadonlyMap<WireName, WireName> =>
  new Map(
    answer.filter(({ type }) => type === CNAME).map((
      { data, owner }
    ) => [lowerCaseName(owner), lowerCaseName(Buffer.from(data).toString("latin1") as WireName)])
  )

/** The last name of an answer without circles. */
const endOf = (name: WireName, message: DnsMessage): WireName => {
  const targets = targetsOf(message)
  let end = lowerCaseName(name)
  for (let left = targets.size; left > 0; left--) end = targets.get(end) ?? end
  return end
}

/** Whether the aliases of an answer end where they have been. */
const isCircle = (message: DnsMessage): boolean => {
  const targets = targetsOf(message)
  return [...targets].some(([start]) => {
    const seen = new Set<WireName>()
    for (let at: WireName | undefined = start; at !== undefined; at = targets.get(at)) {
      if (seen.has(at)) return true
      seen.add(at)
    }
    return false
  })
}

/** What is wrong with a resolver's answer, if anything. */
export const faultOf = (asked: AskedFront, own: DnsMessage, found: DnsMessage): string | undefined => {
  const [expected, seen] = [dataLines(own), dataLines(found)]
  const isSame = found.rcode === own.rcode && expected.join("\n") === seen.join("\n")
  if (isSame && isSecure(found)) return undefined
  if (isSecure(found) && (isInvented(asked, own, found) || isBeforeWildcard(asked, own, found))) return undefined
  if (found.rcode !== own.rcode) {
    const code = bogusCode(found)
    return `rcode ${found.rcode} instead of ${own.rcode}${code === undefined ? "" : `, extended error ${code}`}`
  }
  if (!isSame && !(asked.front === "knot" && lacksDnames(own, found))) {
    return `records ${seen.join(", ")} instead of ${expected.join(", ")}`
  }
  return isSecure(found) || isInsecure(asked, own) ? undefined : "not validated"
}
