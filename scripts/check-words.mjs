// Finds words that the plain English of this project does without (CONTRIBUTING.md, "Plain English"), and fixed waits in
// tests.
// Usage: check-words.mjs [path…], src, test, scripts, examples and the documents where none is given.

import { readdirSync, readFileSync, statSync } from "node:fs"
import { join, relative } from "node:path"
import { fileURLToPath } from "node:url"

/** What is not written, what is written in its place, and the files concerned where that is not all. */
const WORDS = [
  [
    /\b(nobody|somebody|anybody|everybody|whoever|whomever)\b/gi,
    "name the actor: peer, caller, operator, fiber, follower"
  ],
  [/\b(who|whom)\b/gi, "name the actor: peer, caller, operator, fiber, follower"],
  [/\bthose who\b/gi, "name the actors: subscribers, followers, callers"],
  [/\banew\b/gi, "again, retries, rebuilds"],
  [/\bfarewells?\b/gi, "disconnection"],
  [/\bc[ao]mes? to grief\b/gi, "fails, is refused"],
  [/\bheld against\b/gi, "misbehaving, refused with the reason"],
  [/\bholds? up\b/gi, "stalls, delays"],
  [/\b(?:takes? back|taken back|took back|taking back)\b/gi, "disconnects a block, rolls back, withdraws"],
  [/\bhears? of\b|\bheard of\b/gi, "receives, is notified of"],
  [/\bcomes? by again\b/gi, "retries"],
  [/\blets? (?:it|him|them|her) go\b/gi, "disconnects, drops"],
  [/\bdoes not take what it is sent\b/gi, "send buffer full"],
  [/\b(?:of|on) (?:its|their) own accord\b/gi, "by itself, unsolicited"],
  [/\/\*\* (?:Says|Tells|Judges|Looks)\b/g, "Returns, reports, logs, checks, validates"],
  [/^ \* (?:Says|Tells|Judges|Looks)\b/gm, "Returns, reports, logs, checks, validates"],
  [
    /(?<![.\w])setTimeout\(|\bEffect\.(?:sleep|delay)\(/g,
    "a test waits for a condition or an event (test/support/eventually.ts), or moves the TestClock",
    /^test\/(?!support\/|integration\/)/
  ]
]

/** Quotations, names of things outside, and times that are tested: files with the words that they may hold. */
const ALLOWED = new Map([
  ["scripts/check-words.mjs", /./],
  // A note of a registration that wallet.json keeps, and that is compared with.
  ["src/wallet/names/progress.ts", /^somebody$/],
  // That sleeping takes real time.
  ["test/base/NodeClock.test.ts", /^Effect\.sleep/],
  // The pauses between the pieces of a request.
  ["test/http/laneEquality.test.ts", /^setTimeout/],
  // The latency of a peer.
  ["test/network/sync/fakePeers.ts", /^Effect\.sleep/],
  // On the test clock.
  ["test/programs/cli/cliConnection.test.ts", /^Effect\.delay/]
])

const ROOT = fileURLToPath(new URL("..", import.meta.url))
const DEFAULT = ["src", "test", "scripts", "examples", "docs", "README.md", "CONTRIBUTING.md", "CHANGELOG.md"]

const textsIn = (path) =>
  statSync(path).isFile()
    ? [path]
    : readdirSync(path, { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile() && /\.(ts|mjs|md)$/.test(entry.name))
      .map((entry) => join(entry.parentPath, entry.name))
      .filter((file) => !/node_modules|[\\/]fixtures[\\/]|[\\/]vectors[\\/]/.test(file))

const paths = process.argv.length > 2 ? process.argv.slice(2) : DEFAULT.map((name) => join(ROOT, name))
let problems = 0
for (const file of paths.flatMap(textsIn)) {
  const name = relative(ROOT, file).replaceAll("\\", "/")
  const text = readFileSync(file, "utf8")
  for (const [pattern, instead, files = /./] of WORDS) {
    if (!files.test(name)) continue
    for (const { 0: found, index } of text.matchAll(pattern)) {
      if (ALLOWED.get(name)?.test(found)) continue
      problems += 1
      console.error(`${name}:${text.slice(0, index).split("\n").length}: "${found.trim()}": ${instead}`)
    }
  }
}
console.log(`words: ${problems} problems`)
process.exitCode = problems === 0 ? 0 : 1
