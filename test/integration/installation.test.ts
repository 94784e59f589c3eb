import { assert, describe, it } from "@effect/vitest"
import { spawnSync } from "node:child_process"
import { cpSync, mkdirSync, rmSync, writeFileSync } from "node:fs"
import { basename, dirname, join } from "node:path"
import { fileURLToPath } from "node:url"
import { program } from "../support/daemon.ts"
import { withDirectory } from "../support/temporary.ts"

/** Installations that lack something: each program says so in one sentence, with the remedy. */

const MODULES = fileURLToPath(new URL("../../node_modules", import.meta.url))

/** Every program, with arguments of a command that needs a data directory. */
const COMMANDS: Readonly<Record<string, ReadonlyArray<string>>> = {
  "svcd": ["-network=regtest", "-maxpeers=0"],
  "svcd-cli": ["-network=regtest", "status"],
  "svcd-wallet": ["address", "--network=regtest"],
  "svcd-mail": ["lookup", "alice", "--network=regtest"],
  "svcd-export": ["postgres://names@127.0.0.1:1/names", "-network=regtest"]
}

interface Run {
  readonly script: string
  readonly args: ReadonlyArray<string>
  readonly node?: ReadonlyArray<string>
  readonly env?: NodeJS.ProcessEnv
  readonly uid?: number
}

const run = ({ args, env = process.env, node = [], script, uid }: Run) =>
  spawnSync(process.execPath, [...node, script, ...args], {
    cwd: "/",
    encoding: "utf8",
    env,
    timeout: 30_000,
    ...(uid === undefined ? {} : { gid: uid, uid })
  })

/** Checks that a program ended with one sentence about what is missing. */
const endsWith = ({ status, stderr }: { readonly status: number | null; readonly stderr: string }, code: number) => {
  assert.strictEqual(status, code, stderr)
  assert.strictEqual(stderr.trim().split("\n").length, 1, stderr)
  assert.notMatch(stderr, /\n\s+at |node:internal/)
  return stderr
}

describe("an installation", () => {
  it("without the native part of better-sqlite3 says how to get it", () =>
    withDirectory((directory) => {
      const bundle = dirname(program("svcd"))
      const lame = join(directory, "bin")
      cpSync(bundle, lame, { recursive: true })
      writeFileSync(join(directory, "package.json"), "{ \"type\": \"module\" }")
      mkdirSync(join(directory, "node_modules/better-sqlite3"), { recursive: true })
      for (const file of ["package.json", "lib"]) {
        cpSync(join(MODULES, "better-sqlite3", file), join(directory, "node_modules/better-sqlite3", file), {
          recursive: true
        })
      }
      for (
        const [name, args] of [
          ["svcd", ["-network=regtest", "-maxpeers=0", "-loglevel=error"]],
          ["svcd-wallet", ["create", "--yes", "--network=regtest"]],
          ["svcd-mail", ["serve", "--upstream=localhost", "--network=regtest"]]
        ] as const
      ) {
        const { status, stderr } = run({
          script: join(lame, `${name}.js`),
          args: [...args, `--datadir=${join(directory, name)}`]
        })
        const said = endsWith({ status, stderr }, 1)
        assert.match(said, /the native part of better-sqlite3 for \w+ on \w+ is missing: install svcd again/)
      }
    }))

  it("without a package says which one, or that a file is missing", () =>
    withDirectory((directory) => {
      for (
        const [name, args] of [
          ["svcd", ["-network=regtest", "-maxpeers=0", `-datadir=${join(directory, "data")}`]],
          ["svcd-wallet", ["--version"]],
          ["svcd-mail", ["serve", "--upstream=localhost", "--network=regtest", `--datadir=${join(directory, "mail")}`]]
        ] as const
      ) {
        const lame = join(directory, "bin")
        cpSync(dirname(program(name)), lame, { recursive: true })
        const script = join(lame, `${name}.js`)
        const remedy = "run \"npm install\" where svcd is installed, or install svcd again\n"
        assert.strictEqual(
          endsWith(run({ script, args }), 1),
          `${name}: the package better-sqlite3 is missing: ${remedy}`
        )
        for (const ending of ["js", "cjs"]) rmSync(join(lame, `${name}.main.${ending}`), { force: true })
        assert.strictEqual(
          endsWith(run({ script, args }), 1),
          `${name}: a file of svcd is missing: ${remedy}`
        )
      }
    }))

  it("on an older Node.js says which one it needs, whatever the program", () =>
    withDirectory((directory) => {
      const older = join(directory, "older.cjs")
      writeFileSync(older, "Object.defineProperty(process.versions, 'node', { value: '22.13.1' })")
      for (const name of Object.keys(COMMANDS)) {
        const script = program(name)
        const said = endsWith(run({ script, args: ["--version"], node: ["--require", older] }), 1)
        assert.match(
          said,
          new RegExp(
            `^${
              basename(script).replace(/\.c?js$/, "")
            }: Node\\.js 22\\.14\\.0 or newer is needed, and this is 22\\.13\\.1: `
          )
        )
      }
    }))

  it.skipIf(process.getuid?.() !== 0)("of a user without a home directory says where to name another one", () => {
    const { HOME: _, ...env } = process.env
    for (const [name, args] of Object.entries(COMMANDS)) {
      const homeless = { script: program(name), env, uid: 12_345 }
      assert.include(
        endsWith(run({ ...homeless, args }), 2),
        "this user has no home directory, and HOME is not set; name another one with -datadir or SVCD_DATA_DIR"
      )
      if (name === "svcd") assert.strictEqual(run({ ...homeless, args: ["--version"] }).status, 0)
    }
  })
})
