import { assert, describe, it } from "@effect/vitest"
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { dirname, join } from "node:path"
import { copyDeclarations } from "../../scripts/bundle/declarations.ts"

const MADE = {
  "index.d.ts":
    "export * as a from \"./a/first.ts\";\nexport type B = import(\"./b/second.ts\").B;\n//# sourceMappingURL=index.d.ts.map",
  "a/first.d.ts":
    "import \"./third.js\";\nimport * as Effect from \"effect/Effect\";\nexport declare const a: Effect.Effect<1>;\n",
  "a/third.d.ts": "export {} from \"../index.ts\";\n",
  "b/second.d.ts": "export type B = 1;\n",
  "b/unreached.d.ts": "export type C = 1;\n"
}

describe("the declarations of the package", () => {
  it("are those that the entries reach, without their maps", () => {
    const folder = mkdtempSync(join(tmpdir(), "svcd-declarations-"))
    try {
      const [source, target] = [join(folder, "src"), join(folder, "types")]
      for (const [file, text] of Object.entries(MADE)) {
        mkdirSync(dirname(join(source, file)), { recursive: true })
        writeFileSync(join(source, file), text)
      }
      mkdirSync(target)
      writeFileSync(join(target, "old.d.ts"), "")
      copyDeclarations({ entries: ["index"], source, target })
      const files = readdirSync(target, { encoding: "utf8", recursive: true }).filter((file) => file.endsWith(".ts"))
      assert.sameMembers(files, ["index.d.ts", "a/first.d.ts", "a/third.d.ts", "b/second.d.ts"])
      assert.strictEqual(
        readFileSync(join(target, "index.d.ts"), "utf8"),
        "export * as a from \"./a/first.ts\";\nexport type B = import(\"./b/second.ts\").B;\n"
      )
    } finally {
      rmSync(folder, { force: true, recursive: true })
    }
  })
})
