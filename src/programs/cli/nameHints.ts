import * as Effect from "effect/Effect"
import { shellWord } from "../../base/safeText.ts"
import { encodeText } from "../../protocol/nameText.ts"
import { nameFault, nameFaultOf } from "../../values/nameFault.ts"
import { type ReadName, readName, type Surprise } from "../../values/readName.ts"
import { looksSecret } from "../tool/secrets.ts"
import type { Daemon } from "./daemon.ts"
import type { CliCommandLine } from "./flags.ts"
import { CommandFailed, NAME } from "./outcome.ts"
import { givesItems } from "./valueFlags.ts"

/** Refuses an empty word, as from an unset variable, and a possible private key, which must stay here. */
export const readWord = (word: string | undefined): Effect.Effect<ReadName, CommandFailed> => {
  const text = word ?? ""
  if (!text.includes("/") && looksSecret(text)) {
    return new CommandFailed({
      message: "the word in place of the name is hidden, because it may be a private key",
      remedy:
        "give a name such as d/example; never give away a private key. For a name that looks like a key, call a method " +
        `with its hexadecimal digits: ${NAME} name_show HEX '{"nameEncoding":"hex"}'`
    })
  }
  if (/^[\s'"]*$/.test(text)) return new CommandFailed({ message: "the name is empty; give a name such as d/example" })
  const reading = readName(text)
  if (reading._tag === "Unread") return new CommandFailed({ message: reading.why.replace(/\.$/, "") })
  return encodeText(reading.name, "utf8") === undefined
    ? new CommandFailed({
      message: `the name ${reading.text} is not UTF-8 text, and this command takes only text`,
      remedy: `call a method with its hexadecimal digits: ${NAME} name_show HEX '{"nameEncoding":"hex"}'`
    })
    : Effect.succeed(reading)
}

/** The name that is most likely meant. */
export const namedBy = (word: string | undefined): Effect.Effect<string, CommandFailed> =>
  Effect.map(readWord(word), ({ text }) => text)

/** What a person may not expect of a reading, even if the name is in use. */
export const readingSurprises = ({ surprises }: Pick<ReadName, "surprises">): ReadonlyArray<Surprise> =>
  surprises.filter(({ code }) => code !== "namespace" && code !== "form")

/** Without the host below a domain, where flags put their items below it. */
export const valueSurprises = (
  surprises: ReadonlyArray<Surprise>,
  line: Pick<CliCommandLine, "given">
): ReadonlyArray<Surprise> => givesItems(line) ? surprises.filter(({ code }) => code !== "below") : surprises

/** For the preview of what a command does. */
export const noteRows = (surprises: ReadonlyArray<Surprise>): ReadonlyArray<readonly [label: string, text: string]> =>
  surprises.map(({ sentence }) => ["Note", sentence] as const)

/** Beside an answer. */
export const noteLines = (surprises: ReadonlyArray<Surprise>): string =>
  surprises.map(({ sentence }) => `${NAME}: note: ${sentence}\n`).join("")

/** Fails for a reading that needs a person's eye, where -yes says that none looks. */
export const knowingly = (
  line: Pick<CliCommandLine, "wants">,
  { remedy, surprises }: { readonly surprises: ReadonlyArray<Surprise>; readonly remedy: string }
): Effect.Effect<void, CommandFailed> =>
  surprises.length === 0 || !line.wants("yes")
    ? Effect.void
    : new CommandFailed({
      message: `${surprises.map(({ sentence }) => sentence).join(" ")} Nothing was done`,
      remedy
    })

/** What to do about a name that is not registered. */
export const freeHint = ({ cli }: Pick<Daemon, "cli">, name: string): string => {
  const bytes = new TextEncoder().encode(name)
  if (nameFault(bytes) !== undefined) {
    return name.startsWith("d/") ? "no domain can have this name" : "no identity can have this name"
  }
  const fault = nameFaultOf(bytes)
  if (fault === undefined || name.includes("/")) return `"${cli} register ${shellWord(name)}" registers it`
  const [other] = readName(name).others.flatMap((each) => {
    const text = encodeText(each, "utf8")
    return text === undefined || nameFaultOf(each) !== undefined ? [] : [text]
  })
  return `a domain begins with d/${other === undefined ? "" : `: "${cli} name ${shellWord(other)}" shows one`}`
}

/** The name that is meant by a text that is not one. */
const meant = (text: string): string | undefined => {
  const reading = readName(text)
  return reading._tag === "Unread" || reading.text === text || reading.surprises.some(({ code }) => code === "assumed")
    ? undefined
    : reading.text
}

/** For a search: a domain, or letters beyond ASCII as DNS has them; `undefined` if there is no other spelling. */
export const writtenInNames = (text: string): string | undefined => {
  const reading = readName(text)
  if (reading._tag === "Unread") return undefined
  const isLabel = reading.surprises.some(({ code }) => code === "assumed")
  const written = isLabel ? reading.text.slice("d/".length) : reading.text
  return written === text || written === text.toLowerCase() ? undefined : written
}

/** After a call that failed for its name. */
export const nameHints = (text: string | undefined): ReadonlyArray<string> => {
  if (text === undefined) return []
  const name = meant(text)
  return [
    ...name === undefined ? [] : [`Did you mean ${name}?`],
    ...name === undefined && /[^\x00-\x7f]/.test(text)
      ? ["Non-ASCII names need the option nameEncoding: pass '{\"nameEncoding\":\"utf8\"}' as the options."]
      : []
  ]
}
