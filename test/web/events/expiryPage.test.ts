import { assert, describe, it } from "@effect/vitest"
import { Effect, Layer, Stream } from "effect"
import ICAL from "ical.js"
import * as ExpiringNames from "../../../src/alerts/ExpiringNames.ts"
import * as WatchList from "../../../src/alerts/WatchList.ts"
import { Chain } from "../../../src/chain/Chain.ts"
import { regtestParams } from "../../../src/consensus/params.ts"
import { pageRequest } from "../../../src/http/Pages.ts"
import { NameAnswers } from "../../../src/light/NameAnswers.ts"
import { NameDb } from "../../../src/names/NameDb.ts"
import { decodeBlock } from "../../../src/protocol/block.ts"
import { regtest } from "../../../src/protocol/networks.ts"
import { eventsStarting } from "../../../src/web/events/eventsPage.ts"
import { expiryPage } from "../../../src/web/events/expiryPage.ts"
import { blockAt, hashAt, type Operation, text, withNewDb } from "../../names/blocks.ts"
import { noTree } from "../../support/noTree.ts"
import { noWallets } from "../../support/noWallets.ts"
import { httpRequest, testServer } from "../../support/rpcServer.ts"
import { ALICE, ALICE_SCRIPT, OPTIONS, rand } from "./served.ts"

const { header } = decodeBlock(regtest.genesisBlock)

interface World {
  readonly state: { light: boolean; complete: boolean; searching: boolean; hash: Uint8Array }
  /** Connects a block with these operations. */
  readonly block: (operations?: ReadonlyArray<Operation>) => Effect.Effect<void, unknown>
  readonly watch: typeof WatchList.WatchList.Service
  readonly get: (
    query?: string,
    headers?: Record<string, string>
  ) => Effect.Effect<
    { readonly status: number; readonly headers: Record<string, unknown>; readonly text: string },
    Error
  >
  /** The methods that a user with rights needs. */
  readonly needs: ReadonlyArray<string> | undefined
  readonly summaries: (query?: string) => Effect.Effect<ReadonlyArray<string>, Error>
}

/** A node with d/a of Alice, and d/b and d/c of others, registered in block 1; it watches d/b, and has Alice's key. */
const world = (use: (world: World) => Effect.Effect<void, unknown>) =>
  Effect.scoped(withNewDb((db) =>
    Effect.gen(function*() {
      const state: World["state"] = { light: false, complete: true, searching: false, hash: hashAt(1) }
      let height = 1
      yield* db.follower.apply([
        blockAt(0),
        blockAt(1, [
          { name: text("d/a"), rand, owner: ALICE_SCRIPT },
          { name: text("d/b"), rand },
          { name: text("d/c"), rand }
        ])
      ])
      const services = ExpiringNames.layer.pipe(
        Layer.provideMerge(WatchList.layerMemory),
        Layer.provideMerge(noWallets),
        Layer.provideMerge(Layer.succeed(NameDb, db)),
        Layer.provideMerge(Layer.mock(Chain, {
          params: regtestParams,
          tree: noTree,
          events: Stream.empty,
          toldTip: Effect.sync(() => ({
            hash: state.hash,
            height,
            header,
            chainwork: 1n,
            medianTimePast: header.time,
            transactions: 1,
            size: 0,
            confirmations: 1,
            next: undefined
          }))
        })),
        Layer.provideMerge(Layer.mock(NameAnswers, {
          fromWindow: () => state.light,
          atOnce: () => undefined,
          proofOfAbsence: () => "full",
          complete: Effect.sync(() => state.complete)
        })),
        Layer.provideMerge(OPTIONS)
      )
      const context = yield* Layer.build(services)
      const watch = yield* Effect.provide(WatchList.WatchList, context)
      const real = yield* Effect.provide(ExpiringNames.ExpiringNames, context)
      const isMine = (script: Uint8Array) => Buffer.from(ALICE_SCRIPT).equals(script)
      const page = yield* expiryPage.pipe(
        Effect.provideService(ExpiringNames.ExpiringNames, { ...real, isMine, isSearching: () => state.searching }),
        Effect.provide(context)
      )
      yield* watch.add([text("d/b")])
      const { pages, port } = yield* testServer()
      yield* pages.install([page])
      const get: World["get"] = (query = "", headers = {}) =>
        httpRequest(port, { path: `/events/expiry.ics${query}`, headers })
      yield* use({
        state,
        watch,
        get,
        needs: page.needs?.(pageRequest("/events/expiry.ics?name=d/a")),
        block: (operations = []) =>
          Effect.gen(function*() {
            height++
            state.hash = hashAt(height)
            yield* db.follower.apply([blockAt(height, operations)])
          }),
        summaries: (query) =>
          Effect.map(get(query), ({ status, text: whole }) => {
            assert.strictEqual(status, 200, whole)
            return new ICAL.Component(ICAL.parse(whole)).getAllSubcomponents("vevent")
              .map((each) => String(each.getFirstPropertyValue("summary")))
          })
      })
    })
  ))

describe("GET /events/expiry.ics", () => {
  it.live("has the names of the selection until they expire", () =>
    world(({ block, summaries }) =>
      Effect.gen(function*() {
        assert.deepStrictEqual(yield* summaries(), ["d/b expires"])
        assert.deepStrictEqual(yield* summaries("?watched=1"), ["d/b expires"])
        assert.deepStrictEqual(yield* summaries("?mine=1"), [])
        assert.deepStrictEqual(yield* summaries("?name=d/c&name=d/none&name=d/a&name=d/c"), [
          "d/a expires",
          "d/c expires"
        ])
        assert.deepStrictEqual(yield* summaries(`?owner=${ALICE}`), ["d/a expires"])
        assert.deepStrictEqual(yield* summaries(`?owner=${ALICE}&name=d/c`), [])
        assert.deepStrictEqual(yield* summaries("?watched=1&name=d/c"), [])
        assert.deepStrictEqual(yield* summaries("?name=642f63&nameEncoding=hex"), ["d/c expires"])
        for (let i = 0; i < 20; i++) yield* block()
        yield* block([{ name: text("d/c") }])
        for (let i = 0; i < 10; i++) yield* block()
        assert.deepStrictEqual(yield* summaries("?name=d/a&name=d/c"), ["d/c expires"])
      })
    ))

  it.live("has a version that changes with the tip and with the names, and no body for a caller that has it", () =>
    world(({ block, get, state, watch }) =>
      Effect.gen(function*() {
        const first = yield* get()
        assert.strictEqual(first.headers["content-type"], "text/calendar; charset=utf-8")
        const again = yield* get()
        assert.deepStrictEqual([again.text, again.headers["etag"]], [first.text, first.headers["etag"]])
        const tag = String(first.headers["etag"])
        for (const known of [tag, `W/${tag}`, `"x", ${tag}`, "*"]) {
          const same = yield* get("", { "if-none-match": known })
          assert.deepStrictEqual([same.status, same.text, same.headers["etag"]], [304, "", tag])
          assert.notProperty(same.headers, "content-length")
        }
        assert.strictEqual((yield* get("", { "if-none-match": `"x"` })).status, 200)
        yield* watch.add([text("d/c")])
        const more = yield* get("", { "if-none-match": tag })
        assert.deepStrictEqual([more.status, more.text.match(/SUMMARY/g)?.length], [200, 2])
        yield* block()
        assert.strictEqual((yield* get("", { "if-none-match": String(more.headers["etag"]) })).status, 200)
        const before = (yield* get()).headers["etag"]
        state.hash = hashAt(99)
        assert.notStrictEqual((yield* get()).headers["etag"], before)
      })
    ))

  it.live("is refused with the reason while names may be missing: an empty calendar would delete the events", () =>
    world(({ get, state }) =>
      Effect.gen(function*() {
        const refusal = (query?: string) =>
          Effect.map(get(query), ({ headers, status, text: body }) => {
            assert.strictEqual(headers["retry-after"], "60")
            return `${status} ${JSON.parse(body).error}`
          })
        state.searching = true
        assert.match(yield* refusal(), /^503 names of a wallet may be missing/)
        assert.strictEqual((yield* get("?watched=1")).status, 200)
        state.complete = false
        assert.match(yield* refusal(), /^503 names may be missing while the node downloads blocks/)
        state.light = true
        assert.match(yield* refusal(), /^503 the calendar needs the whole chain/)
      })
    ))

  it.live("refuses parts that it does not have, and needs the right to see the names of the wallets", () =>
    world(({ get, needs }) =>
      Effect.gen(function*() {
        assert.deepStrictEqual(needs, ["name_expiring"])
        for (
          const [query, reason] of [
            ["?types=expiring", `"types" is not one of name, owner, mine, watched, nameEncoding`],
            ["?mine=1&mine=1", "mine: is given more than once"],
            ["?watched=yes", `watched: "yes" is not one of 0, 1`],
            ["?owner=x", "owner: "]
          ] as const
        ) {
          const { status, text: body } = yield* get(query)
          assert.strictEqual(status, 400)
          assert.include(JSON.parse(body).error, reason)
        }
      })
    ))

  it.effect("answers with 503 while the node starts", () =>
    Effect.gen(function*() {
      const starting = eventsStarting(() => ({ _tag: "WarmUp", step: "Loading" }))
      const request = pageRequest("/events/expiry.ics")
      assert.isTrue(starting.serves(request))
      assert.strictEqual((yield* starting.answer(request)).status, 503)
    }))
})
