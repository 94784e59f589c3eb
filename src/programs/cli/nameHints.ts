import * as Effect from "effect/Effect"
import { domainToASCII } from "node:url"
import { shellWord } from "../../base/safeText.ts"
import { bitDomainOf } from "../../protocol/nameText.ts"
import { looksSecret } from "../tool/secrets.ts"
import { CommandFailed, NAME } from "./outcome.ts"

const quotes = /^(['"])(.*)\1$/

/** As DNS encodes it. Alone, digits would become an IPv4 address, and `%` an escape. */
const domain = (label: string): string => {
  const lower = label.toLowerCase()
  const ascii = /[^\x00-\x7f]/.test(lower) && !lower.includes("%") ? domainToASCII(`${lower}.bit`) : ""
  return `d/${ascii === "" ? lower : ascii.slice(0, -".bit".length)}`
}

const meant = (text: string): string | undefined => {
  const [, , inner] = quotes.exec(text) ?? []
  if (inner !== undefined) return meant(inner) ?? inner
  const [, host] = /^([^/]+)\.bit$/i.exec(text) ?? []
  if (host !== undefined) return domain(host.split(".").at(-1) ?? host)
  const [, label] = /^d\/(.*[^\x00-\x7f].*)$/.exec(text) ?? []
  return label === undefined ? undefined : domain(label)
}

export const nameMeant = (text: string): string => meant(text) ?? text

/** For a search: a domain, or letters beyond ASCII as DNS has them; `undefined` if there is no other spelling. */
export const writtenInNames = (text: string): string | undefined => {
  const written = meant(text) ?? (/^[^\s/]*$/.test(text) ? domain(text).slice("d/".length) : text)
  return written === text || written === text.toLowerCase() ? undefined : written
}

/** Refuses an empty word, as from an unset variable, and a possible private key, which must stay here. */
export const namedBy = (word: string | undefined): Effect.Effect<string, CommandFailed> => {
  const name = nameMeant(word ?? "")
  if (!name.includes("/") && looksSecret(name)) {
    return new CommandFailed({
      message: "the word in place of the name is hidden, because it may be a private key",
      remedy:
        "give a name such as d/example; never give away a private key. For a name that looks like a key, call a method " +
        `with its hexadecimal digits: ${NAME} name_show HEX '{"nameEncoding":"hex"}'`
    })
  }
  return name === ""
    ? new CommandFailed({ message: "the name is empty; give a name such as d/example" })
    : Effect.succeed(name)
}

const WITHOUT_LABEL = /^(?:[a-z]+\/)?\s*$/

/** For a name to register: also refuses only spaces, only a namespace such as `d/`, and one in upper case. */
export const newNameBy = (word: string | undefined): Effect.Effect<string, CommandFailed> =>
  Effect.flatMap(namedBy(word), (name) => {
    if (WITHOUT_LABEL.test(name)) {
      return new CommandFailed({
        message: `${JSON.stringify(name)} is not a complete name; give one such as d/example`
      })
    }
    return /^(?:D|ID|Id|iD)\//.test(name)
      ? new CommandFailed({
        message: `${JSON.stringify(name)} begins with an upper-case letter, and names are case-sensitive`,
        remedy: `did you mean ${name.toLowerCase()}?`
      })
      : Effect.succeed(name)
  })

/** A name outside every namespace resolves to nothing: the user probably means a domain. */
export const freeHint = (name: string): string => {
  if (WITHOUT_LABEL.test(name)) return "a complete name looks like d/example"
  if (name.startsWith("d/") && bitDomainOf(new TextEncoder().encode(name)) === undefined) {
    return "no domain can have this name"
  }
  if (name.includes("/")) return `"${NAME} register ${shellWord(name)}" registers it`
  const label = `d/${name.split(".").at(-2) ?? name}`.toLowerCase()
  const known = bitDomainOf(new TextEncoder().encode(label)) === undefined ? "" : `: "${NAME} name ${label}" shows one`
  return `a domain begins with d/${known}`
}

export const nameHints = (text: string | undefined): ReadonlyArray<string> => {
  if (text === undefined) return []
  const name = meant(text)
  return [
    ...name === undefined || name === text ? [] : [`Did you mean ${name}?`],
    ...name === undefined && /[^\x00-\x7f]/.test(text)
      ? ["Non-ASCII names need the option nameEncoding: pass '{\"nameEncoding\":\"utf8\"}' as the options."]
      : []
  ]
}
