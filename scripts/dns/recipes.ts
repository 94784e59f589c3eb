import { existsSync, readFileSync } from "node:fs"

// The files of resolvers as docs/dns.md shows them, so that what readers copy is what runs.

/** From the sources, or from the build of the scripts. */
const PAGES = ["../../docs/dns.md", "../../../docs/dns.md"].map((path) => new URL(path, import.meta.url))

const pageText = (): string => readFileSync(PAGES.find((page) => existsSync(page)) ?? "docs/dns.md", "utf8")

/** The first block of code below a heading of the page. */
export const recipe = (heading: string, page = pageText()): string => {
  const [, section = ""] = page.split(`\n### ${heading}\n`)
  const [, block] = /```[a-z]+\n([\s\S]*?)```/.exec(section.split("\n### ")[0] ?? "") ?? []
  if (block === undefined) throw new Error(`docs/dns.md has no recipe for ${heading}`)
  return block
}
