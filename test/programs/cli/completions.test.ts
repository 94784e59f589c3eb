import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { COMMAND_NAMES } from "../../../src/programs/cli/commandTable.ts"
import { completionScript } from "../../../src/programs/cli/completions.ts"
import { CLI_FLAGS } from "../../../src/programs/cli/flags.ts"
import { SHOWN_METHODS } from "../../../src/rpc/contract/arguments.ts"
import { hasBash, offers } from "../../support/bashCompletions.ts"

describe("completionScript", () => {
  it.effect.skipIf(!hasBash)(
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
          [["svcd-cli", "-rpcw"], ["-rpcwallet", "-rpcwait", "-rpcwaittimeout"]],
          [["svcd-cli", "-network", "re"], ["regtest"]],
          [["svcd-cli", "-network", "regtest", "-rpcwait", "names", "-ex"], ["-expiring"]],
          [["svcd-cli", "help", "getblockh"], ["getblockheader", "getblockhash"]],
          [["svcd-cli", "help", "regis"], ["registrations", "register"]],
          [["svcd-cli", "renew"], ["renew"]],
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

  it.effect.skipIf(!hasBash)(
    "completes each command of svcd-cli itself",
    () =>
      Effect.gen(function*() {
        const script = yield* completionScript("bash")
        const commands = COMMAND_NAMES
        // The beginning alone: behind the whole word, bash offers the flags of the command.
        const offered = offers(script, commands.map((name) => ["svcd-cli", name.slice(0, -1)]))
        for (const [at, name] of commands.entries()) assert.include(offered[at] ?? [], name)
      })
  )

  it.effect.each(["bash", "zsh", "fish"] as const)(
    "knows every flag, command and method for %s, and no other",
    (shell) =>
      Effect.gen(function*() {
        const script = yield* completionScript(shell)
        const flag = (name: string): string => shell === "fish" ? `-l ${name} -o ${name}` : `--${name}`
        for (const name of Object.keys(CLI_FLAGS)) assert.include(script, flag(name))
        for (const word of [...COMMAND_NAMES, ...SHOWN_METHODS]) assert.include(script, word)
        for (const name of ["log-level", "wizard"]) {
          assert.notMatch(script, new RegExp(shell === "fish" ? `-l ${name}` : `opts=".*--${name}|'--${name}\\[`))
        }
        assert.match(script, shell === "zsh" ? /^#compdef svcd-cli\n/ : /complete .*svcd-cli\b/)
      })
  )
})
