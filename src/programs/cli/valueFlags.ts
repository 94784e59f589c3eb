import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import { MAX_SPENDABLE_VALUE } from "../../consensus/names.ts"
import { type DomainField, itemOfLine, readDomainForm, writeDomainForm } from "../../values/domainForm.ts"
import type { FormLines, WrittenForm } from "../../values/formFields.ts"
import { canonicalIpv6, isIpv4Text } from "../../values/hosts.ts"
import { type IdentityField, writeIdentityForm } from "../../values/identityForm.ts"
import { treeOf } from "../../values/jsonTree.ts"
import { isFault, memberOf, readLocatedJson } from "../../values/locatedJson.ts"
import type { HostBelow } from "../../values/readName.ts"
import { looksSecret } from "../tool/secrets.ts"
import { DOMAIN_FLAGS, IDENTITY_FLAGS } from "./commandTable.ts"
import type { CliCommandLine } from "./flags.ts"
import { type CliInput, CommandFailed, quotedArgument } from "./outcome.ts"

type DomainFlag = keyof typeof DOMAIN_FLAGS
type IdentityFlag = keyof typeof IDENTITY_FLAGS

const isDomainFlag = (name: string): name is DomainFlag => Object.hasOwn(DOMAIN_FLAGS, name)
const isIdentityFlag = (name: string): name is IdentityFlag => Object.hasOwn(IDENTITY_FLAGS, name)

const DOMAIN_NAMES: ReadonlyArray<DomainFlag> = Object.keys(DOMAIN_FLAGS).filter(isDomainFlag)
const IDENTITY_NAMES: ReadonlyArray<IdentityFlag> = Object.keys(IDENTITY_FLAGS).filter(isIdentityFlag)

const FIELDS: Readonly<Record<DomainFlag, DomainField>> = {
  ip: "address",
  ip6: "address",
  alias: "alias",
  ns: "ns",
  ds: "ds",
  tls: "tls",
  mail: "mail",
  tor: "tor",
  text: "text",
  sub: "subdomain"
}

const FLAG_OF: Readonly<Partial<Record<string, string>>> = { subdomain: "sub", address: "ip" }

/** By flag; an empty list removes the item. Missing flags change nothing. */
type Wanted<Flag extends string> = ReadonlyMap<Flag, ReadonlyArray<string>>

/** The two kinds of addresses share a field. */
const addressLines = (before: string, wanted: Wanted<DomainFlag>): ReadonlyArray<string> => {
  const present = readDomainForm(before)?.lines.address ?? []
  const kept = (flag: "ip" | "ip6") => present.filter((line) => isIpv4Text(line) === (flag === "ip"))
  return [...wanted.get("ip") ?? kept("ip"), ...wanted.get("ip6") ?? kept("ip6")]
}

/** Of sub-domains or certificates. Flags for one label or port leave all others as they are. */
const placedLines = (
  before: string,
  { field, lines }: { readonly field: "subdomain" | "tls"; readonly lines: ReadonlyArray<string> }
): ReadonlyArray<string> => {
  const wanted = new Set(lines.map((line) => itemOfLine(field, line)))
  const present = readDomainForm(before)?.lines[field] ?? []
  return lines.length === 0 ? [] : [...present.filter((line) => !wanted.has(itemOfLine(field, line))), ...lines]
}

/** The form alone would accept either kind of address. */
const wrongAddress = (wanted: Wanted<DomainFlag>): string | undefined => {
  const ip = wanted.get("ip")?.find((text) => !isIpv4Text(text))
  if (ip !== undefined) return `-ip: ${quotedArgument(ip)} is not an IPv4 address such as 192.0.2.1`
  const ip6 = wanted.get("ip6")?.find((text) => canonicalIpv6(text) === undefined)
  return ip6 === undefined ? undefined : `-ip6: ${quotedArgument(ip6)} is not an IPv6 address such as 2001:db8::1`
}

const domainLines = (before: string, wanted: Wanted<DomainFlag>): FormLines<DomainField> => ({
  ...Object.fromEntries([...wanted].map(([flag, lines]) => {
    const field = FIELDS[flag]
    return [field, field === "subdomain" || field === "tls" ? placedLines(before, { field, lines }) : lines]
  })),
  ...(wanted.has("ip") || wanted.has("ip6") ? { address: addressLines(before, wanted) } : {})
})

const NO_OBJECT = "the value is not a JSON object, so its items cannot be changed; give the whole value with -value"

/** In place of a fault that repeats a possible private key. */
const NOT_SHOWN = "is invalid here (it is hidden, because it may be a private key)"

const written = (form: WrittenForm<string> | undefined): Effect.Effect<string, CommandFailed> => {
  if (form === undefined) return new CommandFailed({ message: NO_OBJECT })
  if ("value" in form) return Effect.succeed(form.value)
  const texts = form.faults.map(({ field, line, message }) =>
    `-${FLAG_OF[field] ?? field}, entry ${line}: ${looksSecret(message) ? NOT_SHOWN : message}`
  )
  return new CommandFailed({ message: texts.join("\nerror: ") })
}

interface Removal {
  readonly value: string
  readonly key: string
  readonly isIdentity: boolean
}

const without = ({ isIdentity, key, value }: Removal): Effect.Effect<string, CommandFailed> =>
  Effect.gen(function*() {
    const same = yield* written(isIdentity ? writeIdentityForm(value, {}) : writeDomainForm(value, {}))
    const form = isIdentity
      ? writeIdentityForm(value, isIdentityFlag(key) ? { [key]: [] } : {})
      : writeDomainForm(value, domainLines(value, new Map(isDomainFlag(key) ? [[key, []]] : [])))
    const left = yield* written(form)
    const read = readLocatedJson(left)
    const tree = isFault(read) ? undefined : treeOf(read, left)
    if (tree === undefined) return yield* new CommandFailed({ message: NO_OBJECT })
    const isMember = !isFault(read) && read.kind === "object" && memberOf(read, key) !== undefined
    tree.remove(isMember ? [key] : key.split("."))
    if (tree.json === same) {
      return yield* new CommandFailed({ message: `-remove: the value has no item ${quotedArgument(key)}` })
    }
    return tree.json
  })

const wantedOf = <Flag extends string>(
  flags: ReadonlyArray<Flag>,
  given: CliCommandLine["given"]
): Wanted<Flag> =>
  new Map(flags.flatMap((flag) => {
    const texts = given.get(flag)
    return texts === undefined ? [] : [[flag, texts] as const]
  }))

/** The items of a subdomain, by flag, as the lines of its field name them. */
const BELOW: Readonly<Partial<Record<string, string>>> = {
  ip: "ip",
  ip6: "ip6",
  alias: "alias",
  ns: "ns",
  ds: "ds",
  text: "txt"
}

/** Why these flags cannot be for a host below a domain. */
const unfitBelow = (
  { below, domain, host }: HostBelow,
  flags: ReadonlyArray<string>
): string | undefined => {
  const strange = flags.find((flag) => BELOW[flag] === undefined)
  if (strange !== undefined) {
    return `-${strange} is for ${domain}, not for ${host}; name ${domain}, or give its whole value with -value`
  }
  return below.includes(".")
    ? `${host} is more than one level below ${domain}; give the whole value of ${domain} with -value`
    : undefined
}

interface ForHost {
  readonly host: HostBelow
  readonly before: string
  readonly line: Pick<CliCommandLine, "given">
}

/** Flags replace the items of the host, and leave all others of the domain as they are. */
const madeBelow = ({ before, host, line }: ForHost): Effect.Effect<string, CommandFailed> => {
  const removed = line.given.get("remove") ?? []
  const unfit = unfitBelow(host, [...itemFlags(line).filter((flag) => flag !== "remove"), ...removed])
  const wanted = wantedOf(DOMAIN_NAMES, line.given)
  const wrong = unfit ?? wrongAddress(wanted)
  if (wrong !== undefined) return new CommandFailed({ message: wrong })
  const { below: label } = host
  const items = new Map<string, ReadonlyArray<string>>([
    ...removed.map((key) => [`${label} ${BELOW[key]}`, []] as const),
    ...[...wanted].map(([flag, lines]) => [`${label} ${BELOW[flag]}`, lines] as const)
  ])
  const present = readDomainForm(before)?.lines.subdomain ?? []
  const kept = present.filter((line) => !items.has(itemOfLine("subdomain", line)))
  const absent = removed.find((key) =>
    !present.some((line) => itemOfLine("subdomain", line) === `${label} ${BELOW[key]}`)
  )
  if (absent !== undefined) {
    return new CommandFailed({ message: `-remove: ${host.host} has no item ${quotedArgument(absent)}` })
  }
  const added = [...items].flatMap(([item, lines]) => lines.map((line) => `${item} ${line}`))
  return written(writeDomainForm(before, { subdomain: [...kept, ...added] }))
}

export interface ValueRequest {
  readonly name: string
  /** The host below the domain that the flags are for. */
  readonly host?: HostBelow | undefined
  /** Empty for a new name; `undefined` for bytes that are not UTF-8. */
  readonly before: string | undefined
  readonly line: Pick<CliCommandLine, "given" | "text" | "words">
  readonly input: Pick<CliInput, "readFile" | "readStdin">
}

const withoutEnd = (text: string): string => text.replace(/\r?\n$/, "")

const wholeValue = ({ input, line }: ValueRequest): Effect.Effect<string | undefined, CommandFailed> => {
  const [, word] = line.words
  const [value, file] = [word ?? line.text("value"), line.text("file")]
  if (value === "-" || file === "-") return Effect.map(input.readStdin, withoutEnd)
  if (value !== undefined || file === undefined) return Effect.succeed(value)
  return Either.match(input.readFile(file), {
    onLeft: ({ why }) => new CommandFailed({ message: `${file} ${why}` }),
    onRight: (text) =>
      text === undefined
        ? new CommandFailed({
          message: `${
            looksSecret(file) ? "the file of -file (its path is hidden, because it may be a private key)" : file
          } does not exist`
        })
        : Effect.succeed(withoutEnd(text))
  })
}

const itemFlags = (line: Pick<CliCommandLine, "given">): ReadonlyArray<string> =>
  [...DOMAIN_NAMES, ...IDENTITY_NAMES, "remove"].filter((flag) => line.given.has(flag))

/** Whether flags for items are given. */
export const givesItems = (line: Pick<CliCommandLine, "given">): boolean => itemFlags(line).length > 0

const contradiction = (line: ValueRequest["line"]): string | undefined => {
  const wholes = [
    ...(line.words.length > 1 ? ["a value"] : []),
    ...["value", "file"].filter((flag) => line.given.has(flag)).map((flag) => `-${flag}`)
  ]
  const ways = [...wholes, ...itemFlags(line).slice(0, 1).map((flag) => `-${flag}`)]
  return ways.length > 1 ? `${ways.slice(0, 2).join(" and ")} cannot be combined; give one` : undefined
}

/** `undefined` without such flags and without a whole value. Fails for a value that no name can have. */
export const requestedValue = (request: ValueRequest): Effect.Effect<string | undefined, CommandFailed> =>
  Effect.flatMap(madeValue(request), (value) => {
    const bytes = Buffer.byteLength(value ?? "", "utf8")
    return bytes <= MAX_SPENDABLE_VALUE ? Effect.succeed(value) : new CommandFailed({
      message: `the value has ${bytes} bytes, more than the limit of ${MAX_SPENDABLE_VALUE}: shorten it`
    })
  })

const madeValue = (request: ValueRequest): Effect.Effect<string | undefined, CommandFailed> =>
  Effect.gen(function*() {
    const { before, line, name } = request
    const problem = contradiction(line)
    if (problem !== undefined) return yield* new CommandFailed({ message: problem })
    const whole = yield* wholeValue(request)
    const flags = itemFlags(line)
    if (whole !== undefined || flags.length === 0) return whole
    const isIdentity = name.startsWith("id/")
    if (!isIdentity && !/^dd?\//.test(name)) {
      return yield* new CommandFailed({
        message: `-${flags[0]}: only d/, dd/ and id/ names have items; give the whole value with -value`
      })
    }
    const strange = flags.find((flag) => (isIdentity ? isDomainFlag : isIdentityFlag)(flag))
    if (strange !== undefined) {
      const kind = isIdentity ? "a domain, and this is an identity" : "an identity, and this is a domain"
      return yield* new CommandFailed({ message: `-${strange}: is an item of ${kind}` })
    }
    const removed = line.given.get("remove") ?? []
    const both = removed.find((key) => line.given.has(key))
    if (both !== undefined) {
      return yield* new CommandFailed({ message: `-remove ${both} cannot be combined with -${both}; give one` })
    }
    if (before === undefined) return yield* new CommandFailed({ message: NO_OBJECT })
    if (request.host !== undefined) return yield* madeBelow({ host: request.host, before, line })
    const domain = wantedOf(DOMAIN_NAMES, line.given)
    const wrong = wrongAddress(domain)
    if (wrong !== undefined) return yield* new CommandFailed({ message: wrong })
    let kept = before
    for (const key of removed) kept = yield* without({ value: kept, key, isIdentity })
    return yield* written(
      isIdentity
        ? writeIdentityForm(kept, Object.fromEntries(wantedOf<IdentityField>(IDENTITY_NAMES, line.given)))
        : writeDomainForm(kept, domainLines(kept, domain))
    )
  })
