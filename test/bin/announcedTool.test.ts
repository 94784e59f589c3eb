import { assert, describe, it } from "@effect/vitest"
import { type AnnouncedTool, answer } from "../../src/bin/announcedTool.ts"
import { version } from "../../src/version.ts"

const tool: AnnouncedTool = {
  name: "svcd-wallet",
  purpose: "Looks after a wallet.",
  subCommands: { "recover": "from a phrase", "import-key": "a key" }
}

describe("a program that comes with a later version", () => {
  it.each([["--help"], ["-help"], ["recover", "--help"], ["--version", "--help"]])(
    "explains itself to %s %s",
    (...argv) => {
      const { exitCode, stderr, stdout } = answer(tool, argv)
      assert.strictEqual(exitCode, 0)
      assert.strictEqual(stderr, "")
      assert.match(stdout, /^Usage: svcd-wallet /)
      assert.include(stdout, "recover     from a phrase")
      assert.include(stdout, "import-key  a key")
    }
  )

  it.each(["--version", "-version"])("prints its version in one line for %s", (flag) => {
    assert.deepStrictEqual(answer(tool, [flag]), { exitCode: 0, stdout: `svcd-wallet ${version}\n`, stderr: "" })
  })

  it("says of a sub-command that it is not in this version", () => {
    const { exitCode, stderr, stdout } = answer(tool, ["-datadir", "x", "recover", "--mnemonic", "abandon about"])
    assert.strictEqual(exitCode, 2)
    assert.strictEqual(stdout, "")
    assert.strictEqual(
      stderr,
      `svcd-wallet: the sub-command recover is not in this version (${version}); see svcd-wallet --help\n`
    )
  })

  it.each([[[]], [["TdNVv3rvWfukQ9PGYe3kJL2foDARGKorJX8TimN3P8f7h5uGyJzz"]], [["toString"]]])(
    "refuses anything else without repeating it: %j",
    (argv) => {
      assert.deepStrictEqual(answer(tool, argv), {
        exitCode: 2,
        stdout: "",
        stderr: `svcd-wallet: no sub-command is in this version (${version}); see svcd-wallet --help\n`
      })
    }
  )
})
