/**
 * HTML that inserted text cannot break out of. Templates escape every value that is not `Html`, and are checked once,
 * so that no value stands where escaping would not help: in an unquoted attribute, an event handler, a style or a
 * script.
 */

/** Made by `html` only, never from outside text. */
export class Html {
  readonly #text: string

  constructor(text: string) {
    this.#text = text
  }

  get text(): string {
    return this.#text
  }
}

/** `undefined` and `false` become nothing; lists are joined without a separator. */
export type Part = Html | string | number | undefined | false | ReadonlyArray<Part>

const ESCAPES: Readonly<Record<string, string>> = {
  "&": "&amp;",
  "<": "&lt;",
  ">": "&gt;",
  "\"": "&quot;",
  "'": "&#39;",
  "`": "&#96;"
}

/** For text between tags, or in a quoted attribute. */
export const escape = (text: string): string => text.replaceAll(/[&<>"'`]/g, (character) => ESCAPES[character] ?? "")

type Place = "text" | "attribute" | "address"

/** Attributes with an address that the browser loads. */
const ADDRESSES = new Set(["action", "formaction", "href", "src"])

/** Attributes whose value the browser executes or obeys. */
const FORBIDDEN = /^(on.*|style|srcdoc)$/

const FORBIDDEN_TAG = /<(?:script|style|iframe|object|embed|base|!--)/i

const wrong = (why: string): never => {
  throw new TypeError(`a template of HTML is wrong: ${why}`)
}

const attributePlace = (name: string, isWhole: boolean): Place => {
  if (FORBIDDEN.test(name)) return wrong(`nothing can be put into ${name}`)
  if (!ADDRESSES.has(name)) return "attribute"
  return isWhole ? "address" : wrong(`an address is put into ${name} as a whole`)
}

/** Parses a template; returns the place of each value. */
const placesOf = (strings: ReadonlyArray<string>): ReadonlyArray<Place> => {
  const places: Array<Place> = []
  let state: "text" | "tag" | "value" = "text"
  let name = ""
  let value = ""
  for (const [at, string] of strings.entries()) {
    if (FORBIDDEN_TAG.test(string)) return wrong(`it has ${FORBIDDEN_TAG.exec(string)?.[0]}`)
    for (let i = 0; i < string.length; i++) {
      const character = string.charAt(i)
      if (state === "text") {
        if (character === "<") [state, name] = ["tag", ""]
      } else if (state === "value") {
        if (character === "\"") [state, name] = ["tag", ""]
        else value += character
      } else if (character === ">") state = "text"
      else if (character === "\"" && name.endsWith("=")) [state, name, value] = ["value", name.slice(0, -1), ""]
      else if (character === "'" || character === "\"") return wrong("attributes have double quotes")
      else name = /\s/.test(character) ? "" : name + character.toLowerCase()
    }
    if (at === strings.length - 1) break
    if (state === "tag") return wrong("something is put into a tag, outside of quotes")
    places.push(
      state === "text" ? "text" : attributePlace(name, value === "" && strings[at + 1]?.startsWith("\"") === true)
    )
    value = "?"
  }
  return state === "text" ? places : wrong("it ends within a tag")
}

const known = new WeakMap<ReadonlyArray<string>, ReadonlyArray<Place>>()

const OWN_ADDRESS = /^(?:\.\/|\?|#)/

const attributeText = (part: Part): string => {
  if (part === undefined || part === false) return ""
  if (typeof part === "string" || typeof part === "number") return escape(String(part))
  return wrong("markup or a list is put into an attribute")
}

const addressText = (part: Part): string =>
  typeof part === "string" && OWN_ADDRESS.test(part) ? escape(part) : wrong("an address leads away from this page")

const textOf = (part: Part): string => {
  if (part === undefined || part === false) return ""
  if (part instanceof Html) return part.text
  if (typeof part === "string" || typeof part === "number") return escape(String(part))
  let text = ""
  for (const each of part) text += textOf(each)
  return text
}

/** Attributes are quoted, and addresses lead to this page, with any query. Throws `TypeError` for other templates. */
export const html = (strings: TemplateStringsArray, ...parts: ReadonlyArray<Part>): Html => {
  let places = known.get(strings)
  if (places === undefined) {
    places = placesOf(strings)
    known.set(strings, places)
  }
  let text = strings[0] ?? ""
  for (const [at, part] of parts.entries()) {
    const place = places[at]
    text += place === "text" ? textOf(part) : place === "address" ? addressText(part) : attributeText(part)
    text += strings[at + 1] ?? ""
  }
  return new Html(text)
}

export const NOTHING: Html = html``
