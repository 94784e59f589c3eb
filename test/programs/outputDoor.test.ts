import { assert, describe, it } from "@effect/vitest"
import { readdirSync, readFileSync } from "node:fs"

/** Texts that a program writes without a word of others in them. */
const OWN_TEXT =
  /write\((?:optionsHelp\(\)|`svcd \$\{version\}\\n`|await daemonCompletions\(.*\)|"[^"]*"|character|CLEAR_LINE.*)\)/

const FILES = ["src/programs", "src/bin"].flatMap((folder) =>
  readdirSync(folder, { recursive: true, encoding: "utf8" })
    .filter((file) => file.endsWith(".ts"))
    .map((file) => `${folder}/${file}`)
)

describe("programs", () => {
  it("write nothing to a terminal that did not pass through outputText", () => {
    const writes = FILES.flatMap((file) =>
      readFileSync(file, "utf8").split("\n").flatMap((line, at) =>
        /(?:stdout|stderr)\.write\(|console\.\w+\(/.test(line) ? [`${file}:${at + 1}: ${line.trim()}`] : []
      )
    )
    assert.isAbove(writes.length, 5)
    assert.deepStrictEqual(
      writes.filter((line) => !line.includes("outputText(") && !line.includes("escapeUnsafe(") && !OWN_TEXT.test(line)),
      []
    )
  })
})
