import { assert, describe, it } from "@effect/vitest"
import { Chunk, Effect, Either, Stream } from "effect"
import { decodeConfig } from "../../src/client/config.ts"
import { make } from "../../src/client/daemonClient.ts"
import { pagesOfNames, stillIndexing, wantedNames } from "../../src/client/findNames.ts"
import type { FindFilter } from "../../src/client/options.ts"
import type { NameRecord } from "../../src/client/records.ts"
import { regtestParams } from "../../src/consensus/params.ts"
import type { NameEntry } from "../../src/names/NameEntry.ts"
import { findScanned } from "../../src/node/scannedNames.ts"
import { regtest } from "../../src/protocol/networks.ts"
import { text } from "../names/blocks.ts"
import { type Call, fakeDaemon, type Reply } from "../support/fakeDaemon.ts"

const asOf = { height: 700, synced: true, proof: "full" } as const

const recordOf = (name: string): NameRecord => ({
  name,
  value: "",
  address: "",
  txid: "",
  height: 1,
  expiresIn: 1,
  expired: false,
  asOf
})

const missing = stillIndexing(asOf, 0.5)

const names = (found: Iterable<NameRecord>) => [...found].map(({ name }) => name)

/** What came before a stream ended, and why it failed. */
const outcome = <E extends { readonly _tag: string }>(stream: Stream.Stream<NameRecord, E>) =>
  Effect.gen(function*() {
    const seen: Array<NameRecord> = []
    const end = yield* Effect.either(Stream.runForEach(stream, (record) => Effect.sync(() => void seen.push(record))))
    return [names(seen), Either.isLeft(end) ? end.left._tag : undefined] as const
  })

const shown = (name: string) => ({
  name: Buffer.from(name).toString("hex"),
  value: "",
  txid: "a".repeat(64),
  address: "n1",
  height: 690,
  expires_in: 20,
  expired: false
})

const clientOf = (answer: (call: Call) => Reply | undefined) =>
  Effect.gen(function*() {
    const { calls, port } = yield* fakeDaemon((call) => call.method === "name_find" ? answer(call) : undefined)
    const config = decodeConfig({ network: "regtest", mode: "daemon", rpcAddr: `http://127.0.0.1:${port}` })
    return { calls, client: yield* make(Either.getOrThrow(config), { firstPause: 1 }) }
  })

describe("a search", () => {
  it.effect("reads page by page, and fails at its end if names may be missing", () =>
    Effect.gen(function*() {
      const pages = (isPartial: boolean, lists: ReadonlyArray<ReadonlyArray<string>>, why = missing) => {
        const read = (cursor: string | undefined) => {
          const at = Number(cursor ?? 0)
          const next = at + 1 < lists.length ? String(at + 1) : undefined
          return Effect.succeed({ records: (lists[at] ?? []).map(recordOf), next, missing: why, isPartial })
        }
        return outcome(pagesOfNames(read))
      }
      assert.deepStrictEqual(yield* pages(false, [["a"], [], ["b", "c"]]), [["a", "b", "c"], undefined])
      assert.deepStrictEqual(yield* pages(true, [["a"], ["b"]]), [["a", "b"], "NotSynced"])
      assert.deepStrictEqual(yield* pages(false, [[], []]), [[], "NotSynced"])
    }))

  it.effect("refuses what no search can answer, with the field", () =>
    Effect.sync(() => {
      const field = (filter: FindFilter) => Either.getOrThrow(Either.flip(wantedNames(filter, regtest))).field
      assert.strictEqual(field({}), "filter")
      assert.strictEqual(field({ text: "ab" }), "filter")
      assert.strictEqual(field({ value: "1" }), "filter")
      assert.strictEqual(field({ owner: "nonsense" }), "owner")
      assert.strictEqual(field({ changedSince: -1 }), "changedSince")
      assert.strictEqual(field({ expiresWithin: 0.5 }), "expiresWithin")
      assert.strictEqual(field({ namespace: "x".repeat(256) }), "namespace")
    }))

  it.scopedLive("over a daemon passes the conditions on, and reads what the daemon says of its state", () =>
    Effect.gen(function*() {
      const { calls, client } = yield* clientOf(({ params: [given] }) => {
        const { cursor } = given as { readonly cursor?: string }
        return cursor === undefined
          ? { result: { names: [shown("d/a")], next: "1.text.5", complete: true, indexed: 1 } }
          : { result: { names: [shown("d/b")], complete: true, indexed: 1 } }
      })
      const found = yield* Stream.runCollect(client.findNames({ text: "abc", namespace: "d/", expiresWithin: 9 }))
      assert.deepStrictEqual(names(Chunk.toReadonlyArray(found)), ["d/a", "d/b"])
      const given = calls.filter(({ method }) => method === "name_find").map(({ params: [each] }) => each)
      assert.deepInclude(given[1], { text: "abc", namespace: "642f", expiresWithin: 9, cursor: "1.text.5" })
      const says = (reply: Reply) =>
        Effect.flatMap(clientOf(() => reply), ({ client }) => outcome(client.findNames({ text: "abc" })))
      const page = { names: [shown("d/a")], complete: false, indexed: 0.5 }
      assert.deepStrictEqual(yield* says({ result: page }), [["d/a"], "NotSynced"])
      assert.deepStrictEqual(yield* says({ result: { ...page, indexed: 1 } }), [["d/a"], undefined])
      assert.deepStrictEqual(yield* says({ result: { ...page, names: [], indexed: 1 } }), [[], "NotSynced"])
      assert.deepStrictEqual(yield* says({ code: -32601, message: "Method not found" }), [[], "DaemonRefused"])
      assert.deepStrictEqual(yield* says({ code: -1, message: "needs all" }), [[], "NotSynced"])
      assert.deepStrictEqual(yield* says({ result: { names: {} } }), [[], "DaemonRefused"])
    }))

  it.effect("in a window looks at each name, and refuses what rests on too little", () =>
    Effect.gen(function*() {
      const entry = (name: string, value: string): NameEntry => ({
        name: text(name),
        value: text(value),
        height: 690,
        txid: new Uint8Array(32),
        vout: 0,
        address: new Uint8Array(0),
        op: "name_update",
        amount: 0
      })
      const scan = Stream.make(
        { record: entry("d/one", "Example"), proof: "signatures" } as const,
        { record: entry("d/two", "{\"ip\":\"192.0.2.1\"}"), proof: "work" } as const,
        { record: { ...entry("d/old", "example"), height: 1 }, proof: "signatures" } as const
      )
      const find = (filter: FindFilter) => {
        const { query } = Either.getOrThrow(wantedNames(filter, regtest))
        const { requireProof } = filter
        const options = { requireProof }
        const atEnd = Effect.sync(() => end)
        return outcome(findScanned(scan, { query, params: regtestParams, asOf, atEnd, options, refuse: () => missing }))
      }
      let end = { height: 700, synced: true, proof: "work" as const }
      assert.deepStrictEqual(yield* find({ text: "example" }), [["d/one"], undefined])
      assert.deepStrictEqual(yield* find({ key: "ip", value: "192.0.2.1" }), [["d/two"], undefined])
      assert.deepStrictEqual(yield* find({ text: "example", requireProof: "signatures" }), [["d/one"], undefined])
      assert.deepStrictEqual(yield* find({ namespace: "d/", requireProof: "signatures" }), [["d/one"], "NotSynced"])
      // The window began again: the scan may lack names.
      end = { ...end, synced: false }
      assert.deepStrictEqual(yield* find({ text: "example" }), [["d/one"], "NotSynced"])
      end = { ...end, synced: true, height: 699 }
      assert.deepStrictEqual(yield* find({ text: "example" }), [["d/one"], "NotSynced"])
    }))
})
