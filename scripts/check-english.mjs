// Finds forms that a native technical writer would not keep (CONTRIBUTING.md, "Plain English") in sources, tests, scripts,
// examples and documents. FORMS has only what is wrong nearly everywhere. Usage: check-english.mjs [root]

import { existsSync, readdirSync, readFileSync, statSync } from "node:fs"
import { join } from "node:path"
import { fileURLToPath } from "node:url"

const PLACES = ["src", "test", "scripts", "examples", "docs", "README.md", "CONTRIBUTING.md"]

/** Each form, with what to write in its place. */
const FORMS = [
  [
    /(?<!\b(?:there|where|it|as) )\b(?:is|are|was|were) no (?!(?:one|longer|more|less|other|\w+er than)\b)\w+/gi,
    "is not a …"
  ],
  [/(?<=^|[.!?] |\*\* |# |- )Also (?!called\b|known\b)[a-z]\w*/gm, "…, too"],
  [
    /, also (?:if|when|while|where|after|before|during|across|over|through|without|with|in|on|at|by|from|for|of|to|those|an?|the)\b/g,
    "even …, including …"
  ],
  [/\bstands? (?:in(?! for\b)|on|there|below|above|beside|before|after|behind)\b/g, "is in …, comes before …"],
  [/\bover (?:restarts|reorgs|reorgani[sz]ations)\b/g, "across …"]
]

/** Quotations, and this list. */
const EXCEPTIONS = ["scripts/check-english.mjs", "test/scripts/checkEnglish.test.ts"]

const textsIn = (root, place) => {
  if (!existsSync(join(root, place))) return []
  if (statSync(join(root, place)).isFile()) return [place]
  return readdirSync(join(root, place), { recursive: true })
    .map((name) => `${place}/${name.replaceAll("\\", "/")}`)
    .filter((name) => /\.(?:ts|mjs|md)$/.test(name) && !/\/(?:node_modules|fixtures|vectors)\//.test(name))
    .sort()
}

const [root = fileURLToPath(new URL("..", import.meta.url))] = process.argv.slice(2)

const files = PLACES.flatMap((place) => textsIn(root, place)).filter((name) => !EXCEPTIONS.includes(name))
const problems = files.flatMap((name) => {
  const text = readFileSync(join(root, name), "utf8")
  return FORMS.flatMap(([form, instead]) =>
    [...text.matchAll(form)].map(({ 0: found, index }) =>
      `${name}:${text.slice(0, index).split("\n").length}: "${found}": write "${instead}"`
    )
  )
})
for (const problem of problems) console.error(problem)
console.log(`english: ${files.length} files, ${problems.length} problems`)
process.exitCode = problems.length === 0 ? 0 : 1
