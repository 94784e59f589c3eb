import { assert, describe, it } from "@effect/vitest"
import * as Config from "effect/Config"
import * as ConfigProvider from "effect/ConfigProvider"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Exit from "effect/Exit"
import * as Redacted from "effect/Redacted"
import * as Scope from "effect/Scope"
import * as Stream from "effect/Stream"
import { decodeConfig } from "../../src/client/config.ts"
import * as LazyDaemon from "../../src/client/lazyDaemon.ts"
import { type ClientConfig, NameClient } from "../../src/client/NameClient.ts"
import { type Call, fakeDaemon, type Reply } from "../support/fakeDaemon.ts"
import { callsOf, shown } from "./daemonClients.ts"

const lazy = (answer: (call: Call) => Reply | undefined, config: ClientConfig = {}) =>
  Effect.gen(function*() {
    const { calls, port } = yield* fakeDaemon(answer)
    const decoded = yield* decodeConfig({ network: "regtest", rpcAddr: `http://127.0.0.1:${port}`, ...config })
    return { names: yield* LazyDaemon.make(decoded, { interval: 5, firstPause: 10 }), calls }
  })

const known = ({ method }: Call): Reply | undefined => method === "name_show" ? { result: shown("d/x") } : undefined

describe("a client of a daemon that need not be there", () => {
  it.scopedLive("opens without one, fails each call as long as none answers, and answers then", () =>
    Effect.gen(function*() {
      let isThere = false
      const { names } = yield* lazy((call) => isThere ? known(call) : "hang up")
      assert.strictEqual((yield* Effect.flip(names.resolveName("d/x")))._tag, "DaemonUnreachable")
      assert.strictEqual((yield* Effect.flip(Stream.runDrain(names.progress)))._tag, "DaemonUnreachable")
      assert.strictEqual((yield* Effect.flip(names.registerName("d/x", "{}")))._tag, "DaemonUnreachable")
      isThere = true
      assert.strictEqual((yield* names.resolveName("d/x")).value, "{}")
      assert.strictEqual((yield* names.freshness).height, 700)
    }))

  it.scopedLive("calls that come together wait for one connection, even if the first of them is interrupted", () =>
    Effect.gen(function*() {
      const one = yield* lazy(known)
      yield* one.names.resolveName("d/x")
      const { calls, names } = yield* lazy(known)
      const first = yield* Effect.fork(names.resolveName("d/x"))
      const others = yield* Effect.fork(
        Effect.all([names.resolveName("d/x"), names.resolveName("d/x")], { concurrency: 2 })
      )
      yield* Effect.yieldNow()
      yield* first.interruptAsFork(first.id())
      assert.strictEqual((yield* others).length, 2)
      const confirmations = ({ calls }: { readonly calls: ReadonlyArray<Call> }) =>
        callsOf(calls, "getblockchaininfo").length - callsOf(calls, "name_show").length
      assert.isAtMost(confirmations({ calls }), confirmations(one))
    }))

  it.scopedLive("a daemon of another network refuses each call", () =>
    Effect.gen(function*() {
      const { names } = yield* lazy(known, { network: "testnet" })
      const failure = yield* Effect.flip(names.resolveName("d/x"))
      assert.strictEqual(failure._tag, "DaemonRefused")
      assert.include(failure.message, "network")
    }))

  it.live("ends with its scope", () =>
    Effect.gen(function*() {
      const scope = yield* Scope.make()
      const { names } = yield* Scope.extend(lazy(known), scope)
      yield* names.resolveName("d/x")
      yield* Scope.close(scope, Exit.void)
      assert.strictEqual((yield* Effect.flip(names.resolveName("d/x")))._tag, "ClientClosed")
      assert.strictEqual((yield* Effect.flip(names.failure))._tag, "ClientClosed")
    }))
})

describe("NameClient.layerConfig", () => {
  it.live("reads the fields from the program's configuration, with passwords hidden and times as durations", () =>
    Effect.gen(function*() {
      const provider = ConfigProvider.fromMap(
        new Map([["RPC", "http://127.0.0.1:1"], ["USER", "u"], ["PASSWORD", "s3cret"], ["TIMEOUT", "50 millis"]])
      )
      const names = NameClient.layerConfig({
        mode: Config.succeed("daemon" as const),
        rpcAddr: Config.string("RPC"),
        rpcUser: Config.string("USER"),
        rpcPassword: Config.redacted("PASSWORD"),
        timeout: Config.duration("TIMEOUT")
      })
      const failure = yield* Effect.flip(
        NameClient.pipe(Effect.provide(names), Effect.scoped, Effect.withConfigProvider(provider))
      )
      assert.deepInclude({ ...failure }, { _tag: "DaemonUnreachable", address: "127.0.0.1:1" })
      const missing = yield* Effect.flip(
        NameClient.pipe(Effect.provide(names), Effect.withConfigProvider(ConfigProvider.fromMap(new Map())))
      )
      assert.strictEqual(missing._tag, "ConfigError")
    }))

  it("takes hidden and plain secrets, and times of each form", () => {
    const decoded = (config: ClientConfig) => Either.getOrThrow(decodeConfig(config))
    for (const rpcPassword of ["p", Redacted.make("p")]) {
      const { credentials } = decoded({ rpcUser: "u", rpcPassword }).daemon
      assert.strictEqual(credentials === undefined ? undefined : Redacted.value(credentials.password), "p")
    }
    for (const walletPassphrase of ["p", Redacted.make("p")]) {
      const hidden = decoded({ walletPassphrase }).embedded.walletPassphrase
      assert.strictEqual(hidden === undefined ? undefined : Redacted.value(hidden), "p")
    }
    for (const timeout of [1_500, "1500 millis", "1.5 seconds", Duration.millis(1_500)] as const) {
      assert.strictEqual(decoded({ timeout }).daemon.timeout, 1_500)
    }
    const fieldOf = (config: object) =>
      Either.match(decodeConfig(config), { onLeft: (e) => e.field, onRight: () => "" })
    for (const timeout of [0, 1.5, NaN, Infinity, "0 seconds", "25 hours", "soon", Duration.infinity, null, {}]) {
      assert.strictEqual(fieldOf({ timeout }), "timeout", String(timeout))
    }
    assert.strictEqual(fieldOf({ rpcUser: "u", rpcPassword: Redacted.make(7) }), "rpcPassword")
    assert.strictEqual(fieldOf({ rpcUser: "u", rpcPassword: Redacted.make("a\0") }), "rpcPassword")
    assert.strictEqual(fieldOf({ rpcUser: "u", rpcPassword: 7 }), "rpcPassword")
  })
})
