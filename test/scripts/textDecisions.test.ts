import { assert, describe, it } from "@effect/vitest"
import { readdirSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { fileURLToPath } from "node:url"

const SRC = fileURLToPath(new URL("../../src/", import.meta.url))

/** Code that decides by the text of a message. */
const DECISIONS = [
  /\b(?:message|reason|note|failed)\)?\??\.(?:includes|startsWith|endsWith|match|search|indexOf)\(/,
  /\.(?:test|exec)\((?:\w+\.)*(?:message|reason|note|failed)\)/,
  /\b(?:message|reason|note|failed) [!=]== (?:"[^"]* [^"]*"|`|NOTES|TEXTS)/
]

const decisionsIn = (text: string): ReadonlyArray<string> =>
  text.split("\n").filter((line) => DECISIONS.some((decision) => decision.test(line)))

/** The files that may, and why. */
const ALLOWED = new Map([
  ["config/decode.ts", "no decision: whether a message repeats the flag before it"],
  ["config/nativePart.ts", "no decision: the missing package is named, if Node.js says which"],
  ["names/NamesFile.ts", "better-sqlite3 has no code for a closed connection"],
  ["postgres/failures.ts", "pg has no codes for connections that ended"],
  ["rpc/failureReason.ts", "Namecoin Core gives no reasons"]
])

describe("messages", () => {
  it("decide nothing, but for those of other programs", () => {
    const found = readdirSync(SRC, { recursive: true, encoding: "utf8" })
      .filter((file) => file.endsWith(".ts"))
      .filter((file) => decisionsIn(readFileSync(join(SRC, file), "utf8")).length > 0)
      .map((file) => file.replaceAll("\\", "/"))
    assert.deepStrictEqual(found.toSorted(), [...ALLOWED.keys()])
  })

  it.each([
    "  if (failure.message.includes(\"Insufficient funds\")) {",
    "  return entry.note.startsWith(NOTES.taken)",
    "  const isWhole = message.endsWith(\".\")",
    "  return /checksum/i.test(cause.message)",
    "  if (failed.endsWith(\"from the future\")) return remedy",
    "  if (failure.reason === \"Transaction too large\") {"
  ])("are found where they do: %s", (line) => {
    assert.lengthOf(decisionsIn(line), 1)
  })

  it.each([
    "  if (failure.reason === \"too-large\") {",
    "  if (note === \"\") return",
    "  Effect.logWarning(\"refused\", { reason: failure.message.slice(0, 100) })"
  ])("are not found elsewhere: %s", (line) => {
    assert.lengthOf(decisionsIn(line), 0)
  })
})
