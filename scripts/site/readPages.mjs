// The pages of the site, from the documents of the repository. docs/README.md says which there are: its headings are the
// groups, and its links the order. A document that another one links to belongs to it: to the README.md of its folder, or
// to the first page that links to it. A part of a long page is a page too.

import { existsSync, readFileSync } from "node:fs"
import { dirname, join, normalize } from "node:path"
import { fragmentOf, headingOf, linesOf, linksIn } from "../markdown.mjs"

const INDEX = "docs/README.md"
const FRONT = "README.md"

/** A page with more lines than this is divided. */
const LONG_PAGE = 2_000

/** A section with more lines than this leaves a page that is divided. */
const LONG_SECTION = 150

/** What a link leads to: a path in the repository, and a heading if it names one. */
export const targetOf = (page, link) => {
  const [path, fragment] = link.split("#")
  return { path: path === "" ? page : normalize(join(dirname(page), path)), fragment }
}

const titleOf = (lines) => (lines.map(headingOf).find((text) => text !== undefined) ?? "").replaceAll("`", "")

const isPage = (root, path) => path.endsWith(".md") && existsSync(join(root, path))

const level = (line) => headingOf(line) === undefined ? 0 : line.text.indexOf(" ")

/** The sections of a page below headings of the second level; the first one is what comes before. */
const sectionsOf = (lines) => {
  const sections = [[]]
  for (const line of lines) {
    if (level(line) === 2) sections.push([])
    sections.at(-1).push(line)
  }
  return sections
}

const asLine = (text) => ({ text, code: false })

/** What the page keeps of a section that is a page of its own: its heading, and the way to it. */
const remainder = ([heading, ...lines], name) => [
  heading,
  asLine(""),
  asLine(`On a page of its own: [${headingOf(heading)}](${name})`),
  asLine(""),
  ...lines.filter((line) => level(line) === 3).map((line) =>
    asLine(`- [${headingOf(line)}](${name}#${fragmentOf(headingOf(line))})`)
  ),
  asLine("")
]

/** Divides a long page: the page without its long sections, and these as pages beside it. */
const divided = (page) => {
  if (page.lines.length <= LONG_PAGE) return [page]
  const parts = []
  const kept = sectionsOf(page.lines).flatMap((section) => {
    const heading = headingOf(section[0] ?? asLine(""))
    if (section.length <= LONG_SECTION || level(section[0]) !== 2) return section
    const title = heading.split(",")[0]
    const path = page.path.replace(/\.md$/, `-${fragmentOf(title.replace(/^[\d.]+ /, ""))}.md`)
    const [first, ...rest] = section
    const lines = [{ ...first, text: first.text.replace(/^##/, "#") }, ...rest]
    parts.push({ path, title: title.replaceAll("`", ""), lines, from: page.path })
    return remainder(section, path.slice(page.path.lastIndexOf("/") + 1))
  })
  return [{ ...page, lines: kept, children: parts.map(({ path }) => path) }, ...parts]
}

/** The groups of the index: `[heading, paths of its pages]`. */
const groupsOf = (lines) => {
  const groups = []
  for (const line of lines) {
    if (level(line) === 2) groups.push([headingOf(line), []])
    for (const link of linksIn(line)) {
      const { path } = targetOf(INDEX, link)
      if (groups.length > 0 && path.endsWith(".md")) groups.at(-1)[1].push(path)
    }
  }
  return groups
}

/** Reads the pages: `groups` are the names of the groups, in order; a page has a group, or is the child of another. */
export const readPages = (root) => {
  const read = (path) => linesOf(readFileSync(join(root, path), "utf8"))
  const pages = new Map()
  const add = (path, facts) => {
    const lines = read(path)
    pages.set(path, { path, title: titleOf(lines), lines, children: [], ...facts })
  }
  const groups = groupsOf(read(INDEX))
  add(FRONT, {})
  add(INDEX, { group: "Start" })
  for (const [group, paths] of groups) {
    for (const path of paths) if (!pages.has(path)) add(path, { group })
  }
  // Pages that are added here are visited too.
  for (const page of pages.values()) {
    for (const link of page.lines.flatMap(linksIn)) {
      const { path } = targetOf(page.path, link)
      if (pages.has(path) || !isPage(root, path)) continue
      add(path, {})
      const owner = pages.get(join(dirname(path), "README.md")) ?? page
      ;(owner.path === FRONT || owner.path === path ? page : owner).children.push(path)
    }
  }
  return {
    front: FRONT,
    groups: ["Start", ...groups.map(([name]) => name)],
    pages: [...pages.values()].flatMap(divided)
  }
}
