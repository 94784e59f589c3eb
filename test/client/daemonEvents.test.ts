import { assert, describe, it } from "@effect/vitest"
import { Chunk, Effect, Either, FastCheck, Fiber, Stream } from "effect"
import { type AddressInfo, connect, createServer, type Socket } from "node:net"
import { decodeConfig } from "../../src/client/config.ts"
import { make } from "../../src/client/daemonClient.ts"
import { changesIn } from "../../src/client/daemonEvents.ts"
import { liveChangesIn } from "../../src/client/liveChanges.ts"
import type { ChangeFilter } from "../../src/client/options.ts"
import { recordAt } from "../../src/client/record.ts"
import type { NameChange } from "../../src/client/records.ts"
import { regtestParams } from "../../src/consensus/params.ts"
import type { PageRequest } from "../../src/http/Pages.ts"
import { eventsStarting } from "../../src/web/events/eventsPage.ts"
import { applyAll, text } from "../names/blocks.ts"
import { eventually } from "../support/eventually.ts"
import { chainAt } from "../support/fakeDaemon.ts"
import { ALICE, branch, LISTS, rand, world } from "../web/events/served.ts"

const METHODS = [chainAt(2)]

const clientAt = (port: number) =>
  make(Either.getOrThrow(decodeConfig({ network: "regtest", mode: "daemon", rpcAddr: `http://127.0.0.1:${port}` })), {
    firstPause: 1
  })

/**
 * Passes connections on, and cuts each that asks for events after so many bytes of the answer. Before it is there, and
 * between, the daemon is away.
 */
const cuttingProxy = (port: number, cuts: ReadonlyArray<number>) =>
  Effect.acquireRelease(
    Effect.async<{ readonly port: number; readonly connections: () => number; readonly close: () => void }>(
      (resume) => {
        const open = new Set<Socket>()
        let count = 0
        const server = createServer((near) => {
          const far = connect(port, "127.0.0.1")
          let left = Infinity
          for (const socket of [near, far]) {
            open.add(socket)
            socket.on("error", () => {})
            socket.on("close", () => {
              open.delete(socket)
              near.destroy()
              far.destroy()
            })
          }
          near.on("data", (part) => {
            if (part.toString("latin1").startsWith("GET /events")) left = cuts[count++] ?? Infinity
            far.write(part)
          })
          far.on("data", (part) => {
            near.write(part.subarray(0, left))
            left -= part.length
            if (left <= 0) near.destroySoon()
          })
        })
        const close = (): void => {
          server.close()
          for (const socket of open) socket.destroy()
        }
        server.listen(0, "127.0.0.1", () => {
          const { port } = server.address() as AddressInfo
          resume(Effect.succeed({ port, connections: () => count, close }))
        })
      }
    ),
    ({ close }) => Effect.sync(close)
  )

const NAMES = Array.from({ length: 40 }, (_, i) => ({ name: text(`d/${i}`), rand, value: text(`${i}`) }))

const told = ({ name, record, type }: NameChange) => `${type} ${name} ${record?.value}`

describe("changes over the events of a daemon", () => {
  it.live("has only changes of watched names, or of names of the daemon's wallets, if the program asks for them", () =>
    world(LISTS, ({ port }) =>
      Effect.scoped(Effect.gen(function*() {
        const client = yield* clientAt(port)
        const first = (filter: ChangeFilter, count: number) =>
          client.changes({ from: "0", ...filter }).pipe(
            Stream.take(count),
            Stream.runCollect,
            Effect.map((found) => [...found].map(told))
          )
        assert.deepStrictEqual(yield* first({ watched: true }, 2), ["registered d/a 1", "updated d/a 3"])
        assert.deepStrictEqual(yield* first({ mine: true }, 1), ["registered id/b 2"])
        assert.lengthOf(yield* first({ mine: true, watched: true }, 3), 3)
      })), { methods: METHODS }))

  it.live("has each change once and in order, wherever connections are cut", () =>
    world([...LISTS, NAMES], ({ blocks, branches, db, port }) =>
      Effect.scoped(Effect.gen(function*() {
        const [, , fork] = blocks
        if (fork === undefined) return
        const cuts = FastCheck.sample(FastCheck.integer({ min: 0, max: 8_000 }), { numRuns: 12, seed: 1 })
        const proxy = yield* cuttingProxy(port, cuts)
        const client = yield* clientAt(proxy.port)
        const seen: Array<NameChange> = []
        yield* Effect.fork(
          Stream.runForEach(client.changes({ from: "0" }), (change) => Effect.sync(() => void seen.push(change)))
        )
        yield* eventually("the past", () => seen.length === 43)
        const fresh = branch("b", 3, [[{ name: text("d/a"), value: text("5") }], [{ name: text("d/0"), rand }]])
        branches.add(fresh, fork)
        branches.tip = fresh.at(-1)
        yield* db.follower.rewind(fork)
        yield* applyAll(db, [fresh])
        yield* eventually("the reorganization", () => seen.length === 43 + 40 + 2)
        assert.isAtLeast(proxy.connections(), 5)
        assert.deepStrictEqual(seen.slice(0, 4).map(told), [
          "registered d/a 1",
          "registered id/b 2",
          "updated d/a 3",
          "registered d/0 0"
        ])
        assert.deepStrictEqual(
          seen.slice(43, 83).map(told),
          NAMES.map(({ name }) => `undone ${Buffer.from(name).toString()} undefined`)
        )
        assert.deepStrictEqual(seen.slice(83).map(told), ["updated d/a 5", "registered d/0 4.0"])
        assert.strictEqual(new Set(seen.map(({ cursor }) => cursor)).size, seen.length)
        const [last] = seen.slice(-1)
        assert.deepStrictEqual(last?.record?.asOf, { height: 4, synced: true, proof: "full" })
        assert.strictEqual(seen[2]?.before?.value, "1")
        assert.strictEqual(seen[2]?.record?.asOf.height, 2)
        // From any cursor on the rest follows, even from within the names of a block that was undone.
        const shared = seen.slice(0, 3)
        for (const at of [0, 2, 10, 42, 43, 50, 82, 83]) {
          const rest = at < 3
            ? [...shared.slice(at + 1), ...seen.slice(83)]
            : seen.slice(at < 43 ? 43 : at + 1)
          const again = yield* client.changes({ from: seen[at]?.cursor ?? "" }).pipe(
            Stream.take(rest.length),
            Stream.runCollect
          )
          assert.deepStrictEqual(Chunk.toReadonlyArray(again).map(told), rest.map(told), `from change ${at}`)
        }
      })), { methods: METHODS }))

  it.live("waits while the daemon starts, and begins with the filter of the caller", () =>
    world(LISTS, ({ page, pages, port }) =>
      Effect.scoped(Effect.gen(function*() {
        const client = yield* clientAt(port)
        const read = (filter: ChangeFilter) =>
          Effect.map(
            Stream.runCollect(Stream.take(client.changes({ from: "0", ...filter }), 1)),
            (found) => Chunk.toReadonlyArray(found).map(told)
          )
        const asked: Array<PageRequest> = []
        const starting = eventsStarting(() => ({ _tag: "WarmUp", step: "Loading" }))
        yield* pages.install([{
          ...starting,
          answer: (request) => {
            asked.push(request)
            return starting.answer(request)
          }
        }])
        const reading = yield* Effect.fork(read({ types: ["updated"] }))
        yield* eventually("a second attempt", () => asked.length > 1)
        yield* pages.install([page])
        assert.deepStrictEqual(yield* Fiber.join(reading), ["updated d/a 3"])
        assert.deepStrictEqual(yield* read({ namespace: "id/" }), ["registered id/b 2"])
        assert.deepStrictEqual(yield* read({ owner: ALICE }), ["registered id/b 2"])
        assert.deepStrictEqual(yield* read({ name: ["d/none", "id/b"] }), ["registered id/b 2"])
      })), { methods: METHODS }))

  it.live("fails with the reason where changes behind a cursor are not known", () =>
    world(LISTS, ({ port }) =>
      Effect.scoped(Effect.gen(function*() {
        const client = yield* clientAt(port)
        const failure = (filter: ChangeFilter) => Effect.flip(Stream.runDrain(client.changes(filter)))
        for (
          const [from, why] of [["x", "damaged"], ["a0000001.08388608.0123456789abcdef", "unknown"], [
            "a9999999.08388608.0123456789abcdef",
            "future"
          ]] as const
        ) {
          assert.deepInclude({ ...yield* failure({ from }) }, {
            _tag: "CursorUnusable",
            why,
            oldest: "0",
            cursor: from
          })
        }
        for (
          const filter of [{ from: "" }, { owner: "x" }, { name: "x".repeat(256) }, {
            namespace: Array(101).fill("d/")
          }]
        ) {
          const [field = ""] = Object.keys(filter)
          assert.deepInclude({ ...yield* failure(filter) }, { _tag: "InvalidRequest", field })
        }
      })), { methods: METHODS }))

  it.effect("reads no lines that are not those of svcd", () =>
    Effect.sync(() => {
      const record = { name: "642f61", value: "", address: "", txid: "00", height: 1 }
      const good = { type: "updated", height: 1, hash: "00", name: "642f61", record }
      const read = (event: Record<string, unknown>) =>
        changesIn({ cursor: "c", event }, (fixed, height) =>
          recordAt(fixed, { height, synced: false, proof: "work" }, regtestParams))
      const [change] = read(good) ?? []
      assert.deepInclude(change, { type: "updated", name: "d/a" })
      assert.deepStrictEqual(read({ type: "position" }), [])
      // A name that is not UTF-8 is not a name for an application.
      assert.deepStrictEqual(read({ ...good, name: "ff", record: { ...record, name: "ff" } }), [])
      for (
        const wrong of [{ type: "born" }, { height: -0.5 }, { hash: 1 }, { name: 1 }, { record: undefined }, {
          type: "undone",
          names: [{}]
        }]
      ) {
        assert.strictEqual(read({ ...good, ...wrong }), undefined, JSON.stringify(wrong))
      }
      const operation = { operation: "renewed", name: "642f61", value: "ff", address: "<nonstandard>", txid: "00" }
      const waiting = { ...operation, type: "pending" }
      const now = (event: Record<string, unknown>) =>
        liveChangesIn(event)
      assert.deepStrictEqual(now(waiting), [
        { type: "pending", operation: "renewed", name: "d/a", value: "\ufffd", valueHex: "ff", address: "", txid: "00" }
      ])
      assert.deepStrictEqual(now({ ...waiting, name: "ff" }), [])
      assert.deepStrictEqual(now({ type: "synced", height: 7 }), [{ type: "synced", height: 7 }])
      for (
        const wrong of [{ type: "born" }, { operation: "expired" }, { txid: 1 }, { value: "x" }, {
          type: "pending_dropped",
          reason: "boredom"
        }, { type: "synced", height: "7" }]
      ) {
        assert.strictEqual(now({ ...waiting, ...wrong }), undefined, JSON.stringify(wrong))
      }
    }))
})
