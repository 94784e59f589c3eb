import { domainToASCII } from "node:url"

/** What an owner probably meant by a name that no daemon can know so. */

const quotes = /^(['"])(.*)\1$/

/** A label in another script as DNS has it. Alone, digits would become an address of IPv4, and `%` a code of another letter. */
const domain = (label: string): string => {
  const lower = label.toLowerCase()
  const ascii = /[^\x00-\x7f]/.test(lower) && !lower.includes("%") ? domainToASCII(`${lower}.bit`) : ""
  return `d/${ascii === "" ? lower : ascii.slice(0, -".bit".length)}`
}

/** The likely name; `undefined` for a text with nothing strange about it. */
const meant = (text: string): string | undefined => {
  const [, , inner] = quotes.exec(text) ?? []
  if (inner !== undefined) return meant(inner) ?? inner
  const [, host] = /^([^/]+)\.bit$/i.exec(text) ?? []
  if (host !== undefined) return domain(host.split(".").at(-1) ?? host)
  const [, label] = /^d\/(.*[^\x00-\x7f].*)$/.exec(text) ?? []
  return label === undefined ? undefined : domain(label)
}

/** The name that a word of a command means: a name, or a domain in any script. */
export const nameMeant = (text: string): string => meant(text) ?? text

/** Returns lines to print below the error of a call with this name. */
export const nameHints = (text: string | undefined): ReadonlyArray<string> => {
  if (text === undefined) return []
  const name = meant(text)
  return [
    ...name === undefined || name === text ? [] : [`Did you mean ${name}?`],
    ...name === undefined && /[^\x00-\x7f]/.test(text)
      ? ["Names beyond ASCII need the option nameEncoding: '{\"nameEncoding\":\"utf8\"}' in place of the options."]
      : []
  ]
}
