import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { explain } from "../../../src/programs/cli/failures.ts"
import { RpcFailure, RpcUnreachable, UnexpectedReply } from "../../../src/rpc/RpcClient.ts"
import { fakeDaemon } from "./fakeDaemon.ts"

const CONNECTION = {
  network: "mainnet",
  networkFrom: undefined,
  dataDir: "/nowhere",
  rpc: { host: "127.0.0.1", port: 8336, credentials: undefined },
  cookieFile: undefined,
  rpcAddrFrom: "default"
} as const

describe("explain", () => {
  it.effect("names the command that unlocks behind the text of the reference node", () =>
    Effect.gen(function*() {
      const message = "Error: Please enter the wallet passphrase with walletpassphrase first."
      const daemon = fakeDaemon({})
      const { stderr } = yield* explain(new RpcFailure({ code: -13, message }), {
        connection: CONNECTION,
        daemon,
        method: "sendtoaddress"
      })
      assert.strictEqual(
        stderr,
        `error code: -13\nerror message:\n${message}\n"svcd-cli unlock" unlocks the wallet.\n`
      )
    }))

  it.effect("says that a word is not a command, if no daemon can tell", () =>
    Effect.gen(function*() {
      const told = (word: string | undefined, wasSent = false) =>
        Effect.map(
          explain(new RpcUnreachable({ address: "127.0.0.1:8336", code: "ECONNREFUSED", wasSent }), {
            connection: CONNECTION,
            daemon: fakeDaemon({}),
            word
          }),
          ({ stderr }) => stderr
        )
      assert.strictEqual(
        yield* told("regsiter"),
        "error: \"regsiter\" is not a command, and not a method that svcd-cli knows\n" +
          "Did you mean register? No daemon can tell: cannot reach a daemon at 127.0.0.1:8336: connection refused.\n"
      )
      assert.match(yield* told("checkwords"), /Did you mean seed check\?/)
      assert.match(yield* told("gibberish"), /\n"svcd-cli -help" lists the commands\./)
      assert.notInclude(yield* told("L".repeat(52)), "LLL")
      for (const unreached of [told("getblockcount"), told(undefined), told("regsiter", true)]) {
        assert.match(yield* unreached, /^error: cannot reach a daemon/)
      }
    }))

  it.effect("tells a web server from a daemon", () =>
    Effect.gen(function*() {
      const told = (status: number) =>
        Effect.map(
          explain(new UnexpectedReply({ address: "127.0.0.1:8336", status, reason: "no" }), {
            connection: CONNECTION,
            daemon: fakeDaemon({})
          }),
          ({ stderr }) => stderr
        )
      assert.match(yield* told(404), /127\.0\.0\.1:8336 answers, but not as a daemon: another program listens there/)
      assert.notInclude(yield* told(503), "another program")
    }))

  it.effect("names the right for a method that the user may not call", () =>
    Effect.gen(function*() {
      const told = (status: number, method?: string) =>
        explain(
          new UnexpectedReply({
            address: "127.0.0.1:8336",
            status,
            reason: `server returned HTTP error ${status}`,
            missingRight: method === undefined ? undefined : "spend"
          }),
          {
            connection: CONNECTION,
            daemon: fakeDaemon({}),
            ...(method === undefined ? {} : { method })
          }
        )
      const { code, stderr } = yield* told(403, "sendtoaddress")
      assert.strictEqual(code, 1)
      assert.match(stderr, /^error: server returned HTTP error 403\n/)
      assert.include(
        stderr,
        "This RPC user lacks the right \"spend\" for this call of sendtoaddress (-rpcrights, -rpcwhitelist)"
      )
      assert.include((yield* told(403)).stderr, "lacks the right for it")
      assert.notInclude((yield* told(500)).stderr, "right")
    }))
})
