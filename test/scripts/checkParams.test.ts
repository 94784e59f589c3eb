import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest"
import { spawnSync } from "node:child_process"
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { dirname, join } from "node:path"
import { fileURLToPath } from "node:url"

const ROOT = fileURLToPath(new URL("../../", import.meta.url))
const SCRIPT = join(ROOT, "scripts/check-params.mjs")

let root = ""

beforeAll(() => {
  root = mkdtempSync(join(tmpdir(), "svcd-params-"))
})

afterAll(() => rmSync(root, { recursive: true, force: true }))

const makeTree = (sources: Readonly<Record<string, string>>): string => {
  const tree = mkdtempSync(join(root, "tree-"))
  for (const [path, text] of Object.entries(sources)) {
    mkdirSync(dirname(join(tree, path)), { recursive: true })
    writeFileSync(join(tree, path), text)
  }
  return tree
}

const check = (...args: ReadonlyArray<string>) => {
  const { status, stderr, stdout } = spawnSync(process.execPath, [SCRIPT, ...args], { encoding: "utf8" })
  return { status, stdout, problems: stderr.split("\n").filter((line) => line !== "") }
}

/** One function a file: its line, and what is wrong with it. */
const FAULTS: ReadonlyArray<readonly [file: string, text: string, line: number, fault: string]> = [
  ["a.ts", "\nexport const f = (a, b, c, d) => a", 2, "4 parameters"],
  ["b.ts", "export function f(k: string, v: string) {}", 1, "k and v are both string"],
  ["c.ts", "class A {\n  f(x: A, k: number, v?: number) {}\n}", 2, "k and v are both number"],
  ["d.ts", "class A {\n  constructor(k: bigint, v: bigint | undefined) {}\n}", 2, "k and v are both bigint"],
  ["e.ts", "const f = (k: boolean, v = false) => a", 1, "k and v are both boolean"],
  ["f.ts", "interface A {\n  readonly f: (k: string, v: string) => void\n}", 2, "k and v are both string"],
  ["g.ts", "interface A {\n  f(k: number, v: number): void\n}", 2, "k and v are both number"]
]

const GOOD = `
type Height = number & { readonly [flavour]?: "Height" }
export const f = (a: string, b: number, c: string) => a
export const g = (a: Height, b: number) => a
export const h = (a: string | number, b: string | number) => a
export const i = ({ a, b, c, d }: Record<string, number>) => a
export const j = (...all: ReadonlyArray<string>) => all
export function k(this: string, a: string) {}
export const l = (a: number, b: number) => a - b
export const m = (bytes: string, offset: number, length: number) => bytes
/** Runs per byte. positional: an object costs a tenth of the time */
export const n = (value: number, shift: number) => value
const map: { [key: string]: string } = {}
`

describe("check-params", () => {
  it("passes functions with few and different parameters", () => {
    const { problems, status, stdout } = check(makeTree({ "src/a/good.ts": GOOD }))
    assert.deepStrictEqual(problems, [])
    assert.include(stdout, "1 files, 0 problems")
    assert.strictEqual(status, 0)
  })

  it("prints each function that is new, with its line and the reason", () => {
    const sources = Object.fromEntries(FAULTS.map(([file, text]) => [`src/${file}`, text]))
    const { problems, status } = check(makeTree(sources))
    assert.deepStrictEqual(
      problems,
      FAULTS.map(([file, , line, fault]) => `src/${file}:${line}: ${fault}: take one object`)
    )
    assert.strictEqual(status, 1)
  })
})
