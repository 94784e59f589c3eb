import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { explain } from "../../../src/programs/cli/failures.ts"
import { UnexpectedReply } from "../../../src/rpc/RpcClient.ts"
import { fakeDaemon } from "./fakeDaemon.ts"

describe("explain", () => {
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
            connection: {
              network: "mainnet",
              networkFrom: undefined,
              dataDir: "/nowhere",
              rpc: { host: "127.0.0.1", port: 8336, credentials: undefined },
              cookieFile: undefined,
              rpcAddrFrom: "default"
            },
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
