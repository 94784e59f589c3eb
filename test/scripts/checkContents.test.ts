import { assert, describe, it } from "@effect/vitest"
import { spawnSync } from "node:child_process"
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { fileURLToPath } from "node:url"

const SCRIPT = fileURLToPath(new URL("../../.ci/check-contents.mjs", import.meta.url))

const part = (name: string, more: object = {}) => ({
  "bom-ref": `${name}@1.0.0`,
  type: "library",
  name,
  version: "1.0.0",
  purl: `pkg:npm/${name.replace("@", "%40")}@1.0.0`,
  licenses: [{ license: { id: "MIT" } }],
  ...more
})

const NODE = part("node", { purl: "pkg:generic/node@20.0.0", type: "platform" })

const GOOD = {
  bomFormat: "CycloneDX",
  specVersion: "1.5",
  serialNumber: "urn:uuid:ac6b9cfd-4b5b-5e0c-ac1e-ad16abc56627",
  version: 1,
  metadata: { timestamp: "2026-01-01T00:00:00.000Z", component: part("svcd") },
  components: [part("@a/inside"), part("native"), NODE],
  dependencies: [{ ref: "svcd@1.0.0", dependsOn: ["native@1.0.0"] }]
}

/** Status and text for a list, beside an archive with a bundled package and an installed one. */
const checked = (list: object) => {
  const folder = mkdtempSync(join(tmpdir(), "svcd-contents-"))
  try {
    mkdirSync(join(folder, "tree/node_modules/native"), { recursive: true })
    writeFileSync(join(folder, "tree/node_modules/native/package.json"), "{\"name\":\"native\",\"version\":\"1.0.0\"}")
    writeFileSync(join(folder, "tree/LICENCES.txt"), "@a/inside 1.0.0 (MIT)\n\ntext\n")
    writeFileSync(join(folder, "list.json"), JSON.stringify(list))
    const { status, stderr } = spawnSync(process.execPath, [SCRIPT, join(folder, "list.json"), join(folder, "tree")], {
      encoding: "utf8"
    })
    return { status, stderr }
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

describe("check-contents", () => {
  it("accepts a list with every package of the archive", () => {
    assert.deepStrictEqual(checked(GOOD), { status: 0, stderr: "" })
  })

  it("names what is not in the list, and references to nothing", () => {
    const dependencies = [{ ref: "native@1.0.0" }]
    const { status, stderr } = checked({ ...GOOD, components: [part("native", { "bom-ref": "n" })], dependencies })
    assert.strictEqual(status, 1)
    assert.deepStrictEqual(stderr.trim().split("\n"), [
      "the archive has @a/inside@1.0.0, and the list has not",
      "the list has no Node.js",
      "dependencies name native@1.0.0, which is not a component"
    ])
  })

  it("names members that are missing or have another form", () => {
    const { stderr } = checked({
      ...GOOD,
      serialNumber: "1",
      components: [part("native", { purl: undefined }), NODE]
    })
    assert.match(stderr, /\["serialNumber"\]/)
    assert.match(stderr, /\["purl"\]\s+└─ is missing/)
  })
})
