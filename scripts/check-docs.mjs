// Compares the documents with the build and the sources: links, files and names in code, options, RPC methods. Usage: check-docs.mjs [folder of the documents]

import { spawn } from "node:child_process"
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs"
import { createServer } from "node:net"
import { tmpdir } from "node:os"
import { dirname, join, relative } from "node:path"
import { setTimeout as sleep } from "node:timers/promises"
import { fileURLToPath } from "node:url"
import { codeSpans, fragmentsIn, headingOf, linesOf as linesOfText, linksIn, markdownIn } from "./markdown.mjs"

const project = fileURLToPath(new URL("..", import.meta.url))
const root = process.argv[2] ?? project
const problems = []

const report = (file, line, problem) => problems.push(`${relative(root, file)}:${line}: ${problem}`)

const linesOf = (file) => linesOfText(readFileSync(file, "utf8"))

// Links

const checkLinks = (file) => {
  for (const line of linesOf(file)) {
    for (const target of linksIn(line)) {
      const [path, fragment] = target.split("#")
      const to = path === "" ? file : join(dirname(file), path)
      if (!existsSync(to)) report(file, line.number, `the link leads nowhere: ${target}`)
      else if (fragment !== undefined && !fragmentsIn(linesOf(to)).has(fragment)) {
        report(file, line.number, `no heading of ${path || "this document"} is called #${fragment}`)
      }
    }
  }
}

/** The index of the documents lists every page: the site has its groups and its order. */
const checkIndex = (index, pages) => {
  if (!existsSync(index)) return problems.push("docs/README.md is not there")
  const listed = new Set(linesOf(index).flatMap(linksIn).map((target) => join(dirname(index), target.split("#")[0])))
  for (const page of pages) {
    const folder = join(dirname(page), "README.md")
    if (page !== index && !listed.has(page) && !(folder !== index && listed.has(folder))) {
      report(page, 1, "docs/README.md does not list this page")
    }
  }
}

// Citations of docs/reference

const REFERENCES = ["protocol.md", "rpc.md"]

/** The sections of a reference: `6`, `6.7`, `A.5`, `appendix B`. */
const sectionsOf = (file) =>
  new Set(
    linesOf(file).map(headingOf).flatMap((heading = "") => {
      const found = /^(?:(\d+(?:\.\d+)*|[A-Z]\.\d+) |(Appendix [A-Z]):)/.exec(heading)
      return found === null ? [] : [(found[1] ?? found[2]).toLowerCase()]
    })
  )

/** Between words: a space, or the end of a line of a comment. */
const GAP = String.raw`(?: |\n *(?:\*|//) )`

/** A file and the sections behind it: `6.7`, `6.7, 6.8`, `3.1 to 3.4`, `1.5 and 6.1`, `appendix B`. */
const CITATION = new RegExp(
  String.raw`\breference/([a-z]+\.md)${GAP}((?:[Aa]ppendix )?[A-Z0-9][.0-9]*(?:(?:,| and| to)${GAP}\d+\.\d+)*)`,
  "g"
)

/** Documents outside this repository, or cited without their folder. */
const FOREIGN = /(?<![\w/])(?:spec|design|review|protocol|rpc)\.md \d|\(design \d/g

const sourcesIn = (folder) =>
  readdirSync(join(root, folder), { recursive: true }).filter((name) => /\.(ts|mjs)$/.test(name))
    .map((name) => join(root, folder, name))

const checkCitations = (files) => {
  const sections = new Map(REFERENCES.map((name) => [name, sectionsOf(join(root, "docs/reference", name))]))
  for (const file of files) {
    const text = readFileSync(file, "utf8")
    const lineAt = (index) => text.slice(0, index).split("\n").length
    for (const { 0: cited, index } of text.matchAll(FOREIGN)) {
      report(file, lineAt(index), `cites a document that is not there: ${cited}`)
    }
    for (const { 1: name, 2: cited, index } of text.matchAll(CITATION)) {
      for (const section of cited.split(/,| and| to/)) {
        const wanted = section.replace(/^\W+|\.$/g, "").toLowerCase()
        if (sections.get(name)?.has(wanted) !== true) {
          report(file, lineAt(index), `docs/reference/${name} has no section ${wanted}`)
        }
      }
    }
  }
}

// Files and names of the sources

const WORD = /^[A-Za-z_$][\w$]*(?:\.[A-Za-z_$][\w$]*)*$/

/** Endings of files that a program writes, `names.db`: no names of the sources. */
const WRITTEN = /\.(?:conf|db|js|json|log|md|mjs|ndjson|toml|txt)$/

const SOURCE = /\.(?:ts|mjs)$/

/** All sources: their paths as pages name them, which start below src, and in full. */
const sourcePaths = () => {
  const at = (folder) => sourcesIn(folder).map((file) => ({ file, path: relative(join(root, folder), file) }))
  const others = ["test", "scripts", "examples"].filter((name) => existsSync(join(root, name))).flatMap(sourcesIn)
  const top = readdirSync(root).filter((name) => SOURCE.test(name)).map((name) => join(root, name))
  return [...at("src"), ...[...others, ...top].map((file) => ({ file, path: relative(root, file) }))]
}

/**
 * Each source file that a page names exists, and has the words that the page finds "in" it. In a row of docs/where-to-look.md, each
 * word in code is in one of its files.
 */
const checkSources = (files, guide) => {
  const all = sourcePaths()
  const filesOf = (span) => all.filter(({ path }) => path === span || path.endsWith(`/${span}`)).map(({ file }) => file)
  const hasPart = (file, part) => new RegExp(`\\b${part}\\b`).test(readFileSync(file, "utf8"))
  /** Whether one of the files named has the word. A word that is none, or the name of a file, is not looked for. */
  const isKnown = (word, spans) =>
    !WORD.test(word) || SOURCE.test(word) || WRITTEN.test(word) ||
    spans.flatMap(filesOf).some((file) => word.split(".").every((part) => hasPart(file, part)))
  for (const file of files) {
    for (const { number, text } of linesOf(file)) {
      const row = file === guide && text.startsWith("|") ? codeSpans(text) : []
      const named = row.filter((span) => SOURCE.test(span))
      const places = [...text.matchAll(/`([^`]+)` (?:in|of) `([\w./-]+\.ts)`/g)]
      for (const span of new Set([...named, ...places.map((place) => place[2])])) {
        if (filesOf(span).length === 0) report(file, number, `there is no source file \`${span}\``)
      }
      for (const [, word, span] of places) {
        if (!isKnown(word, [span])) report(file, number, `\`${span}\` has no \`${word}\``)
      }
      for (const word of named.length === 0 ? [] : row) {
        if (!isKnown(word, named)) report(file, number, `no file of this row has \`${word}\``)
      }
    }
  }
}

// Options

const checkConfiguration = (file, options) => {
  const lines = linesOf(file)
  const words = (text) => codeSpans(text).map((span) => span.split(/[ =]/)[0].replace(/^--/, "-"))
  const all = new Set(lines.flatMap(({ text }) => words(text)))
  for (const [name, option] of Object.entries(options)) {
    const label = option.flag ? `-${name}` : option.key
    // The table row of an option begins with its name; a key of the file may be there without its TOML table.
    const isLabel = (word) => word === label || (!option.flag && word === name)
    const row = lines.find(({ text }) => text.startsWith("|") && words(text.split("|")[1] ?? "").some(isLabel))
    if (row === undefined) {
      report(file, 1, `no row of a table begins with \`${label}\``)
      continue
    }
    const expected = [option.env, option.toml === "boolean" || option.default === "" ? undefined : option.default]
    for (const text of expected) {
      if (text !== undefined && !row.text.includes(text)) {
        report(file, row.number, `\`${label}\` does not tell \`${text}\``)
      }
    }
    const key = option.key?.split(".").at(-1)
    if (key !== undefined && key !== name && !lines.some(({ text }) => text.includes(key))) {
      report(file, row.number, `\`${label}\` does not tell its key \`${option.key}\``)
    }
  }
  for (const word of all) {
    const flag = /^-([a-z]{2,})$/.exec(word)?.[1]
    if (flag === undefined || options[flag]?.flag || options[flag.replace(/^no/, "")]?.toml === "boolean") continue
    report(file, lines.find(({ text }) => text.includes(word))?.number ?? 1, `there is no flag \`${word}\``)
  }
}

// RPC methods

const checkMethods = (files, methods) => {
  const sections = new Map()
  for (const file of files) {
    let section
    for (const line of linesOf(file)) {
      const heading = headingOf(line)
      if (heading !== undefined) {
        const name = /^`?([a-z][a-z0-9_.]*)`?$/.exec(heading)?.[1]
        section = name === undefined ? undefined : { file, number: line.number, text: "" }
        if (section !== undefined) sections.set(name, section)
      } else if (section !== undefined) section.text += `${line.text}\n`
    }
  }
  for (const { name, params } of methods) {
    const section = sections.get(name)
    if (section === undefined) {
      report(files[0], 1, `no heading for the method ${name}`)
      continue
    }
    for (const param of params) {
      if (!section.text.includes(param.name)) {
        report(section.file, section.number, `${name} does not tell its parameter ${param.name}`)
      }
    }
  }
  const known = new Set(methods.map(({ name }) => name))
  for (const [name, { file, number }] of sections) {
    if (!known.has(name)) report(file, number, `there is no method ${name}`)
  }
}

const freePort = () =>
  new Promise((resolve) => {
    const server = createServer().listen(0, "127.0.0.1", () => {
      const { port } = server.address()
      server.close(() => resolve(port))
    })
  })

/** The methods as the program itself describes them: a node is started for this. */
const describedMethods = async () => {
  const datadir = mkdtempSync(join(tmpdir(), "svcd-docs-"))
  const address = `127.0.0.1:${await freePort()}`
  const flags = [
    "-network",
    "regtest",
    "-datadir",
    datadir,
    "-rpcaddr",
    address,
    "-maxpeers",
    "0",
    "-loglevel",
    "error"
  ]
  const node = spawn(process.execPath, [join(project, "build/bin/svcd.js"), ...flags], {
    stdio: ["ignore", "inherit", "inherit"]
  })
  const ended = new Promise((resolve) => node.once("exit", resolve))
  const body = JSON.stringify({ jsonrpc: "2.0", id: 1, method: "rpc.discover" })
  try {
    for (const end = Date.now() + 60_000; Date.now() < end && node.exitCode === null; await sleep(50)) {
      const answer = await fetch(`http://${address}/`, { method: "POST", body }).catch(() => undefined)
      const { result } = await answer?.json() ?? {}
      if (result !== undefined) return result.methods
    }
    throw new Error("svcd did not describe its methods")
  } finally {
    node.kill("SIGTERM")
    await ended
    rmSync(datadir, { recursive: true, force: true })
  }
}

const docs = markdownIn(join(root, "docs"))
const pages = ["README.md", "CONTRIBUTING.md", "CHANGELOG.md"].map((name) => join(root, name))
const documents = [...pages, ...docs, ...markdownIn(join(root, "src"))]
documents.forEach(checkLinks)
checkIndex(join(root, "docs/README.md"), docs)
checkCitations(["src", "test", "scripts", "examples"].filter((name) => existsSync(join(root, name))).flatMap(sourcesIn))
if (existsSync(join(root, "src"))) {
  const guide = join(root, "docs/where-to-look.md")
  checkSources([join(root, "CONTRIBUTING.md"), ...docs, ...markdownIn(join(root, "src"))], guide)
}

const configuration = join(root, "docs/configuration.md")
const { OPTIONS } = await import(join(project, "build/src/config/options.js"))
if (existsSync(configuration)) checkConfiguration(configuration, OPTIONS)
else problems.push("docs/configuration.md is not there")

const rpcDocs = docs.filter((file) => /^docs[/\\]rpc(\.md$|[/\\])/.test(relative(root, file)))
if (rpcDocs.length > 0) checkMethods(rpcDocs, await describedMethods())
else problems.push("docs/rpc.md is not there")

for (const problem of problems) console.error(problem)
console.log(`docs: ${documents.length} documents, ${Object.keys(OPTIONS).length} options, ${problems.length} problems`)
process.exitCode = problems.length === 0 ? 0 : 1
