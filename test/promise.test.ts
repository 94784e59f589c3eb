import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { execFile } from "node:child_process"
import { existsSync, readdirSync } from "node:fs"
import { join } from "node:path"
import { promisify } from "node:util"
import * as Library from "../src/promise.ts"
import { temporaryDirectory } from "./support/chain.ts"
import { freePort } from "./support/daemon.ts"
import { copyOf, fillDirectory } from "./support/embedded.ts"
import { eventually } from "./support/eventually.ts"
import { type FakeDaemon, fakeDaemon } from "./support/fakeDaemon.ts"
import { withDirectoryAsync } from "./support/temporary.ts"

const { ModeAuto, newClient, newDaemonClient, newEmbeddedClient } = Library

const execute = promisify(execFile)

/** A program that opens a client of the build, asks once and closes it. Nothing in it ends the process. */
const USER = `
import { createRequire } from "node:module"
import { newEmbeddedClient } from ${JSON.stringify(new URL("../build/src/promise.js", import.meta.url).href)}
const { cache } = createRequire(import.meta.url)
const tellLoaded = () => process.stdout.write(Object.keys(cache).some((file) => file.includes("better-sqlite3")) + " ")
tellLoaded()
const client = await newEmbeddedClient({ network: "regtest", dataDir: process.argv.at(-1), maxPeers: 0, disableWallet: true })
tellLoaded()
await client.resolveName("d/unknown").catch(({ _tag }) => process.stdout.write(_tag))
await client.close()
`

const TXID = "a".repeat(64)

const hex = (text: string): string => Buffer.from(text).toString("hex")

const shown = (name: string) => ({
  name: hex(name),
  value: hex("{}"),
  txid: TXID,
  address: "n1",
  height: 690,
  expires_in: 20,
  expired: false
})

/** A daemon that knows one name, and answers nothing at all about another. */
const namedDaemon = fakeDaemon(({ method, params }) => {
  if (method !== "name_show") return undefined
  if (params[0] === hex("d/slow")) return "silence"
  return params[0] === hex("d/x") ? { result: shown("d/x") } : { code: -4, message: "name never existed" }
})

const at = ({ port }: FakeDaemon) => ({ network: "regtest", rpcAddr: `http://127.0.0.1:${port}` }) as const

/** What a promise rejects with. */
const rejection = async (promise: Promise<unknown>): Promise<unknown> => {
  try {
    await promise
  } catch (error) {
    return error
  }
  throw new Error("it was fulfilled")
}

describe("svcd/promise", () => {
  it.scopedLive("rejects with our error classes, each an Error with a tag", () =>
    Effect.gen(function*() {
      const config = at(yield* namedDaemon)
      yield* Effect.promise(async () => {
        const client = await newDaemonClient(config)
        assert.strictEqual(client.mode, "daemon")
        assert.strictEqual((await client.resolveName("d/x", null)).value, "{}")
        assert.deepStrictEqual(await client.listNames(null).catch(({ _tag }) => _tag), "DaemonRefused")
        const missing = await rejection(client.resolveName("d/none"))
        assert.instanceOf(missing, Library.NameNotFound)
        assert.instanceOf(missing, Error)
        assert.strictEqual(missing._tag, "NameNotFound")
        assert.include(missing.message, "d/none")
        assert.instanceOf(await rejection(client.updateName("d/x", "", null)), Library.WalletDisabled)
        assert.deepStrictEqual(await client.freshness(), { height: 700, synced: true, proof: "full" })
        await client.close()
      })
      const wrong = yield* Effect.promise(() => rejection(newClient({ ...config, maxPeers: -1 })))
      assert.instanceOf(wrong, Library.InvalidConfig)
      const port = yield* freePort
      const absent = yield* Effect.promise(() => rejection(newDaemonClient(at({ port, calls: [] }))))
      assert.instanceOf(absent, Library.DaemonUnreachable)
    }))

  it.scopedLive("ends a call by its signal, and all calls by close", () =>
    Effect.gen(function*() {
      const daemon = yield* namedDaemon
      const called = (times: number) =>
        Effect.runPromise(eventually(`${times} calls`, () => daemon.calls.length >= times))
      yield* Effect.promise(async () => {
        const client = await newDaemonClient(at(daemon))
        const opened = daemon.calls.length
        const controller = new AbortController()
        const aborted = rejection(client.resolveName("d/slow", { signal: controller.signal }))
        const reason = new Error("no time")
        await called(opened + 1)
        controller.abort(reason)
        assert.strictEqual(await aborted, reason)
        assert.strictEqual(await rejection(client.resolveName("d/x", { signal: controller.signal })), reason)
        const changes = client.changes({ signal: AbortSignal.abort(reason) })
        assert.strictEqual(await rejection(changes.next()), reason)
        const waiting = rejection(client.resolveName("d/slow"))
        const listening = rejection(client.changes().next())
        await called(opened + 3)
        await Promise.all([client.close(), client.close()])
        assert.instanceOf(await waiting, Library.ClientClosed)
        assert.instanceOf(await listening, Library.ClientClosed)
        assert.instanceOf(await rejection(client.resolveName("d/x")), Library.ClientClosed)
        assert.instanceOf(await rejection(client.changes().next()), Library.ClientClosed)
        assert.isUndefined(await client.closed)
      })
    }))

  it.scopedLive("gives its opening up by the signal, and leaves the directory free", () =>
    Effect.gen(function*() {
      const daemon = yield* fakeDaemon(() => "silence")
      const slow = at(daemon)
      const dataDir = yield* temporaryDirectory
      const embedded = { network: "regtest", dataDir, maxPeers: 0, disableWallet: true } as const
      yield* Effect.promise(async () => {
        const reason = new Error("no time")
        const early = AbortSignal.abort(reason)
        assert.strictEqual(await rejection(newDaemonClient({ ...slow, signal: early })), reason)
        const later = new AbortController()
        const opening = rejection(newDaemonClient({ ...slow, signal: later.signal }))
        await Effect.runPromise(eventually("the daemon is asked", () => daemon.calls.length > 0))
        later.abort(reason)
        assert.strictEqual(await opening, reason)
        const other = new AbortController()
        const opens = rejection(newEmbeddedClient({ ...embedded, signal: other.signal }))
        await Effect.runPromise(eventually("the directory is in use", () => readdirSync(dataDir).length > 0))
        other.abort(reason)
        assert.strictEqual(await opens, reason)
        const open = new AbortController()
        const client = await newEmbeddedClient({ ...embedded, signal: open.signal })
        open.abort()
        assert.strictEqual((await client.freshness()).height, 0)
        await client.close()
      })
    }))

  it.scopedLive("has iterators that end once, for all waiting readers", () =>
    Effect.gen(function*() {
      const config = at(yield* namedDaemon)
      yield* Effect.promise(async () => {
        const client = await newDaemonClient(config)
        const nothing: IteratorResult<Library.NameChange> = { done: true, value: undefined }
        const changes = client.changes()
        const waiting = [changes.next(), changes.next()]
        await changes.return?.()
        assert.deepStrictEqual(await Promise.all([...waiting, changes.next()]), [nothing, nothing, nothing])
        const reason = new Error("no time")
        const aborted = client.changes({ signal: AbortSignal.abort(reason) })
        assert.strictEqual(await rejection(aborted.next()), reason)
        assert.deepStrictEqual(await aborted.next(), nothing)
        assert.instanceOf(await rejection(client.findNames({}).next()), Library.InvalidRequest)
        await client.close()
      })
    }))

  it.scopedLive("can be disposed of", () =>
    Effect.gen(function*() {
      const config = at(yield* namedDaemon)
      yield* Effect.promise(async () => {
        const client = await newDaemonClient(config)
        await client[Symbol.asyncDispose]()
        assert.instanceOf(await rejection(client.resolveName("d/x")), Library.ClientClosed)
      })
    }))

  it.scopedLive("by itself, takes a daemon of the network where one answers, and says so; else none", () =>
    Effect.gen(function*() {
      const config = at(yield* namedDaemon)
      const dataDir = join(yield* temporaryDirectory, "names")
      const more = { mode: ModeAuto, dataDir, maxPeers: 0, disableWallet: true } as const
      const logged: Array<Library.LogEntry> = []
      const log = (entry: Library.LogEntry): void => void logged.push(entry)
      const port = yield* freePort
      yield* Effect.promise(async () => {
        const overDaemon = await newClient({ ...config, ...more, log })
        assert.strictEqual(overDaemon.mode, "daemon")
        await overDaemon.close()
        assert.isFalse(existsSync(dataDir))
        assert.include(logged.map(({ message }) => message), "names come from a daemon")
        for (
          const other of [{ ...config, network: "testnet" }, {
            ...at({ port, calls: [] }),
            network: "testnet"
          }] as const
        ) {
          const alone = await newClient({ ...other, ...more, log })
          assert.strictEqual(alone.mode, "embedded")
          await alone.close()
        }
        const reasons = logged.flatMap(({ fields, message }) =>
          message === "names come from a node in this process" ? [String(fields["reason"])] : []
        )
        assert.include(reasons[0] ?? "", "is on regtest, not testnet")
        assert.include(reasons[1] ?? "", "no daemon answers")
      })
    }))

  it.scopedLive("does not run beside a daemon that requires other credentials, and beside no stranger's server", () =>
    Effect.gen(function*() {
      const closed = yield* fakeDaemon(() => ({ status: 401 }))
      const more = { dataDir: yield* temporaryDirectory, maxPeers: 0, disableWallet: true }
      const refused = yield* Effect.promise(() => rejection(newClient({ ...at(closed), ...more })))
      assert.instanceOf(refused, Library.Unauthorized)
      const strangers = [
        yield* fakeDaemon(() => ({ status: 200, body: "<html>" })),
        // Health reports are common.
        yield* fakeDaemon(() => ({ status: 404, body: "<html>" }), "{\"status\":\"healthy\"}")
      ]
      for (const stranger of strangers) {
        const client = yield* Effect.promise(() => newClient({ ...at(stranger), ...more }))
        assert.strictEqual(client.mode, "embedded")
        yield* Effect.promise(() => client.close())
      }
    }))

  it.scopedLive("runs several nodes in one process, each in its own directory", () =>
    Effect.gen(function*() {
      const filled = yield* temporaryDirectory
      yield* fillDirectory(filled, 30)
      const dirs = [yield* copyOf(filled), yield* temporaryDirectory]
      yield* Effect.promise(async () => {
        const clients = await Promise.all(
          dirs.map((dataDir) => newEmbeddedClient({ network: "regtest", dataDir, maxPeers: 0, disableWallet: true }))
        )
        const heights = await Promise.all(clients.map((client) => client.freshness()))
        assert.deepStrictEqual(heights.map(({ height }) => height), [30, 0])
        const again = newEmbeddedClient({ network: "regtest", dataDir: dirs[0] ?? "", maxPeers: 0 })
        assert.instanceOf(await rejection(again), Library.DataDirectoryInUse)
        await Promise.all(clients.map((client) => client.close()))
      })
    }))

  it("loads a node when one is asked for, writes nothing, and lets a process end by itself once it is closed", () =>
    withDirectoryAsync(async (dataDir) => {
      const { stderr, stdout } = await execute(process.execPath, ["--input-type=module", "-e", USER, dataDir])
      assert.deepStrictEqual([stdout, stderr], ["false true NameNotFound", ""])
    }))
})
