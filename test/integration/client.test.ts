import { assert, describe, it } from "@effect/vitest"
import { Chunk, Effect, Fiber, Layer, Logger, Schedule, Stream } from "effect"
import { decodeConfig } from "../../src/client/config.ts"
import * as DaemonClient from "../../src/client/daemonClient.ts"
import { NameClient } from "../../src/client/NameClient.ts"
import type { RegistrationProgress } from "../../src/client/options.ts"
import { type NameChange, OperationResult } from "../../src/client/records.ts"
import { AutoClient } from "../../src/node/clients.ts"
import { temporaryDirectory } from "../support/chain.ts"
import { freePort, type Node, startNode, wholeDirectory } from "../support/daemon.ts"
import { eventually } from "../support/eventually.ts"
import { assertRecordClasses, sound } from "../support/recordClasses.ts"

const quiet = Logger.remove(Logger.defaultLogger)

/** A chain of 110 blocks, whose coins are the wallet's. */
const funded = Effect.gen(function*() {
  const node = yield* startNode(yield* temporaryDirectory)
  yield* node.ready
  const address = String(yield* node.call("getnewaddress"))
  const mine = (blocks: number) => node.call("generatetoaddress", blocks, address)
  yield* mine(110)
  return { node, mine }
})

/** A client that polls the daemon often. */
const clientOf = ({ port }: Node) =>
  Layer.scoped(
    NameClient,
    Effect.flatMap(
      decodeConfig({ network: "regtest", rpcAddr: `http://127.0.0.1:${port}` }),
      (config) => DaemonClient.make(config, { interval: 50 })
    )
  ).pipe(Layer.provide(quiet))

/** The kind of client that results where an address is given. */
const modeAt = (rpcAddr: string) =>
  Effect.flatMap(temporaryDirectory, (dataDir) =>
    Effect.provide(
      Effect.map(NameClient, ({ mode }) => mode),
      Layer.provide(AutoClient.layer({ network: "regtest", rpcAddr, dataDir, maxPeers: 0, disableWallet: true }), quiet)
    ))

describe("a client over a running daemon", () => {
  it.scopedLive("registers, updates and lists names, and reports changes and their rollback", () =>
    Effect.gen(function*() {
      const { mine, node } = yield* funded
      yield* Effect.gen(function*() {
        const client = yield* NameClient
        assert.strictEqual(client.mode, "daemon")
        const changes: Array<NameChange> = []
        yield* Effect.fork(
          Stream.runForEach(
            client.changes({ namespace: "d/" }),
            (change) => Effect.sync(() => void changes.push(change))
          )
        )
        const steps: Array<RegistrationProgress["step"]> = []
        const registering = yield* Effect.fork(client.registerName("d/ü", "eins", {
          anyName: true,
          waitFor: "registered",
          onProgress: ({ step }) => void steps.push(step)
        }))
        yield* Effect.race(Fiber.join(registering), Effect.forever(Effect.delay(mine(1), "60 millis")))
        const { txHash } = yield* Fiber.join(registering)
        // Progress is reported once a poll, which may be never where blocks come this fast.
        assert.deepStrictEqual(steps.filter((step) => step !== "waiting"), ["announced", "claimed", "registered"])
        const registered = yield* client.resolveName("d/ü")
        assert.deepStrictEqual([registered.value, registered.txid], ["eins", txHash])

        const updating = yield* Effect.fork(client.updateName("d/ü", "zwei", { waitFor: "confirmed" }))
        yield* Effect.race(Fiber.join(updating), Effect.forever(Effect.delay(mine(1), "100 millis")))
        const update = yield* Fiber.join(updating)
        const updated = yield* client.resolveName("d/ü")
        assert.deepStrictEqual([updated.value, updated.txid], ["zwei", update.txHash])
        assert.deepStrictEqual((yield* client.listNames({ namespace: "d/" })).map(({ value }) => value), ["zwei"])
        for (const result of [yield* Fiber.join(registering), update]) sound(OperationResult, result)
        yield* assertRecordClasses(client)

        const tells = (what: (change: NameChange) => boolean) =>
          Effect.suspend(() => changes.some(what) ? Effect.void : Effect.fail("not yet")).pipe(
            Effect.retry(Schedule.spaced("20 millis")),
            Effect.timeout("20 seconds")
          )
        yield* tells(({ record }) => record?.value === "zwei")
        yield* node.call("invalidateblock", yield* node.call("getblockhash", updated.height))
        yield* tells(({ height, record }) => height === updated.height && record?.value === "eins")
        assert.deepStrictEqual(changes[0]?.record?.value, "eins")
        // On a busy machine a daemon may answer later than a client waits for it.
        const found = Effect.repeat(modeAt(`127.0.0.1:${node.port}`), { until: (mode) => mode === "daemon", times: 4 })
        assert.strictEqual(yield* found, "daemon")
        assert.strictEqual(yield* modeAt(`127.0.0.1:${yield* freePort}`), "embedded")
      }).pipe(Effect.provide(clientOf(node)))
    }))

  it.scopedLive("tells each change once though the daemon is killed and started again", () =>
    Effect.gen(function*() {
      const directory = yield* wholeDirectory
      const first = yield* startNode(directory)
      yield* first.ready
      yield* Effect.gen(function*() {
        const client = yield* NameClient
        const seen: Array<NameChange> = []
        yield* Effect.forkScoped(
          Stream.runForEach(client.changes({ from: "0" }), (change) => Effect.sync(() => void seen.push(change)))
        )
        const count = (atLeast: number) => eventually(`${atLeast} changes`, () => seen.length >= atLeast)
        yield* count(1)
        let running = first.running
        for (let round = 0; round < 3; round++) {
          yield* running.end("SIGKILL")
          running = (yield* startNode(directory, "-rpcaddr", `127.0.0.1:${first.port}`)).running
          const isReady = Effect.map(Effect.orElseSucceed(first.status("/ready"), () => 0), (status) => status === 200)
          yield* eventually("the node", isReady)
          const address = String(yield* first.call("getnewaddress"))
          const before = seen.length
          // The names of the fixture expire.
          yield* first.call("generatetoaddress", 7, address)
          yield* count(before + 1)
        }
        const height = Number(yield* first.call("getblockcount"))
        const whole = yield* Effect.fork(Stream.runCollect(
          client.changes({ from: "0" }).pipe(Stream.takeUntil(({ cursor }) => cursor === seen.at(-1)?.cursor))
        ))
        assert.deepStrictEqual(
          Chunk.toReadonlyArray(yield* Fiber.join(whole)).map(({ cursor, name, type }) => [cursor, type, name]),
          seen.map(({ cursor, name, type }) => [cursor, type, name])
        )
        assert.strictEqual(height, 600 + 3 * 7)
      }).pipe(Effect.provide(clientOf(first)))
    }))
})
