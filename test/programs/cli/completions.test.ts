import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { spawnSync } from "node:child_process"
import { existsSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { completionScript } from "../../../src/programs/cli/completions.ts"
import { CLI_COMMANDS, CLI_FLAGS } from "../../../src/programs/cli/flags.ts"
import { METHODS } from "../../../src/programs/cli/methodNames.ts"
import { withDirectory } from "../../support/temporary.ts"

const BASH = "/bin/bash"

/** The completions that bash offers for the last of some words. */
const offers = (script: string, lines: ReadonlyArray<ReadonlyArray<string>>): ReadonlyArray<ReadonlyArray<string>> =>
  withDirectory((directory) => {
    const file = join(directory, "completions")
    writeFileSync(file, script)
    const tries = lines.map((words) => {
      const quoted = words.map((word) => `'${word}'`).join(" ")
      const last = words.length - 1
      return `COMP_WORDS=(${quoted}); COMP_CWORD=${last}; COMPREPLY=()
        $handler svcd-cli "\${COMP_WORDS[${last}]}" "\${COMP_WORDS[${last - 1}]}"; echo "\${COMPREPLY[*]}"`
    })
    const program = `source '${file}'
      handler=$(complete -p svcd-cli | sed 's/.* -F \\([^ ]*\\) .*/\\1/')
      ${tries.join("\n")}`
    const { status, stderr, stdout } = spawnSync(BASH, ["-c", program], { encoding: "utf8", cwd: directory })
    assert.strictEqual(status, 0, stderr)
    return stdout.split("\n").slice(0, -1).map((line) => line.split(" ").filter((word) => word !== ""))
  })

describe("completionScript", () => {
  it.effect.skipIf(!existsSync(BASH))(
    "completes flags, their words, commands and methods in bash",
    () =>
      Effect.gen(function*() {
        const script = yield* completionScript("bash")
        const cases: ReadonlyArray<readonly [words: ReadonlyArray<string>, offered: ReadonlyArray<string>]> = [
          [["svcd-cli", "getblockh"], ["getblockhash", "getblockheader"]],
          [["svcd-cli", "rpc.d"], ["rpc.discover"]],
          [["svcd-cli", "stat"], ["status"]],
          [["svcd-cli", "--rpcw"], ["--rpcwallet", "--rpcwait", "--rpcwaittimeout"]],
          [["svcd-cli", "--network", ""], ["mainnet", "testnet", "regtest"]],
          [["svcd-cli", "--network", "re"], ["regtest"]],
          [["svcd-cli", "--network", "regtest", "getblockh"], ["getblockhash", "getblockheader"]],
          [["svcd-cli", "--named", "name_sh"], ["name_show"]],
          [["svcd-cli", "--rpccookiefile", "compl"], ["completions"]],
          [["svcd-cli", "names", "--"], ["--json", "--all", "--expiring", "--help"]],
          [["svcd-cli", "--rpcwait", "names", "--ex"], ["--expiring"]],
          [["svcd-cli", "status", "--j"], ["--json"]],
          [["svcd-cli", "getblockhash", "--"], []],
          [["svcd-cli", "--log"], []],
          [["svcd-cli", "--wiz"], []]
        ]
        const offered = offers(script, cases.map(([words]) => words))
        for (const [at, [words, expected]] of cases.entries()) {
          assert.deepStrictEqual(offered[at], [...expected], words.join(" "))
        }
        assert.strictEqual(yield* completionScript("sh"), script)
      })
  )

  it.effect.each(["bash", "zsh", "fish"] as const)(
    "knows every flag, command and method for %s, and no other",
    (shell) =>
      Effect.gen(function*() {
        const script = yield* completionScript(shell)
        const flag = (name: string): string => shell === "fish" ? `-l ${name}` : `--${name}`
        for (const name of Object.keys(CLI_FLAGS)) assert.include(script, flag(name))
        for (const word of [...Object.keys(CLI_COMMANDS), ...METHODS]) assert.include(script, word)
        for (const name of ["log-level", "wizard"]) {
          assert.notMatch(script, new RegExp(shell === "fish" ? `-l ${name}` : `opts=".*--${name}|'--${name}\\[`))
        }
        assert.match(script, shell === "zsh" ? /^#compdef svcd-cli\n/ : /complete .*svcd-cli\b/)
      })
  )
})
