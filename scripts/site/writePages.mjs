// Writes the pages of the site for the generator: with a title and a place in front, and with links that lead to pages.
// The folders stay those of the repository, so that links between pages need no change.

import { copyFileSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs"
import { dirname, join, posix } from "node:path"
import { fragmentOf, headingOf, withLinks } from "../markdown.mjs"
import { targetOf } from "./readPages.mjs"

/** Files that a page shows, and that are copied. */
const PICTURE = /\.(png|webp|svg)$/

const writeText = (file, text) => {
  mkdirSync(dirname(file), { recursive: true })
  writeFileSync(file, text)
}

/** For each divided page: which part has a heading. */
const placesOf = (pages) => {
  const places = new Map()
  for (const { from, lines, path } of pages) {
    if (from === undefined) continue
    for (const line of lines) {
      const heading = headingOf(line)
      if (heading === undefined) continue
      const fragments = places.get(from) ?? new Map()
      places.set(from, fragments)
      if (!fragments.has(fragmentOf(heading))) fragments.set(fragmentOf(heading), path)
    }
  }
  return places
}

/** The file of a folder's or a source's text: every browser and server shows `.txt`. */
const asText = (root, folder, path) => {
  const directory = statSync(join(root, path)).isDirectory()
  const name = `${directory ? `${path.replace(/\/$/, "")}/files` : path}.txt`
  const listed = () =>
    readdirSync(join(root, path), { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile())
      .map((entry) => posix.relative(root, posix.join(entry.parentPath, entry.name))).sort().join("\n")
  writeText(join(folder, name), directory ? `${listed()}\n` : readFileSync(join(root, path), "utf8"))
  return name
}

const frontMatter = ({ children, group, path, title }) => [
  "---",
  `title: ${JSON.stringify(title)}`,
  ...(group === undefined ? [] : [`category: ${JSON.stringify(group)}`]),
  ...(children === undefined || children.length === 0
    ? []
    : ["children:", ...children.map((child) => `  - ${JSON.stringify(posix.relative(posix.dirname(path), child))}`)]),
  "---",
  ""
]

/** The generator leaves code out of the fragment of a heading, and GitHub does not. */
const plainHeading = (text) => text.replace(/`([^`]*)`/g, (_, code) => code.replace(/[<>*_[\]\\]/g, "\\$&"))

/** Writes all pages below the folder, which is emptied first. */
export const writePages = ({ folder, front, pages, root }) => {
  rmSync(folder, { recursive: true, force: true })
  const paths = new Set(pages.map(({ path }) => path))
  const places = placesOf(pages)
  for (const page of pages) {
    const { from = page.path, lines, path } = page
    const changed = (link) => {
      const { fragment, path: target } = targetOf(from, link)
      const hash = fragment === undefined ? "" : `#${fragment}`
      const written = (to) => {
        const relative = posix.relative(posix.dirname(path), to)
        return to === path && hash !== "" ? hash : `${relative.startsWith(".") ? "" : "./"}${relative}${hash}`
      }
      if (fragment !== undefined && places.get(target)?.has(fragment)) return written(places.get(target).get(fragment))
      if (paths.has(target)) return written(target)
      if (!PICTURE.test(target)) return written(asText(root, folder, target))
      mkdirSync(dirname(join(folder, target)), { recursive: true })
      copyFileSync(join(root, target), join(folder, target))
      return written(target)
    }
    const text = lines.map((line, at) => {
      if (headingOf(line) !== undefined) return plainHeading(line.text)
      // The generator takes a block without a language for TypeScript.
      return line.text === "```" && lines[at - 1]?.code !== true ? "```text" : withLinks(line, changed)
    })
    writeText(join(folder, path), [...(path === front ? [] : frontMatter(page)), ...text].join("\n"))
  }
  return pages.filter(({ group }) => group !== undefined).map(({ path }) => join(folder, path))
}
