import { assert, describe, it } from "@effect/vitest"
import { readFileSync } from "node:fs"
import { fileURLToPath } from "node:url"
import { readSeeds } from "./seedFile.ts"

describe("readSeeds", () => {
  it("reads worlds and seeds, and leaves out comments", () => {
    const text = "# all\n\n1 7\n2 4000000000 # a lost block\n"
    assert.deepStrictEqual(readSeeds(text), [{ world: 1, seed: 7 }, { world: 2, seed: 4_000_000_000 }])
  })

  it.each(["7", "3 7", "1 -7", "1 7 8"])("refuses the line %j", (line) => {
    assert.throws(() => readSeeds(`1 1\n${line}`), /line 2 of the seeds/)
  })

  it("reads the file of the project", () => {
    readSeeds(readFileSync(fileURLToPath(new URL("seeds.txt", import.meta.url)), "utf8"))
  })
})
