import { assert, describe, it } from "@effect/vitest"
import { optionNamesOf } from "../../../src/config/optionRow.ts"
import { OPTIONS, SHELLS } from "../../../src/config/options.ts"
import { daemonCompletions } from "../../../src/programs/svcd/completions.ts"
import { hasBash, offers } from "../../support/bashCompletions.ts"

describe("the completions of svcd", () => {
  it.skipIf(!hasBash)("offer flags and their words in bash", async () => {
    const cases: ReadonlyArray<readonly [words: ReadonlyArray<string>, offered: ReadonlyArray<string>]> = [
      [["svcd", "-rpcw"], ["-rpcwhitelist", "-rpcwhitelistdefault", "-rpcworkqueue"]],
      [["svcd", "--txi"], ["--txindex"]],
      [["svcd", "-network", "re"], ["regtest"]],
      [["svcd", "-network", "regtest", "-txi"], ["-txindex"]],
      [["svcd", "-txindex", "-reindex-"], ["-reindex-chainstate"]],
      [["svcd", "-addresstype", "p2"], ["p2sh-segwit"]],
      [["svcd", "-rpccookiefile", "compl"], ["completions"]],
      [["svcd", "-compl"], ["-completions"]],
      [["svcd", "-wiz"], []]
    ]
    const offered = offers(await daemonCompletions("bash"), cases.map(([words]) => words))
    for (const [at, [words, expected]] of cases.entries()) {
      assert.deepStrictEqual(offered[at], [...expected], words.join(" "))
    }
  })

  it.each(SHELLS)("know every flag for %s, and no key of the file alone", async (shell) => {
    const script = await daemonCompletions(shell)
    for (const name of optionNamesOf(OPTIONS)) {
      const flag = new RegExp(
        shell === "fish" ? `^complete -c svcd .*-l ${name} -o ${name} ` : `--${name}[\\[) "]`,
        "m"
      )
      if (OPTIONS[name].flag) assert.match(script, flag)
      else assert.notMatch(script, flag)
    }
  })
})
