import { assert, describe, it } from "@effect/vitest"
import { Context, Effect, Either, Layer, Stream } from "effect"
import * as ExpiringNames from "../../../src/alerts/ExpiringNames.ts"
import { SyncStatus } from "../../../src/chain/SyncStatus.ts"
import { decodeConfig } from "../../../src/client/config.ts"
import { make as daemonClient } from "../../../src/client/daemonClient.ts"
import { changesBy } from "../../../src/client/liveChanges.ts"
import type { LiveChange, LiveFilter } from "../../../src/client/options.ts"
import type { NameChange } from "../../../src/client/records.ts"
import { pageRequest } from "../../../src/http/Pages.ts"
import { NameAnswers } from "../../../src/light/NameAnswers.ts"
import { SyncReporter } from "../../../src/light/SyncReporter.ts"
import * as LiveEvents from "../../../src/mempool/live/LiveEvents.ts"
import { Mempool } from "../../../src/mempool/Mempool.ts"
import * as NameEvents from "../../../src/names/events/NameEvents.ts"
import { NameDb } from "../../../src/names/NameDb.ts"
import * as EmbeddedNames from "../../../src/node/embeddedNames.ts"
import { displayHash } from "../../../src/protocol/bytes.ts"
import type { NameOperation } from "../../../src/protocol/nameOperation.ts"
import type { Transaction } from "../../../src/protocol/transaction.ts"
import * as DataHealth from "../../../src/storage/DataHealth.ts"
import { eventsPage } from "../../../src/web/events/eventsPage.ts"
import { servicesOf } from "../../support/chain.ts"
import { eventually } from "../../support/eventually.ts"
import { chainAt } from "../../support/fakeDaemon.ts"
import { FEE, nameTx, output, reward } from "../../support/mempool.ts"
import { MethodNode } from "../../support/methodNode.ts"
import { nameNew, saltOf, text } from "../../support/regtest.ts"
import { testServer } from "../../support/rpcServer.ts"
import { mine, spendableNode } from "../../support/spendableNode.ts"
import { wholeAnswers } from "../../support/wholeAnswers.ts"
import { eventsOf, LINES, OPTIONS, type Reader, reader } from "./served.ts"

/** Operations from the mempool to a block, as readers of `/events` and programs see them. */

const NAME = text("d/test")

/** No text in any encoding: bytes that would end a line, an event or a text. */
const STRANGE = Uint8Array.of(0x64, 0x2f, 0xff, 0x0a, 0x0a, 0x00, 0x22)

const first = (name: Uint8Array, salt: number): NameOperation => ({
  op: "name_firstupdate",
  name,
  rand: saltOf(salt),
  value: text("one")
})

const update = (value: string, spent: Transaction, fee = FEE) =>
  nameTx({ op: "name_update", name: NAME, value: text(value) }, [output(spent), output(spent, 1)], { fee })

const METHODS = [chainAt(139)]

/** `/events` of the node over HTTP, and the changes of a client in its process. */
const served = Effect.gen(function*() {
  const { chain, expiring, names, pool, status } = yield* MethodNode
  const context = yield* Layer.build(
    Layer.mergeAll(NameEvents.layer, LiveEvents.layer, Layer.succeed(ExpiringNames.ExpiringNames, expiring)).pipe(
      Layer.provideMerge(wholeAnswers),
      Layer.provideMerge(Layer.mergeAll(
        DataHealth.layer,
        servicesOf(chain),
        Layer.succeed(NameDb, names),
        Layer.succeed(Mempool, pool),
        Layer.succeed(SyncStatus, status)
      ))
    )
  )
  const { pages, port } = yield* testServer({ methods: METHODS })
  const page = yield* Effect.provide(eventsPage, [Layer.succeedContext(context), OPTIONS])
  yield* pages.install([page])
  const { report } = Context.get(context, SyncReporter)
  const answers = Context.get(context, NameAnswers)
  const embedded = yield* Effect.provide(EmbeddedNames.make({ answers, report, requireProof: undefined }), context)
  return { page, port, embedded: changesBy(embedded.changes) }
})

const clientAt = (port: number) =>
  daemonClient(
    Either.getOrThrow(decodeConfig({ network: "regtest", mode: "daemon", rpcAddr: `http://127.0.0.1:${port}` }))
  )

interface Told {
  readonly id: string | undefined
  readonly event: Readonly<Record<string, unknown>>
}

/** The Server-Sent Events of a reader: the last id at each, as a browser keeps it. */
const told = (from: Reader): ReadonlyArray<Told> => {
  let id: string | undefined
  return from.received().split("\n\n").slice(0, -1).flatMap((block) => {
    const lines = block.split("\n")
    id = lines.find((line) => line.startsWith("id: "))?.slice(4) ?? id
    const data = lines.find((line) => line.startsWith("data: "))?.slice(6)
    return data === undefined ? [] : [{ id, event: JSON.parse(data) }]
  })
}

const shownEvent = (event: Readonly<Record<string, unknown>>): string =>
  [event["type"], event["operation"], event["value"], event["reason"]].filter((each) => each !== undefined).join(" ")

const shownChange = (change: NameChange | LiveChange): string => {
  switch (change.type) {
    case "pending":
      return `pending ${change.operation} ${change.value}`
    case "pending_dropped":
      return `pending_dropped ${change.operation} ${change.value} ${change.reason}`
    case "pending_reset":
    case "synced":
      return change.type
    default:
      return `${change.type} ${change.record?.value}`
  }
}

/** Collects the changes of a client. */
const collected = (changes: Stream.Stream<NameChange | LiveChange, unknown>) =>
  Effect.gen(function*() {
    const seen: Array<NameChange | LiveChange> = []
    yield* Effect.forkScoped(Stream.runForEach(changes, (change) => Effect.sync(() => void seen.push(change))))
    return seen
  })

const idOf = ({ txid }: Transaction): string => displayHash(txid)

const TYPES = "registered,updated,pending,pending_dropped,synced"

describe("live events", () => {
  it.scopedLive("tell what waits, what replaces it, and what a block has, to every kind of reader", () =>
    Effect.gen(function*() {
      const { pool } = yield* MethodNode
      const { embedded, port } = yield* served
      const commitments = [
        nameTx(nameNew(NAME, saltOf(1)), [reward(1)]),
        nameTx(nameNew(STRANGE, saltOf(2)), [reward(2)])
      ] as const
      yield* mine(...commitments)
      for (let i = 0; i < 11; i++) yield* mine()
      const [named, strange] = commitments
      const registration = nameTx(first(NAME, 1), [output(named), output(named, 1)])
      yield* mine(registration)

      const events = yield* reader(port, `?types=${TYPES}&prefix=d/`)
      const shown = () => told(events).map(({ event }) => shownEvent(event))
      const filter: LiveFilter = {
        types: ["registered", "updated", "pending", "pending_dropped", "synced"],
        namespace: "d/"
      }
      const client = yield* clientAt(port)
      const programs = [yield* collected(client.changes(filter)), yield* collected(embedded(filter))]
      const quiet = yield* reader(port, "", LINES)
      const alone = yield* reader(port, "?types=synced", LINES)
      yield* eventually(
        "the beginning",
        () =>
          shown().length === 2 && programs.every((seen) => seen.length === 2) &&
          quiet.lines().length >= 1 && eventsOf(alone).length === 1
      )

      const one = update("two", registration)
      const two = update("three", registration, 3 * FEE)
      const odd = nameTx(first(STRANGE, 2), [output(strange), output(strange, 1)])
      yield* pool.accept(one)
      yield* pool.accept(two)
      yield* eventually("the replacement", () => shown().length === 5)
      const before = told(events).at(-1)?.id
      yield* mine(two)
      yield* eventually("the block", () => shown().length === 6)
      yield* pool.accept(odd)
      const expected = [
        "synced",
        "pending_reset",
        "pending updated two",
        "pending_dropped updated two replaced",
        "pending updated three"
      ]
      yield* eventually("the strange name", () => shown().length === 7)
      assert.deepStrictEqual(shown(), [...expected, "updated", "pending registered one"])
      const [synced, , pending, dropped, , block, last] = told(events)
      assert.deepStrictEqual(synced?.event, { type: "synced", height: 152 })
      assert.deepStrictEqual(Object.keys(pending?.event ?? {}), [
        "type",
        "operation",
        "namespace",
        "name",
        "name_encoding",
        "value",
        "value_encoding",
        "txid",
        "vout",
        "address"
      ])
      assert.deepInclude(pending?.event, { name: "d/test", namespace: "d/", txid: idOf(one), vout: 0 })
      assert.deepInclude(dropped?.event, { txid: idOf(one), reason: "replaced" })
      assert.deepNestedInclude(block?.event, { "record.txid": idOf(two), height: 153 })
      assert.deepInclude(last?.event, { name_error: "invalid data for ascii", txid: idOf(odd) })
      assert.isString(last?.event["name_hex"])
      // What waits does not move the place of a reader; the block does.
      assert.strictEqual(last?.id, block?.id)
      assert.notStrictEqual(block?.id, before)

      // Programs get the same, without the name that is not text.
      for (const seen of programs) {
        yield* eventually("the changes of a program", () => seen.length === 6)
        assert.deepStrictEqual(seen.map(shownChange), [...expected, "updated three"])
      }

      // A reader that was away has the block of the time behind its place, and then all that waits.
      const again = yield* reader(port, `?types=${TYPES}`, { "last-event-id": before ?? "" })
      yield* eventually("the time away", () => told(again).length === 4)
      assert.deepStrictEqual(told(again).map(({ event }) => shownEvent(event)), [
        "updated",
        "synced",
        "pending_reset",
        "pending registered one"
      ])
      // Also with a browser's last id after live events.
      const later = yield* reader(port, "?types=registered", { "last-event-id": last?.id ?? "" })
      yield* eventually("the place", () => later.received().includes("id: "))

      // Another transaction for the name in a block: the operation that waited is in none.
      const mined = update("four", two)
      yield* pool.accept(update("five", two))
      yield* mine(mined, odd)
      yield* eventually("the conflict", () => shown().length === 11)
      assert.deepStrictEqual(shown().slice(7).sort(), [
        "pending updated five",
        "pending_dropped updated five conflict",
        "registered",
        "updated"
      ])
      yield* eventually("the registration", () => told(later).length === 1)
      // A reader without live types has the lines that it always had.
      yield* eventually("the blocks of the quiet reader", () => eventsOf(quiet).length === 3)
      assert.deepStrictEqual(eventsOf(quiet).map(({ type }) => type), ["updated", "updated", "registered"])
      assert.isTrue(quiet.lines().every((line) => typeof JSON.parse(line).cursor === "string"))
      assert.deepStrictEqual(eventsOf(alone), [{ type: "synced", height: 152 }])
    }).pipe(Effect.provide(spendableNode)))

  it.scopedLive("name what an operation does to one that waits too, and tell it again after a reorganization", () =>
    Effect.gen(function*() {
      const { chain, pool } = yield* MethodNode
      const { page, port } = yield* served
      const commitment = nameTx(nameNew(NAME, saltOf(1)), [reward(1)])
      yield* mine(commitment)
      for (let i = 0; i < 11; i++) yield* mine()
      const registration = nameTx(first(NAME, 1), [output(commitment), output(commitment, 1)])
      yield* pool.accept(registration)
      const same = update("one", registration)
      yield* pool.accept(same)
      yield* pool.accept(update("", same))
      const lines = yield* reader(port, "?types=pending&name=d/test", LINES)
      yield* eventually("what waits", () => eventsOf(lines).length === 4)
      assert.deepStrictEqual(eventsOf(lines).map(shownEvent), [
        "pending_reset",
        "pending registered one",
        "pending renewed one",
        "pending cleared "
      ])
      const mined = yield* mine(registration)
      yield* chain.control.invalidate(mined.header.hash)
      yield* eventually("the reorganization", () => eventsOf(lines).length === 6)
      assert.deepStrictEqual(eventsOf(lines).slice(4).map(shownEvent).sort(), ["pending registered one", "undone"])
      const others = yield* reader(port, "?types=pending&name=d/other", LINES)
      yield* eventually("the start of what waits", () => eventsOf(others).length === 1)
      assert.deepStrictEqual(eventsOf(others), [{ type: "pending_reset" }])

      // What a request for live events cannot have, and the right that it needs.
      const refusal = (query: string) =>
        Effect.map(page.answer(pageRequest(`/events?${query}`)), ({ body, status }) => `${status} ${String(body)}`)
      assert.include(yield* refusal("types=pending&wait=5"), "400 {\"error\":\"types: pending has no cursor")
      assert.include(yield* refusal("types=synced&form=bytes"), "400 {\"error\":\"types: synced has no form=bytes")
      assert.include(yield* refusal("types=born"), "pending_dropped, synced")
      const needs = (query: string) => page.needs?.(pageRequest(`/events?${query}`))
      assert.deepStrictEqual([needs("types=updated,pending"), needs("types=synced")], [["name_pending"], []])
    }).pipe(Effect.provide(spendableNode)))
})
