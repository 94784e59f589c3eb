// Checks a site that was made: every link within it leads to a page and a place that are there, no page loads anything
// from elsewhere, and a search finds the text of the documents. Usage: checkSite.mjs folder

import { existsSync, readdirSync, readFileSync } from "node:fs"
import { dirname, join, relative } from "node:path"
import { fileURLToPath } from "node:url"
import { inflateSync } from "node:zlib"

const unescaped = (text) => text.replaceAll("&amp;", "&").replaceAll("&quot;", "\"").replaceAll("&#39;", "'")

/** Elements that load what their attribute names, and those that lead there on a click. */
const LOADS =
  /<(?:script|img|iframe|source|video|audio|embed|object|use|link)\b[^>]*?\s(?:src|href|data|srcset)="([^"]*)"/g
const LEADS = /<a\b[^>]*?\shref="([^"]*)"/g
const IDS = /\s(?:id|name)="([^"]*)"/g

const isElsewhere = (url) => /^(?:[a-z][a-z\d+.-]*:)?\/\//i.test(url) || /^[a-z][a-z\d+.-]*:/i.test(url)

const all = (text, pattern) => [...text.matchAll(pattern)].map((match) => unescaped(match[1]))

/** The pages whose text a search finds, by the index of the site. */
const searched = (folder) => {
  const [, packed = ""] = /"([^"]+)"/.exec(readFileSync(join(folder, "assets/search.js"), "utf8")) ?? []
  const { index, rows } = JSON.parse(inflateSync(Buffer.from(packed, "base64")).toString())
  const texts = index.fieldVectors.filter(([field, vector]) => field.startsWith("document/") && vector.length > 0)
  return new Set(texts.map(([field]) => rows[Number(field.slice("document/".length))].url))
}

/** The problems of the site in a folder, one line each. */
export const checkSite = (folder) => {
  const problems = []
  const files = readdirSync(folder, { recursive: true }).map((name) => join(folder, name))
  const pages = new Map(
    files.filter((file) => file.endsWith(".html")).map((file) => [file, readFileSync(file, "utf8")])
  )
  const ids = new Map()
  const idsOf = (file) => {
    const known = ids.get(file) ?? new Set(all(pages.get(file) ?? "", IDS))
    ids.set(file, known)
    return known
  }
  for (const [file, html] of pages) {
    const report = (problem) => problems.push(`${relative(folder, file)}: ${problem}`)
    for (const url of all(html, LOADS)) {
      if (url.startsWith("data:") || url.startsWith("#")) continue
      if (isElsewhere(url)) report(`loads ${url}`)
      else if (!existsSync(join(dirname(file), url.split(/[#?]/)[0]))) report(`loads ${url}, which is not there`)
    }
    for (const url of all(html, LEADS)) {
      if (isElsewhere(url)) continue
      const [path, fragment = ""] = decodeURI(url).split("#")
      const to = path === "" ? file : join(dirname(file), path)
      const page = to.endsWith(".html") ? to : join(to, "index.html")
      if (!existsSync(to)) report(`the link leads nowhere: ${url}`)
      else if (fragment !== "" && !idsOf(page).has(decodeURIComponent(fragment))) {
        report(`the link leads to no heading: ${url}`)
      }
    }
  }
  const found = searched(folder)
  for (const page of [...pages.keys()].map((file) => relative(folder, file).replaceAll("\\", "/"))) {
    if (/^(docs|examples|src)\//.test(page) && !found.has(page)) {
      problems.push(`${page}: a search does not find its text`)
    }
  }
  for (const file of files.filter((name) => name.endsWith(".css"))) {
    for (const url of all(readFileSync(file, "utf8"), /(?:url\(|@import\s+)["']?([^"')]+)/g)) {
      if (!url.startsWith("data:") && isElsewhere(url)) problems.push(`${relative(folder, file)}: loads ${url}`)
    }
  }
  return problems
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const problems = checkSite(process.argv[2])
  for (const problem of problems) console.error(problem)
  if (problems.length > 0) process.exitCode = 1
}
