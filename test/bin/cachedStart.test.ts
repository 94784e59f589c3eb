import { assert, describe, it } from "@effect/vitest"
import { buildSync } from "esbuild"
import { spawnSync } from "node:child_process"
import {
  chmodSync,
  chownSync,
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync
} from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { afterAll } from "vitest"

const folder = mkdtempSync(join(tmpdir(), "svcd-cached-"))
afterAll(() => rmSync(folder, { force: true, recursive: true }))

/** A file between the two, as the build makes it. */
const built = (name: string): string => {
  const { outputFiles: [start] } = buildSync({
    entryPoints: [fileURLToPath(new URL(`../../src/bin/${name}.ts`, import.meta.url))],
    bundle: true,
    format: "cjs",
    platform: "node",
    write: false
  })
  return start?.text ?? ""
}
const program = join(folder, "prog.js")
writeFileSync(join(folder, "package.json"), "{ \"type\": \"module\" }")
writeFileSync(join(folder, "start.cjs"), built("cachedStart"))
writeFileSync(
  program,
  `import start from "./start.cjs"\nstart.runCached({ file: process.argv[1], digest: "ab".repeat(16), commands: ["names"] })\n`
)
writeFileSync(
  join(folder, "prog.main.cjs"),
  "#!/usr/bin/env node\nconsole.log(require(\"node:path\").basename(__filename), process.argv[2])\n"
)

/** Runs the program; returns what it printed on both outputs. */
const run = (env: Readonly<Record<string, string>>, word = "word", script = program): string => {
  const { stderr, stdout } = spawnSync(process.execPath, [script, word], {
    encoding: "utf8",
    env: { PATH: process.env["PATH"], ...env },
    timeout: 30_000
  })
  return stdout + stderr
}

const SAID = "prog.main.cjs word\n"

describe("the start with kept code", () => {
  it("keeps compiled code for the user alone, and replaces what is damaged or what others may have written", () => {
    const XDG_CACHE_HOME = join(folder, "cache")
    const place = join(XDG_CACHE_HOME, "svcd")
    assert.strictEqual(run({ XDG_CACHE_HOME }), SAID)
    const [name = "", ...others] = readdirSync(place)
    assert.deepStrictEqual(others, [])
    const file = join(place, name)
    const fileId = () => statSync(file).ino
    assert.deepStrictEqual([place, file].map((path) => statSync(path).mode & 0o777), [0o700, 0o600])

    const first = fileId()
    assert.strictEqual(run({ XDG_CACHE_HOME }), SAID)
    assert.strictEqual(fileId(), first, "kept code is used, not written again")

    const kept = readFileSync(file)
    kept[40] = (kept[40] ?? 0) ^ 1
    writeFileSync(file, kept)
    assert.strictEqual(run({ XDG_CACHE_HOME }), SAID)
    assert.notDeepEqual(readFileSync(file), kept, "damaged code is replaced")

    chmodSync(file, 0o666)
    assert.strictEqual(run({ XDG_CACHE_HOME }), SAID)
    assert.strictEqual(statSync(file).mode & 0o777, 0o600)
    assert.deepStrictEqual(readdirSync(place), [name])
  })

  it("keeps the code of each command apart, and that of all other words together", () => {
    const XDG_CACHE_HOME = join(folder, "commands")
    for (const word of ["names", "one", "../two"]) {
      assert.strictEqual(run({ XDG_CACHE_HOME }, word), `prog.main.cjs ${word}\n`)
    }
    const kept = readdirSync(join(XDG_CACHE_HOME, "svcd")).map((name) => name.replace(/[0-9a-f]{32}$/, ""))
    assert.deepStrictEqual(kept.sort(), ["prog-", "prog-names-"])
  })

  it("keeps code when it is told to, and hands on what the program exports", () => {
    const XDG_CACHE_HOME = join(folder, "told")
    const early = join(folder, "early.js")
    writeFileSync(
      early,
      `import start from "./start.cjs"
const program = start.runCached({ file: process.argv[1], digest: "ab".repeat(16), commands: [] }, (keep) => void (globalThis.keep = keep))
console.log(program.answer, globalThis.keep === undefined)
if (process.argv[2] === "keep") globalThis.keep?.()\n`
    )
    writeFileSync(join(folder, "early.main.cjs"), "exports.answer = 42\n")
    assert.strictEqual(run({ XDG_CACHE_HOME }, "word", early), "42 false\n")
    assert.isFalse(readdirSync(folder).includes("told"), "nothing is kept at the end of the process")
    assert.strictEqual(run({ XDG_CACHE_HOME }, "keep", early), "42 false\n")
    assert.strictEqual(run({ XDG_CACHE_HOME }, "word", early), "42 true\n", "kept code is in use")
  })

  it("of svcd keeps code once the node has started, and V8 takes it under the bounds of the heap", () => {
    const XDG_CACHE_HOME = join(folder, "node")
    const node = join(folder, "node.js")
    writeFileSync(join(folder, "nodeStart.cjs"), built("svcdStart"))
    writeFileSync(
      node,
      `import start from "./nodeStart.cjs"\nstart.runSvcd({ file: process.argv[1], digest: "ab".repeat(16), commands: [] })\n`
    )
    // It listens for the start only if there is no code that fits. The end of the process waits for the kept code.
    writeFileSync(
      join(folder, "node.main.cjs"),
      `const { channel } = require("node:diagnostics_channel")
const { readdirSync } = require("node:fs")
const started = channel("svcd.started")
console.log(started.hasSubscribers)
started.publish()
const wanted = () => readdirSync(process.env.XDG_CACHE_HOME + "/svcd").some((name) => /^node-[0-9a-f]{32}$/.test(name))
const timer = setInterval(() => { try { if (wanted()) clearInterval(timer) } catch {} }, 10)\n`
    )
    assert.strictEqual(run({ XDG_CACHE_HOME }, "word", node), "true\n")
    assert.strictEqual(run({ XDG_CACHE_HOME }, "word", node), "false\n")
  })

  it("waits for no pipe and follows no link in the place of kept code", () => {
    const XDG_CACHE_HOME = join(folder, "planted")
    const place = join(XDG_CACHE_HOME, "svcd")
    run({ XDG_CACHE_HOME })
    const [name = ""] = readdirSync(place)
    const file = join(place, name)
    const plant: ReadonlyArray<() => void> = [
      () => void spawnSync("mkfifo", ["-m", "600", file]),
      () => symlinkSync(join(folder, "start.cjs"), file)
    ]
    const before = readFileSync(join(folder, "start.cjs"))
    for (const each of plant) {
      rmSync(file)
      each()
      assert.isFalse(lstatSync(file).isFile())
      assert.strictEqual(run({ XDG_CACHE_HOME }), SAID)
      assert.isTrue(lstatSync(file).isFile(), "the code takes the place")
    }
    assert.deepStrictEqual(readFileSync(join(folder, "start.cjs")), before)
    assert.deepStrictEqual(readdirSync(place), [name])
  })

  it("keeps nothing in a directory that others can write, or that a relative path names", () => {
    const XDG_CACHE_HOME = join(folder, "open")
    const place = join(XDG_CACHE_HOME, "svcd")
    mkdirSync(place, { recursive: true })
    for (const mode of [0o770, 0o707, 0o1777]) {
      chmodSync(place, mode)
      assert.strictEqual(run({ XDG_CACHE_HOME }), SAID)
      assert.deepStrictEqual(readdirSync(place), [])
    }
    const HOME = join(folder, "home")
    mkdirSync(HOME)
    assert.strictEqual(run({ HOME, XDG_CACHE_HOME: "relative-cache" }), SAID)
    assert.isFalse(existsSync("relative-cache"))
    assert.strictEqual(readdirSync(join(HOME, ".cache", "svcd")).length, 1)
  })

  it.skipIf(process.getuid?.() !== 0)("makes no directory of root in the home of a user", () => {
    const HOME = join(folder, "user")
    mkdirSync(HOME)
    chownSync(HOME, 12_345, 12_345)
    assert.strictEqual(run({ HOME }), SAID)
    assert.deepStrictEqual(readdirSync(HOME), [])
    mkdirSync(join(HOME, ".cache"))
    chownSync(join(HOME, ".cache"), 12_345, 12_345)
    assert.strictEqual(run({ HOME }), SAID)
    assert.deepStrictEqual(readdirSync(join(HOME, ".cache")), [])
  })

  it("keeps the code of a service in the directory that systemd made for it", () => {
    const CACHE_DIRECTORY = join(folder, "service")
    mkdirSync(CACHE_DIRECTORY, { mode: 0o700 })
    assert.strictEqual(run({ CACHE_DIRECTORY, XDG_CACHE_HOME: join(folder, "unused") }), SAID)
    assert.match(readdirSync(CACHE_DIRECTORY).join(), /^prog-[0-9a-f]{32}$/)
    assert.isFalse(existsSync(join(folder, "unused")))
  })

  it("leaves no draft of a failed write, and removes old files of its own even then", () => {
    const XDG_CACHE_HOME = join(folder, "old")
    const place = join(XDG_CACHE_HOME, "svcd")
    run({ XDG_CACHE_HOME })
    const [name = ""] = readdirSync(place)
    rmSync(join(place, name))
    // A file cannot take its place.
    mkdirSync(join(place, name, "inside"), { recursive: true })
    const id = "0123456789abcdef".repeat(2)
    const aged = (file: string, days: number): string => {
      const path = join(place, file)
      writeFileSync(path, "", { mode: 0o600 })
      const then = Date.now() / 1000 - days * 86_400
      utimesSync(path, then, then)
      return file
    }
    const stay = [
      aged(`svcd-${id}.0a`, 0.9),
      aged(`svcd-cli-names-${id}`, 29),
      aged("notes.txt", 99),
      aged(`svcd-${id}.txt`, 99)
    ]
    for (const [file, days] of [[`svcd-${id}.1`, 2], [`svcd-cli-names-${id}.1f`, 2], [`svcd-cli-${id}`, 31]] as const) {
      aged(file, days)
    }
    assert.strictEqual(run({ XDG_CACHE_HOME }), SAID)
    assert.deepStrictEqual(readdirSync(place).sort(), [name, ...stay].sort())
  })

  it("runs where nothing can be kept", () => {
    assert.strictEqual(run({ XDG_CACHE_HOME: "/proc/nowhere" }), SAID)
    assert.strictEqual(run({}), SAID)
    const XDG_CACHE_HOME = join(folder, "off")
    assert.strictEqual(run({ XDG_CACHE_HOME, NODE_DISABLE_COMPILE_CACHE: "1" }), SAID)
    assert.isFalse(readdirSync(folder).includes("off"))
  })
})
