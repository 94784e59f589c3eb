// The manual pages: each program tells its flags, sub-commands and their texts by --help, and the option table has the keys
// of svcd.conf. `man` and `mandoc` read what this writes.

import { mkdirSync, readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { commitTime, fileOf, programs, PROJECT, run, version } from "./facts.mjs"

/** Text for the formatter: its own characters stand for themselves, and no line is a command of it. */
const roff = (text) => text.replaceAll("\\", "\\e").replaceAll("-", "\\-").replace(/^([.'])/gm, "\\&$1")

const quoted = (text) => `"${roff(text).replaceAll("\"", "\\(dq")}"`

const date = new Date(commitTime() * 1000).toISOString().slice(0, 10)

const head = (name, section, summary) =>
  `.\\" Written by scripts/package/manual.mjs.
.TH ${quoted(name.toUpperCase())} ${section} ${date} ${quoted(`svcd ${version}`)}
.SH NAME
${roff(name)} \\- ${roff(summary)}
`

const helpOf = (program, ...args) =>
  run(process.execPath, [join(PROJECT, "build/bin", fileOf(program)), ...args, "--help"])

/** Spaces before the continuation of a text in the right column of a help; an entry has two or four. */
const COLUMN = 20

const indentOf = (line) => line.length - line.trimStart().length

/** The entries of a section of a help: the left column, and its text. */
const entriesOf = (lines) => {
  const entries = []
  for (const line of lines) {
    if (indentOf(line) >= COLUMN && entries.length > 0) {
      const last = entries.at(-1)
      last.text = last.text === "" ? line.trim() : `${last.text} ${line.trim()}`
      continue
    }
    const [, term = "", text = ""] = /^(.*?)(?: {2,}(.*))?$/.exec(line.trim()) ?? []
    entries.push({ term, text })
  }
  return entries
}

/** A heading is one line, and what belongs to it is indented below; all else is text. */
const isSection = ([, second]) => second !== undefined && indentOf(second) >= 2

/** Two spaces and then words: a paragraph below a heading, not entries with two columns. */
const isProse = (lines) => lines.every((line) => indentOf(line) === 2 && !/^\s+(-|\S+ {2,})/.test(line))

const paragraph = (lines) => `.PP\n${roff(lines.map((line) => line.trim()).join(" "))}\n`

const sectionText = (lines) =>
  isProse(lines)
    ? paragraph(lines)
    : entriesOf(lines).map(({ term, text }) => `.TP\n.B ${quoted(term)}\n${roff(text || term)}\n`).join("")

const blocksOf = (help) => help.split(/\n\n+/).map((block) => block.split("\n").filter((line) => line !== ""))

/** A help as sections, under a macro for its headings; the first text is the description. */
const sectionsOf = (help, heading) => {
  const [, ...blocks] = blocksOf(help)
  let prose = heading === ".SH" ? ".SH DESCRIPTION\n" : ""
  let sections = ""
  let notes = ""
  for (const lines of blocks) {
    if (lines.length === 0) continue
    if (isSection(lines)) sections += `${heading} ${quoted(lines[0])}\n${sectionText(lines.slice(1))}`
    else if (sections === "") prose += paragraph(lines)
    else if (heading === ".SH") notes += paragraph(lines)
  }
  return prose + sections + (notes === "" ? "" : `.SH NOTES\n${notes}`)
}

const synopsis = (help) =>
  `.SH SYNOPSIS\n.nf\n${roff(blocksOf(help)[0].map((line) => line.replace(/^Usage: | {7}/, "")).join("\n"))}\n.fi\n`

const subCommandsOf = (help) =>
  blocksOf(help).filter((lines) => lines[0] === "Sub-commands" || lines[0].startsWith("Commands ")).flatMap((lines) =>
    entriesOf(lines.slice(1))
  )
    .map(({ term }) => term.split(" ")[0])

/** The methods with their summaries, from the page that is generated from their definitions. */
const methods = () => {
  const page = readFileSync(join(PROJECT, "docs/rpc.md"), "utf8")
  const found = [...page.matchAll(/^### ([a-z][a-z_.0-9]+)\n\n([^\n]+(?:\n[^\n]+)*)/gm)]
  if (found.length < 100) throw new Error("the methods of docs/rpc.md were not found")
  return found.map(([, name, text]) => `.TP\n.B ${quoted(name)}\n${roff(plain(text))}\n`).join("")
}

/** Text without the marks of a document: code and links. */
const plain = (text) => text.replaceAll("\n", " ").replaceAll("`", "").replace(/\[([^\]]*)\]\([^)]*\)/g, "$1")

const FILES = `.SH FILES
.TP
.B ~/.svcd/svcd.conf
${roff("settings; see svcd.conf(5). -datadir and SVCD_DATA_DIR name another directory.")}
.TP
.B /usr/share/doc/svcd
${roff("the documents, such as docs/operations.md and docs/configuration.md; in the archive share/doc/svcd.")}
`

const PAGES = {
  "svcd": "full node of the Namecoin network",
  "svcd-cli": "asks a running svcd, and manages names",
  "svcd-wallet": "looks after a wallet while no node runs",
  "svcd-mail": "forwards mail to names",
  "svcd-export": "keeps the names in PostgreSQL"
}

const programPage = (program, others) => {
  const help = helpOf(program)
  const subCommands = subCommandsOf(help).map((name) =>
    `.SH ${quoted(`${program} ${name}`)}\n${sectionsOf(helpOf(program, name), ".SS")}`
  )
  const list = program === "svcd-cli" ? `.SH METHODS\n${methods()}` : ""
  const also = [
    ...others.filter((name) => name !== program).map((name) => `.BR ${roff(name)} (1)`),
    ".BR svcd.conf (5)"
  ]
  return head(program, 1, PAGES[program] ?? "part of svcd") + synopsis(help) + sectionsOf(help, ".SH") +
    subCommands.join("") + list + FILES + `.SH SEE ALSO\n${also.join(" ,\n")}\n`
}

const configPage = async () => {
  const { OPTIONS } = await import(join(PROJECT, "build/src/config/options.js"))
  const { defaultText, describedOption } = await import(join(PROJECT, "build/src/config/help.js"))
  const { GROUPS } = await import(join(PROJECT, "build/src/config/optionRow.js"))
  const rows = Object.entries(OPTIONS).filter(([, { key }]) => key !== undefined)
  const rowText = ([name, option]) => {
    const text = describedOption({ ...option, shown: defaultText(option) })
    const flag = option.flag ? ` As a flag: -${name}.` : ""
    return `.TP\n.BR ${quoted(option.key)} " = " ${
      quoted(option.placeholder === "" ? "true|false" : option.placeholder)
    }\n` +
      `${roff(`${text}.${flag}`)}\n`
  }
  return head("svcd.conf", 5, "settings of svcd and its tools") + `.SH DESCRIPTION
${roff("svcd.conf in the data directory is a file in TOML. A key has the name of the flag:")}
.PP
.nf
${roff("network = \"regtest\"\ntxindex = true\n\n[database]\npagesize = 16384")}
.fi
.PP
${
    roff(
      "A flag wins over the environment, the environment over the file, the file over the default. A key with a dot is in " +
        "the table before the dot. A key that may be repeated takes a list. svcd -printconfig prints every setting in force " +
        "and its source. Only its owner should be able to read a file with a password."
    )
  }
` +
    GROUPS.map((group) =>
      `.SH ${quoted(group)}\n${rows.filter(([, row]) => row.group === group).map(rowText).join("")}`
    )
      .filter((text) => text.includes(".TP")).join("") +
    `.SH SEE ALSO\n.BR svcd (1)\n`
}

/** A heading begins a paragraph by itself. */
const tidy = (page) => page.replace(/^(\.S[HS] .*\n)\.PP\n/gm, "$1")

/** Writes the pages of the programs and of svcd.conf below a folder, in the places where `man` looks. */
export const writeManual = async (folder) => {
  for (const section of ["man1", "man5"]) mkdirSync(join(folder, section), { recursive: true })
  for (const program of programs) {
    writeFileSync(join(folder, "man1", `${program}.1`), tidy(programPage(program, programs)))
  }
  writeFileSync(join(folder, "man5/svcd.conf.5"), tidy(await configPage()))
}
