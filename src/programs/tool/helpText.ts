import type * as HelpDoc from "@effect/cli/HelpDoc"
import type * as Span from "@effect/cli/HelpDoc/Span"
import type * as Usage from "@effect/cli/Usage"
import * as Option from "effect/Option"
import { entry } from "../../config/help.ts"
import { BUILT_IN } from "./arguments.ts"

/** Lays out @effect/cli's description of a program in the form of `svcd -help`. */

const spanText = (span: Span.Span): string => {
  switch (span._tag) {
    case "Text":
    case "URI":
      return span.value
    case "Highlight":
    case "Strong":
    case "Weak":
      return spanText(span.value)
    case "Sequence":
      return spanText(span.left) + spanText(span.right)
  }
}

export const paragraphs = (doc: HelpDoc.HelpDoc): ReadonlyArray<string> => {
  switch (doc._tag) {
    case "Empty":
    case "Header":
    case "DescriptionList":
      return []
    case "Paragraph":
      return [spanText(doc.value)]
    case "Enumeration":
      return doc.elements.flatMap(paragraphs)
    case "Sequence":
      return [...paragraphs(doc.left), ...paragraphs(doc.right)]
  }
}

interface Entry {
  readonly head: string
  readonly text: string
}

/** Additions of the library that the usage already tells. */
const ADDED = /^(?:This setting is optional|This option may be repeated)/

const entries = (doc: HelpDoc.HelpDoc): ReadonlyArray<Entry> => {
  switch (doc._tag) {
    case "DescriptionList":
      return doc.definitions.map(([head, description]) => {
        // The first paragraph is the library's: what a text is, or a switch.
        const [, ...own] = paragraphs(description)
        const text = own.filter((paragraph) => !ADDED.test(paragraph)).join(" ")
        return { head: spanText(head).replace(/\.\.\.$/, ""), text }
      })
    case "Sequence":
      return [...entries(doc.left), ...entries(doc.right)]
    default:
      return []
  }
}

export const describesFlags = (doc: HelpDoc.HelpDoc): boolean => entries(doc).length > 0

interface Words {
  readonly words: ReadonlyArray<string>
  readonly required: ReadonlyArray<string>
  readonly optional: boolean
}

const NOTHING: Words = { words: [], required: [], optional: false }

const wordsOf = (usage: Usage.Usage): Words => {
  switch (usage._tag) {
    case "Empty":
    case "Mixed":
      return NOTHING
    case "Named": {
      const [name = ""] = usage.names
      if (!name.startsWith("-")) return { ...NOTHING, words: [name] }
      return { ...NOTHING, required: [name, ...Option.toArray(usage.acceptedValues)] }
    }
    case "Optional":
    case "Repeated": {
      const { required, words } = wordsOf(usage.usage)
      return { words: words.map((word) => `[${word}]`), required: [], optional: required.length > 0 }
    }
    case "Alternation":
    case "Concat": {
      const [left, right] = [wordsOf(usage.left), wordsOf(usage.right)]
      return {
        words: [...left.words, ...right.words],
        required: [...left.required, ...right.required],
        optional: left.optional || right.optional
      }
    }
  }
}

const usageLine = (usage: Usage.Usage): string => {
  const { optional, required, words } = wordsOf(usage)
  return [...words, ...required, ...optional ? ["[flags]"] : []].join(" ")
}

const section = (title: string, list: ReadonlyArray<Entry>): ReadonlyArray<string> =>
  list.length === 0 ? [] : [title, ...list.map(entry), ""]

export interface ProgramPage {
  readonly name: string
  readonly about: string
  readonly notes: string
  readonly commands: ReadonlyArray<{ readonly usage: Usage.Usage; readonly doc: HelpDoc.HelpDoc }>
}

const SPELLING = "-flag value, -flag=value, --flag value and --flag=value are equivalent."
const STATUS = "Exit status: 0; 1 if it cannot be done; 2 for a mistake in arguments or configuration."

export const pageText = ({ about, commands, name, notes }: ProgramPage): string =>
  [
    `Usage: ${name} <sub-command> [flags]`,
    "",
    about,
    "",
    ...section(
      "Sub-commands",
      commands.map(({ doc, usage }) => ({ head: usageLine(usage), text: paragraphs(doc).join(" ") }))
    ),
    ...section("Flags", [
      { head: "--help", text: "print this text, or the flags of a command, and exit" },
      { head: "--version", text: "print the version and exit" },
      {
        head: `--completions ${BUILT_IN.completions.placeholder}`,
        text: "print a completion script for commands and flags, and exit"
      }
    ]),
    notes,
    "",
    SPELLING,
    "",
    STATUS,
    ""
  ].join("\n")

export const commandText = (usage: Usage.Usage, doc: HelpDoc.HelpDoc): string => {
  const list = entries(doc)
  const isFlag = ({ head }: Entry): boolean => head.startsWith("-")
  return [
    `Usage: ${usageLine(usage)}`,
    "",
    ...paragraphs(doc),
    "",
    ...section("Arguments", list.filter((each) => !isFlag(each))),
    ...section("Flags", list.filter(isFlag)),
    SPELLING,
    ""
  ].join("\n")
}
