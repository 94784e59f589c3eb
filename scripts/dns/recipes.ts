import { readFileSync } from "node:fs"

// The files of resolvers as docs/dns.md shows them, so that what readers copy is what runs.

const PAGE = new URL("../../docs/dns.md", import.meta.url)

/** The first block of code below a heading of the page. */
export const recipe = (heading: string, page = readFileSync(PAGE, "utf8")): string => {
  const [, section = ""] = page.split(`\n### ${heading}\n`)
  const [, block] = /```[a-z]+\n([\s\S]*?)```/.exec(section.split("\n### ")[0] ?? "") ?? []
  if (block === undefined) throw new Error(`docs/dns.md has no recipe for ${heading}`)
  return block
}
