import { assert, describe, it } from "@effect/vitest"
import { Deferred, Effect, Fiber, TestClock } from "effect"
import type { Screen } from "../../../src/programs/cli/outcome.ts"
import { watchStatus } from "../../../src/programs/cli/statusWatch.ts"
import { RpcUnreachable, UnexpectedReply } from "../../../src/rpc/RpcClient.ts"
import { asleepFor } from "../../support/eventually.ts"
import { recordingDaemon } from "./fakeDaemon.ts"

const PIPE: Screen = { terminal: false, columns: undefined, colours: false }

const connection = {
  network: "mainnet",
  networkFrom: undefined,
  dataDir: "/data",
  rpc: { host: "127.0.0.1", port: 8336, credentials: undefined },
  cookieFile: undefined,
  rpcAddrFrom: "default"
} as const

/** What it prints in four seconds, while the height grows after two of them and a wallet is searched for. */
const printed = (screen: Screen, json: boolean) =>
  Effect.gen(function*() {
    const heights = [5, 5, 6, 6]
    const daemon = recordingDaemon({
      getblockchaininfo: () => ({ chain: "main", blocks: heights.shift() ?? 6, headers: 10 }),
      getsyncstatus: { phase: "blocks", percent: 50.4, secondsleft: 7, headers: 10, window: null },
      getnetworkinfo: { connections: 3, subversion: "/svcd:1.2.3/" },
      getwalletinfo: { scanning: { duration: 3, progress: 0.25 } },
      getbalances: "{\"mine\":{\"trusted\":0.00000000}}",
      listwallets: [""]
    })
    yield* TestClock.setTime(0)
    const stopped = yield* Deferred.make<void>()
    const texts: Array<string> = []
    const output = {
      write: (text: string) => Effect.sync(() => void texts.push(text)),
      stopped: Deferred.await(stopped)
    }
    const watching = yield* Effect.fork(watchStatus({ connection, daemon, input: { screen, output }, json }))
    for (let second = 0; second < 3; second++) {
      yield* asleepFor("1 second")
      yield* TestClock.adjust("1 second")
    }
    yield* asleepFor("1 second")
    yield* Deferred.succeed(stopped, undefined)
    assert.strictEqual((yield* Fiber.join(watching)).code, 0)
    return texts
  })

describe("svcd-cli status -watch", () => {
  it.effect("prints a line for each change into a pipe", () =>
    Effect.gen(function*() {
      const line = (second: string, height: number) =>
        `1970-01-01T00:00:0${second}.000Z  height ${height} of 10, checking blocks: 50 % done, 3 peers, ` +
        "scanning the chain for the wallet's keys: 25 % done\n"
      assert.deepStrictEqual(yield* printed(PIPE, false), [line("0", 5), line("2", 6)])
    }))

  it.effect("prints a line of JSON for each change", () =>
    Effect.gen(function*() {
      const texts = yield* printed(PIPE, true)
      assert.deepStrictEqual(texts.map((text) => JSON.parse(text).blocks), [5, 6])
      assert.isTrue(texts.every((text) => /^[^\n]*\n$/.test(text)))
    }))

  it.effect("draws the status with its bars again on a terminal", () =>
    Effect.gen(function*() {
      const texts = yield* printed({ terminal: true, columns: 100, colours: false }, false)
      assert.lengthOf(texts, 4)
      assert.isTrue(texts.every((text) => text.includes("\u001b[H\u001b[J")))
      assert.match(texts[0] ?? "", /Sync +\[#+\.+\] checking blocks: 50 % done, about 7 seconds left/)
      assert.match(texts[0] ?? "", /Rescan +\[#+\.+\] scanning the chain for the wallet's keys: 25 % done/)
    }))

  it.effect("goes on while the daemon restarts, and ends if none ever answered", () =>
    Effect.gen(function*() {
      const away = new RpcUnreachable({ address: "127.0.0.1:8336", code: "ECONNREFUSED", wasSent: false })
      const texts: Array<string> = []
      const input = {
        screen: PIPE,
        output: { write: (text: string) => Effect.sync(() => void texts.push(text)), stopped: Effect.never }
      }
      const chain = { chain: "main", blocks: 6, headers: 6 }
      const stopping = new UnexpectedReply({
        address: "127.0.0.1:8336",
        status: 503,
        reason: "Server response: Shutting down"
      })
      const answers: Array<unknown> = [chain, stopping, away, away]
      const daemon = recordingDaemon({ getblockchaininfo: () => answers.shift() ?? chain })
      const watching = yield* Effect.fork(watchStatus({ connection, daemon, input, json: false }))
      yield* TestClock.adjust("4500 millis")
      yield* Fiber.interrupt(watching)
      assert.deepStrictEqual(
        texts.map((text) => /Shutting down|cannot reach a daemon|height/.exec(text)?.[0]),
        ["height", "Shutting down", "cannot reach a daemon", "height"]
      )
      const never = recordingDaemon({ getblockchaininfo: away })
      assert.strictEqual(yield* Effect.flip(watchStatus({ connection, daemon: never, input, json: false })), away)
    }))
})
