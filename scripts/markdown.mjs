// Reads Markdown as far as scripts need it: lines, headings, links, and fragments as GitHub makes them.

import { existsSync, readdirSync } from "node:fs"
import { join } from "node:path"

/** The Markdown files below a folder, in the order of their names. */
export const markdownIn = (folder) =>
  !existsSync(folder) ? [] : readdirSync(folder, { recursive: true })
    .filter((name) => name.endsWith(".md"))
    .sort()
    .map((name) => join(folder, name))

/** The lines of a document; lines of code blocks are marked, as nothing in them is a link or a heading. */
export const linesOf = (markdown) => {
  let inBlock = false
  return markdown.split("\n").map((text, index) => {
    const fence = text.startsWith("```")
    if (fence) inBlock = !inBlock
    return { text, number: index + 1, code: inBlock || fence }
  })
}

export const headingOf = ({ code, text }) => code ? undefined : /^#+ +(.*)$/.exec(text)?.[1]

export const codeSpans = (text) => [...text.matchAll(/`([^`]+)`/g)].map((match) => match[1])

/** The URL fragment of a heading, as GitHub makes it. */
export const fragmentOf = (heading) =>
  heading.toLowerCase().replace(/\[([^\]]*)\]\([^)]*\)/g, "$1").replace(/[^\p{L}\p{N} _-]/gu, "").replaceAll(" ", "-")

export const fragmentsIn = (lines) => new Set(lines.map(headingOf).filter((text) => text !== undefined).map(fragmentOf))

const LINK = /(`[^`]*`)|\]\(([^)\s]+)\)/g

/** The targets of the links and pictures in a line that stay within the repository. */
export const linksIn = ({ code, text }) =>
  code ? [] : [...text.matchAll(LINK)].map((match) => match[2])
    .filter((target) => target !== undefined && !/^[a-z]+:/.test(target))

/** The line with other targets in its links. */
export const withLinks = (line, change) =>
  line.code ? line.text : line.text.replace(
    LINK,
    (whole, span, target) => span !== undefined || /^[a-z]+:/.test(target) ? whole : `](${change(target)})`
  )
