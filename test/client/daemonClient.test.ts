import { assert, describe, it } from "@effect/vitest"
import { Effect, Either, Fiber } from "effect"
import { writeFileSync } from "node:fs"
import { join } from "node:path"
import { decodeConfig, foreignFields } from "../../src/client/config.ts"
import { temporaryDirectory } from "../support/chain.ts"
import { freePort } from "../support/daemon.ts"
import { eventually } from "../support/eventually.ts"
import { type Call, fakeDaemon, INFO, type Reply } from "../support/fakeDaemon.ts"
import { callsOf, client, hex, open, shown, TXID } from "./daemonClients.ts"

/** Answers the first calls of a method in this order, and all later ones with the last answer. */
const inTurn = (method: string, replies: ReadonlyArray<Reply>) => {
  let at = 0
  return (call: Call): Reply | undefined =>
    call.method === method ? replies[Math.min(at++, replies.length - 1)] : undefined
}

describe("the client over a daemon", () => {
  it.scopedLive("requests names in hexadecimal digits, in one request, and reads every field", () =>
    Effect.gen(function*() {
      const { calls, client: names } = yield* client(({ method }) =>
        method === "name_show" ? { result: shown("d/ü", { value: hex("{\"ü\":1}") }) } : undefined
      )
      const before = calls.length
      assert.deepStrictEqual(yield* names.resolveName("d/ü"), {
        name: "d/ü",
        value: "{\"ü\":1}",
        address: "ncrt1qexample",
        txid: TXID,
        height: 690,
        expiresIn: 20,
        expired: false,
        asOf: { height: 700, synced: true, proof: "full" }
      })
      assert.deepStrictEqual(calls.slice(before).map(({ method }) => method), ["getblockchaininfo", "name_show"])
      assert.deepStrictEqual(calls.at(-1)?.params, [
        hex("d/ü"),
        { nameEncoding: "hex", valueEncoding: "hex", allowExpired: true }
      ])
    }))

  it.scopedLive("shows bytes that are not text, and scripts without an address", () =>
    Effect.gen(function*() {
      const { client: names } = yield* client(({ method }) =>
        method === "name_show" ? { result: shown("d/x", { value: "ff41", address: "<nonstandard>" }) } : undefined
      )
      const { address, value, valueHex } = yield* names.resolveName("d/x")
      assert.deepStrictEqual([address, value, valueHex], ["", "\ufffdA", "ff41"])
    }))

  it.scopedLive("distinguishes unknown and expired names from those that a syncing node cannot know yet", () =>
    Effect.gen(function*() {
      let info: object = INFO
      let reply: Reply = { code: -4, message: "name never existed: 'd/x'" }
      let strict: Reply | undefined
      const { client: names } = yield* client(({ method, params }) => {
        if (method === "getblockchaininfo") return { result: info }
        const isStrict = JSON.stringify(params).includes("\"allowExpired\":false")
        return method === "name_show" ? (isStrict ? strict : undefined) ?? reply : undefined
      })
      const tag = Effect.map(Effect.flip(names.resolveName("d/x")), ({ _tag }) => _tag)
      assert.strictEqual(yield* tag, "NameNotFound")
      reply = { result: shown("d/x", { expired: true, expires_in: 0 }) }
      assert.strictEqual(yield* tag, "NameExpired")
      strict = { code: -4, message: "name expired: 'd/x'" }
      assert.strictEqual(yield* tag, "NameExpired")
      // Its names are behind its chain: the client shows the record, and does not report that the name is expired.
      strict = { code: -10, message: "Namecoin is downloading blocks..." }
      assert.strictEqual(yield* tag, "NotSynced")
      strict = undefined
      info = { ...INFO, headers: 701 }
      assert.strictEqual(yield* tag, "NotSynced")
      info = { ...INFO, initialblockdownload: true }
      assert.strictEqual(yield* tag, "NotSynced")
      info = INFO
      reply = { code: -10, message: "Namecoin is downloading blocks..." }
      assert.strictEqual(yield* tag, "NotSynced")
      reply = { code: -1, message: "something else" }
      const other = yield* Effect.flip(names.resolveName("d/x"))
      assert.deepInclude({ ...other }, { _tag: "DaemonRefused", code: -1, reason: "something else" })
    }))

  it.scopedLive("enforces the freshness that the caller requires", () =>
    Effect.gen(function*() {
      const { client: names } = yield* client(({ method }) =>
        method === "name_show" ? { result: shown("d/x") } : undefined
      )
      yield* names.resolveName("d/x", { requireSynced: true, minHeight: 700 })
      const error = yield* Effect.flip(names.resolveName("d/x", { minHeight: 701 }))
      assert.deepInclude({ ...error }, { _tag: "NotSynced", height: 700 })
    }))

  it.scopedLive("retries a reading call while no daemon answers, up to a limit", () =>
    Effect.gen(function*() {
      const found: Reply = { result: shown("d/x") }
      const { calls, client: names } = yield* client(inTurn("name_show", ["hang up", "hang up", "hang up", found]))
      assert.strictEqual((yield* names.resolveName("d/x")).name, "d/x")
      assert.strictEqual(callsOf(calls, "name_show").length, 4)
      const never = yield* client(inTurn("name_show", ["hang up"]))
      const error = yield* Effect.flip(never.client.resolveName("d/x"))
      assert.strictEqual(error._tag, "DaemonUnreachable")
      // Each a second time on a reused connection, that of the question for the network: the daemon may have closed it.
      assert.include([4, 5, 6, 7, 8], callsOf(never.calls, "name_show").length)
    }))

  it.scopedLive("waits while the daemon starts or is too busy, until the call times out", () =>
    Effect.gen(function*() {
      const found: Reply = { result: shown("d/x") }
      const starting: Reply = { code: -28, message: "Loading block index…" }
      const { client: names } = yield* client(
        inTurn("name_show", [starting, { status: 503, body: "Work queue depth exceeded" }, { status: 429 }, found])
      )
      assert.strictEqual((yield* names.resolveName("d/x")).name, "d/x")
      const never = yield* client(inTurn("name_show", [starting]), { timeout: 150 })
      const error = yield* Effect.flip(never.client.resolveName("d/x"))
      assert.strictEqual(error._tag, "DaemonNotReady")
      assert.include(error.message, "Loading block index…")
    }))

  it.scopedLive("ends a call that times out", () =>
    Effect.gen(function*() {
      const { client: names } = yield* client(inTurn("name_show", ["silence"]), { timeout: 100 })
      const error = yield* Effect.flip(names.resolveName("d/x"))
      assert.strictEqual(error._tag, "DaemonUnreachable")
      assert.include(error.message, "no answer in time")
    }))

  it.scopedLive("never retries a call that may have changed something", () =>
    Effect.gen(function*() {
      for (const failing of ["hang up", { status: 500, body: "oh" }] satisfies ReadonlyArray<Reply>) {
        const { calls, client: names } = yield* client(inTurn("name_update", [failing]))
        const error = yield* Effect.flip(names.updateName("d/x", "v"))
        assert.strictEqual(error._tag, failing === "hang up" ? "DaemonUnreachable" : "DaemonRefused")
        if (failing === "hang up") assert.include(error.message, "may have executed")
        assert.strictEqual(callsOf(calls, "name_update").length, 1)
      }
      const slow = yield* client(inTurn("name_update", ["silence"]), { timeout: 100 })
      assert.strictEqual((yield* Effect.flip(slow.client.updateName("d/x", "v")))._tag, "DaemonUnreachable")
      assert.strictEqual(callsOf(slow.calls, "name_update").length, 1)
    }))

  it.scopedLive("retries a call that the daemon certainly did not carry out", () =>
    Effect.gen(function*() {
      const { calls, client: names } = yield* client(
        inTurn("name_update", [{ code: -28, message: "Verifying" }, { status: 503 }, { result: TXID }])
      )
      assert.deepStrictEqual(yield* names.updateName("d/x", "v", { address: "n1" }), { txHash: TXID })
      assert.strictEqual(callsOf(calls, "name_update").length, 3)
      assert.deepStrictEqual(calls.at(-1)?.params, [
        hex("d/x"),
        hex("v"),
        { nameEncoding: "hex", valueEncoding: "hex", psbt: false, destAddress: "n1" }
      ])
    }))

  it.scopedLive("reports the failure of an operation in words of its own", () =>
    Effect.gen(function*() {
      const cases: ReadonlyArray<readonly [number, string, string]> = [
        [-32601, "Method not found", "WalletDisabled"],
        [-18, "No wallet is loaded.", "WalletDisabled"],
        [-19, "Multiple wallets are loaded.", "WalletDisabled"],
        [-13, "Error: Please enter the wallet passphrase", "WalletLocked"],
        [-6, "Insufficient funds", "InsufficientFunds"],
        [-6, "Not found pre-selected input COutPoint(cd342d5df5, 1)", "NameUnavailable"],
        [-25, "this name can not be updated", "NameUnavailable"],
        [-26, "tx-name-greedy", "OperationRejected"],
        [-5, "invalid address", "InvalidRequest"],
        [-1, "unknown trouble", "DaemonRefused"]
      ]
      for (const [code, message, tag] of cases) {
        const { client: names } = yield* client(inTurn("name_update", [{ code, message }]))
        assert.strictEqual((yield* Effect.flip(names.updateName("d/x", "v")))._tag, tag, message)
      }
      const { calls, client: names } = yield* client(() => undefined)
      const long = yield* Effect.flip(names.updateName("d/x", "v".repeat(521)))
      assert.deepInclude({ ...long }, { _tag: "InvalidRequest", field: "value" })
      // From a program without types.
      const waits = JSON.parse("{\"waitFor\":\"finished\"}")
      for (const call of [names.updateName("d/x", "v", waits), names.registerName("d/x", "v", waits)]) {
        assert.deepInclude({ ...yield* Effect.flip(call) }, { _tag: "InvalidRequest", field: "waitFor" })
      }
      assert.strictEqual(callsOf(calls, "name_update").length, 0)
    }))

  it.scopedLive("uses the configured wallet, not the only one that is loaded", () =>
    Effect.gen(function*() {
      const { calls, client: names } = yield* client(
        ({ method }) => method === "name_update" ? { result: TXID } : undefined,
        { wallet: "mine & yours" }
      )
      assert.deepStrictEqual(yield* names.updateName("d/x", "v"), { txHash: TXID })
      assert.strictEqual(calls.at(-1)?.path, "/wallet/mine%20%26%20yours")
    }))

  it.scopedLive("lists in pages, and filters what the daemon cannot filter", () =>
    Effect.gen(function*() {
      const all = [
        ...Array.from({ length: 1_500 }, (_, i) => `d/${String(i).padStart(6, "0")}`),
        ...Array.from({ length: 10 }, (_, i) => `id/${i}`)
      ].sort((a, b) => a.length - b.length || (a < b ? -1 : 1))
      const { calls, client: names } = yield* client(({ method, params }) => {
        if (method !== "name_scan") return undefined
        const [start, count] = params
        const from = all.findIndex((name) => hex(name) === start)
        const first = from < 0 ? 0 : from
        return {
          result: all.slice(first, first + Number(count)).map((name) => shown(name, { expired: name === "id/3" }))
        }
      })
      const ids = (yield* names.listNames({ namespace: "id/" })).map(({ name }) => name)
      assert.deepStrictEqual(ids, all.filter((name) => name.startsWith("id/") && name !== "id/3"))
      const domains = (yield* names.listNames({ namespace: "d/", limit: 1_200 })).map(({ name }) => name)
      assert.deepStrictEqual(domains, all.filter((name) => name.startsWith("d/")).slice(0, 1_200))
      assert.strictEqual((yield* names.listNames()).length, 100)
      assert.isBelow(callsOf(calls, "name_scan").length, 10)
    }))

  it.scopedLive("sends credentials, reads a changed cookie again, and reveals neither", () =>
    Effect.gen(function*() {
      const basic = (text: string) => `Basic ${Buffer.from(text).toString("base64")}`
      let accepted = basic("user:pass word")
      const daemon = yield* fakeDaemon(({ authorization, method }) => {
        if (authorization !== accepted) return { status: 401 }
        return method === "name_show" ? { result: shown("d/x") } : undefined
      })
      yield* open(daemon, { rpcUser: "user", rpcPassword: "pass word" })
      const wrong = yield* Effect.flip(open(daemon, { rpcUser: "user", rpcPassword: "s3cret" }))
      assert.strictEqual(wrong._tag, "Unauthorized")
      assert.match(wrong.message, /does not accept the password of the user user$/)
      const none = yield* Effect.flip(open(daemon, {}))
      assert.match(none.message, /asks for credentials: give rpcUser and rpcPassword, or rpcCookieFile/)
      assert.notInclude(JSON.stringify(wrong) + wrong.message, "s3cret")
      const rpcCookieFile = join(yield* temporaryDirectory, ".cookie")
      const missing = yield* Effect.flip(open(daemon, { rpcCookieFile }))
      assert.deepInclude({ ...missing }, { _tag: "InvalidConfig", field: "rpcCookieFile" })
      writeFileSync(rpcCookieFile, "__cookie__:one\n")
      accepted = basic("__cookie__:one")
      const names = yield* open(daemon, { rpcCookieFile })
      writeFileSync(rpcCookieFile, "__cookie__:two\n")
      accepted = basic("__cookie__:two")
      // The daemon refuses all of these, and the first of them reads the new cookie.
      const several = yield* Effect.replicateEffect(names.resolveName("d/x"), 5, { concurrency: "unbounded" })
      assert.deepStrictEqual(several.map(({ name }) => name), Array(5).fill("d/x"))
    }))

  it.scopedLive("fails to open over a daemon of another network, and without a daemon", () =>
    Effect.gen(function*() {
      const daemon = yield* fakeDaemon(() => undefined)
      const wrong = yield* Effect.flip(open(daemon, { network: "testnet" }))
      assert.deepInclude({ ...wrong }, { _tag: "InvalidConfig", field: "network" })
      const unreachable = yield* Effect.flip(open({ port: yield* freePort, calls: [] }))
      assert.strictEqual(unreachable._tag, "DaemonUnreachable")
      const stranger = yield* fakeDaemon(() => ({ result: "hello" }))
      assert.strictEqual((yield* Effect.flip(open(stranger)))._tag, "DaemonRefused")
    }))

  it.scopedLive("refuses names and values that no chain can hold", () =>
    Effect.gen(function*() {
      const value = (bytes: number) => inTurn("name_show", [{ result: shown("d/x", { value: "61".repeat(bytes) }) }])
      const most = yield* client(value(1_023))
      assert.strictEqual((yield* most.client.resolveName("d/x")).value.length, 1_023)
      const over = yield* client(value(1_024))
      assert.strictEqual((yield* Effect.flip(over.client.resolveName("d/x")))._tag, "DaemonRefused")
      const huge = yield* client(value(17_000_000))
      assert.strictEqual((yield* Effect.flip(huge.client.resolveName("d/x")))._tag, "DaemonRefused")
    }))

  it.scopedLive("ends waiting calls when it is closed", () =>
    Effect.gen(function*() {
      const daemon = yield* fakeDaemon(inTurn("name_show", ["silence"]))
      const waiting = yield* Effect.scoped(Effect.gen(function*() {
        const names = yield* open(daemon)
        const fiber = yield* Effect.forkDaemon(Effect.flip(names.resolveName("d/x")))
        yield* eventually("the call waits", () => daemon.calls.some(({ method }) => method === "name_show"))
        return fiber
      }))
      assert.strictEqual((yield* Fiber.join(waiting))._tag, "ClientClosed")
    }))

  it("refuses an invalid configuration", () => {
    const cases: ReadonlyArray<readonly [object, string]> = [
      [{ network: "moonnet" }, "network"],
      [{ mode: "sideways" }, "mode"],
      [{ maxPeers: -1 }, "maxPeers"],
      [{ maxPeers: 1.5 }, "maxPeers"],
      [{ maxPeers: "8" }, "maxPeers"],
      [{ bootstrapPeers: ["nowhere"] }, "bootstrapPeers"],
      [{ bootstrapPeers: "127.0.0.1:8334" }, "bootstrapPeers"],
      [{ rpcAddr: "::::" }, "rpcAddr"],
      [{ rpcAddr: "ftp://127.0.0.1" }, "rpcAddr"],
      [{ rpcAddr: "http://user:s3cret@127.0.0.1" }, "rpcAddr"],
      [{ rpcUser: "u" }, "rpcPassword"],
      [{ rpcPassword: "s3cret" }, "rpcUser"],
      [{ rpcUser: "u", rpcPassword: "s3cret", rpcCookieFile: "x" }, "rpcCookieFile"],
      [{ timeout: 0 }, "timeout"],
      [{ dataDir: "" }, "dataDir"],
      [{ disableWallet: "yes" }, "disableWallet"],
      [{ nameProofs: "yes" }, "nameProofs"],
      [{ nameproofs: true }, "nameproofs"],
      [{ RPCAddr: "http://127.0.0.1:1" }, "RPCAddr"],
      [{ datadir: "/tmp" }, "datadir"],
      [{ netwerk: "regtest" }, "netwerk"]
    ]
    for (const [config, field] of cases) {
      const decoded = decodeConfig(config)
      if (Either.isRight(decoded)) throw new Error(`accepted: ${JSON.stringify(config)}`)
      assert.strictEqual(decoded.left.field, field, JSON.stringify(config))
      assert.notInclude(decoded.left.message, "s3cret")
    }
  })

  it("suggests a field for an unknown one", () => {
    const messageOf = (config: object): string =>
      Either.match(decodeConfig(config), {
        onLeft: ({ message }) => message,
        onRight: () => "accepted"
      })
    const unknown = "is not a field of the configuration"
    assert.strictEqual(messageOf({ netwerk: "regtest" }), `netwerk: ${unknown}; did you mean network?`)
    assert.strictEqual(messageOf({ RPCAddr: "::::" }), `RPCAddr: ${unknown}; did you mean rpcAddr?`)
    assert.strictEqual(messageOf({ rpc_adr: "" }), `rpc_adr: ${unknown}; did you mean rpcAddr?`)
    // A program may keep other settings in the same object: they only look like nothing that the client has.
    assert.strictEqual(messageOf({ mine: 1, password: "s3cret", ["x".repeat(100_000)]: 1 }), "accepted")
    assert.deepStrictEqual(foreignFields({ ...{ mine: 1 }, network: "regtest" }), ["mine"])
  })

  it("fills in the defaults", () => {
    const daemonOf = (rpcAddr: string) => {
      const { basePath, host, port, secure } = Either.getOrThrow(decodeConfig({ rpcAddr })).daemon
      return [secure, host, port, basePath]
    }
    assert.deepStrictEqual(daemonOf("http://127.0.0.1"), [false, "127.0.0.1", 8336, ""])
    assert.deepStrictEqual(daemonOf("http://127.0.0.1:80/"), [false, "127.0.0.1", 80, ""])
    assert.deepStrictEqual(daemonOf("localhost:1234"), [false, "localhost", 1234, ""])
    assert.deepStrictEqual(daemonOf("https://names.example/rpc/"), [true, "names.example", 443, "/rpc"])
    assert.deepStrictEqual(daemonOf("http://[::1]:8336"), [false, "::1", 8336, ""])
    const { embedded, mode, network } = Either.getOrThrow(decodeConfig({ maxPeers: undefined }))
    assert.deepStrictEqual([mode, network, embedded.maxPeers, embedded.disableWallet], ["auto", "mainnet", 8, false])
  })
})
