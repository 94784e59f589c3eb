import { assert, describe, it } from "@effect/vitest"
import { spawnSync } from "node:child_process"
import { mkdirSync, writeFileSync } from "node:fs"
import { dirname, join } from "node:path"
import { fileURLToPath } from "node:url"
import { deflateSync } from "node:zlib"
import { withDirectory } from "../support/temporary.ts"

const SITE = fileURLToPath(new URL("../../scripts/site/", import.meta.url))

const run = (...args: ReadonlyArray<string>) => spawnSync(process.execPath, args, { encoding: "utf8" })

const writeFiles = (folder: string, files: Readonly<Record<string, string>>): void => {
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(join(folder, dirname(name)), { recursive: true })
    writeFileSync(join(folder, name), text)
  }
}

/** The index of a search that finds the text of one page. */
const searchOf = (url: string): string => {
  const data = { rows: [{ url }], index: { fieldVectors: [["name/0", [0, 1]], ["document/0", [1, 1]]] } }
  return `window.searchData = "${deflateSync(JSON.stringify(data)).toString("base64")}";`
}

/** Writes the pages for the generator; returns them by path. */
const STAGE = `
import { readPages } from "${SITE}readPages.mjs"
import { writePages } from "${SITE}writePages.mjs"
import { readdirSync, readFileSync } from "node:fs"
const [root, folder] = process.argv.slice(1)
const { front, groups, pages } = readPages(root)
const listed = writePages({ folder, front, pages, root })
const files = readdirSync(folder, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile())
  .map(({ name, parentPath }) => parentPath + "/" + name)
const texts = files.map((file) => [file.slice(folder.length + 1), readFileSync(file, "utf8")])
console.log(JSON.stringify({ groups, listed, texts: Object.fromEntries(texts) }))
`

const staged = (root: string, folder: string) => {
  const { stderr, stdout } = run("--input-type=module", "-e", STAGE, root, folder)
  assert.strictEqual(stderr, "")
  const made: {
    readonly groups: ReadonlyArray<string>
    readonly listed: ReadonlyArray<string>
    readonly texts: Readonly<Record<string, string>>
  } = JSON.parse(stdout)
  return { ...made, listed: made.listed.map((path) => path.slice(folder.length + 1)) }
}

describe("the site of the documents", () => {
  it("has the groups and pages of the index, pages that they link to, and parts of long pages", () =>
    withDirectory((directory) => {
      const root = join(directory, "root")
      writeFiles(root, {
        "README.md": "# svcd\n\nSee [all](docs/README.md).\n",
        "src/a.ts": "export const a = 1\n",
        "docs/README.md": "# Documentation\n\n## Readers\n\n- [Long](long.md)\n- [Short `one`](short.md)\n",
        "docs/short.md":
          "# Short `one`\n\n[b](long.md#b), [the end](long.md#the-end), [file](../src/a.ts), [src](../src)\n\n" +
          "```\n[no link](none.md)\n```\n\n[below](below/README.md)\n",
        "docs/long.md": `# Long\n\n[end](#the-end)\n\n## Part a\n\n${
          "line\n".repeat(2_000)
        }\n### \`B\`\n\n[top](#long)\n\n## The end\n`,
        "docs/below/README.md": "# Below\n\n[one](one.md)\n",
        "docs/below/one.md": "# One\n"
      })
      const { groups, listed, texts } = staged(root, join(directory, "staged"))
      assert.deepStrictEqual(groups, ["Start", "Readers"])
      assert.deepStrictEqual(listed, ["docs/README.md", "docs/long.md", "docs/short.md"])
      const short = texts["docs/short.md"] ?? assert.fail()
      assert.match(short, /^---\ntitle: "Short one"\ncategory: "Readers"\nchildren:\n {2}- "below\/README.md"\n---\n/)
      assert.include(short, "[b](./long-part-a.md#b), [the end](./long.md#the-end)")
      assert.include(short, "[file](../src/a.ts.txt), [src](../src/files.txt)")
      assert.include(short, "```text\n[no link](none.md)\n```")
      assert.strictEqual(texts["src/files.txt"], "src/a.ts\n")
      assert.include(texts["docs/below/README.md"], "children:\n  - \"one.md\"")
      const long = texts["docs/long.md"] ?? assert.fail()
      assert.include(
        long,
        "## Part a\n\nOn a page of its own: [Part a](./long-part-a.md)\n\n- [`B`](./long-part-a.md#b)\n"
      )
      assert.include(long, "[end](#the-end)")
      const part = texts["docs/long-part-a.md"] ?? assert.fail()
      assert.match(part, /^---\ntitle: "Part a"\n---\n\n# Part a\n/)
      assert.include(part, "\n### B\n\n[top](./long.md#long)")
    }))

  it("is refused with links that lead nowhere, with anything from elsewhere, and with pages that a search does not find", () =>
    withDirectory((folder) => {
      const good = "<img src=\"x.png\"><a href=\"../index.html#top\">top</a><a href=\"https://example.org/\">away</a>"
      writeFiles(folder, {
        "index.html": "<h1 id=\"top\">svcd</h1>",
        "docs/a.html": good,
        "docs/x.png": "",
        "assets/search.js": searchOf("docs/a.html"),
        "assets/style.css": "a { background: url(data:image/png;base64,) }"
      })
      const check = () => run(join(SITE, "checkSite.mjs"), folder)
      assert.deepInclude(check(), { status: 0, stderr: "" })
      writeFiles(folder, {
        "docs/b.html": "<a href=\"none.html\"></a><a href=\"../index.html#end\"></a><img src=\"y.png\">" +
          "<script src=\"https://example.org/a.js\"></script><link rel=\"icon\" href=\"//example.org/i.png\">",
        "assets/style.css": "@import \"https://example.org/a.css\";"
      })
      const { status, stderr } = check()
      assert.strictEqual(status, 1)
      assert.deepStrictEqual(stderr.trim().split("\n").sort(), [
        "assets/style.css: loads https://example.org/a.css",
        "docs/b.html: a search does not find its text",
        "docs/b.html: loads //example.org/i.png",
        "docs/b.html: loads https://example.org/a.js",
        "docs/b.html: loads y.png, which is not there",
        "docs/b.html: the link leads nowhere: none.html",
        "docs/b.html: the link leads to no heading: ../index.html#end"
      ])
    }))
})
