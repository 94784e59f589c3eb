import { assert, describe, it } from "@effect/vitest"
import { Either } from "effect"
import { readCommandLine } from "../../../src/config/commandLine.ts"
import { greeting } from "../../../src/programs/svcd/greeting.ts"

const lines = (argv: ReadonlyArray<string>, { height = 0, initialDownload = true } = {}): ReadonlyArray<string> => {
  const command = Either.getOrThrow(
    readCommandLine({ argv, env: {}, homedir: "/home/me", cwd: "/", cores: 1, readFile: () => Either.right(undefined) })
  )
  assert(command._tag === "Run")
  return greeting(command.settings, { height, initialDownload }, argv).split("\n")
}

describe("the greeting of svcd on a terminal", () => {
  it("has three lines: the page, the state, and how long the first sync takes", () => {
    assert.deepStrictEqual(lines([]), [
      "Status page and explorer: http://127.0.0.1:8336/",
      "To check the node, run: svcd-cli status. To stop it, press Ctrl-C.",
      "First sync: names usually resolve after a few minutes. The whole chain takes hours, or over a day on a slow disk.",
      ""
    ])
  })

  it("repeats the flags by which svcd-cli finds the node, and no password", () => {
    const [page, state] = lines([
      ...["-network=testnet", "-datadir", "/my data", "-rpcaddr", "0.0.0.0:18336", "-rpcallowinsecure"],
      ...["-rpcuser", "me", "-rpcpassword=secret"]
    ])
    assert.strictEqual(page, "Status page and explorer: http://127.0.0.1:18336/")
    assert.strictEqual(
      state,
      "To check the node, run: svcd-cli -network testnet -datadir '/my data' -rpcaddr 0.0.0.0:18336 status. To stop it, press Ctrl-C."
    )
  })

  it.each<readonly [argv: ReadonlyArray<string>, initialDownload: boolean, line: RegExp]>([
    [[], false, /^The node has the chain up to block 800,000 and catches up/],
    [["-network", "regtest"], true, /nothing to wait for/],
    [["-maxpeers", "0"], true, /^The node stays offline/],
    [["-sync", "light"], true, /^First sync: names resolve after a few minutes\.$/]
  ])("describes the sync with %j, initial download: %s", (argv, initialDownload, line) => {
    assert.match(lines(argv, { height: 800_000, initialDownload })[2] ?? "", line)
  })

  it("says where JSON-RPC is without pages", () => {
    assert.strictEqual(lines(["-statuspage=0"])[0], "No pages (-statuspage=0); JSON-RPC is at http://127.0.0.1:8336/")
  })
})
