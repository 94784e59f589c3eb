import { assert, describe, it } from "@effect/vitest"
import { Effect, Fiber, Stream } from "effect"
import { isUtf8 } from "node:buffer"
import { type Replica, take } from "../../../examples/replica.ts"
import { isStream, pageRequest } from "../../../src/http/Pages.ts"
import * as LiveEvents from "../../../src/mempool/live/LiveEvents.ts"
import { NameEvents } from "../../../src/names/events/NameEvents.ts"
import { EMPTY, toHex } from "../../../src/protocol/bytes.ts"
import { jsonLines, serverSentEvents } from "../../../src/web/events/eventsPage.ts"
import { eventsPage } from "../../../src/web/events/eventsPage.ts"
import { applyAll, STRANGE_VALUES, text, withNewDb } from "../../names/blocks.ts"
import { Branches } from "../../names/events/world.ts"
import { eventually } from "../../support/eventually.ts"
import {
  ALICE,
  ALICE_SCRIPT,
  branch,
  eventsOf,
  LINES,
  LISTS,
  OPTIONS,
  rand,
  type Reader,
  reader,
  SUBJECTS,
  SYNCED,
  SYNCING,
  world
} from "./served.ts"

const body = (from: Reader) => JSON.parse(from.lines().join("\n"))

const whole = (port: number, query: string, headers?: Record<string, string>) =>
  Effect.gen(function*() {
    const answered = yield* reader(port, query, headers)
    yield* eventually("the end of the answer", answered.ended)
    return { status: answered.answer()?.statusCode, json: body(answered) }
  })

describe("serverSentEvents", () => {
  it("has no cursor at the end of a stream, so that the reader keeps its own", () => {
    assert.strictEqual(serverSentEvents.placeless("{}"), "data: {}\n\n")
    assert.strictEqual(jsonLines.placeless("{}"), "{}\n")
  })
})

describe("GET /events", () => {
  it.live("sends past and new events as Server-Sent Events, and resumes behind the last one received", () =>
    world(LISTS, ({ blocks, branches, db, port }) =>
      Effect.scoped(Effect.gen(function*() {
        const first = yield* reader(port, "?from=0")
        const data = (from: Reader) =>
          from.lines().filter((line) => line.startsWith("data: ")).map((line) => JSON.parse(line.slice(6)))
        yield* eventually("three events", () => data(first).length === 3)
        assert.strictEqual(first.answer()?.headers["content-type"], "text/event-stream; charset=utf-8")
        assert.deepStrictEqual(data(first).map(({ name, type }) => [name, type]), [
          ["d/a", "registered"],
          ["id/b", "registered"],
          ["d/a", "updated"]
        ])
        assert.strictEqual(data(first)[2].before.value, "1")
        const second = yield* reader(port, "?from=0", { "last-event-id": data(first)[1].cursor })
        const next = branch("a", 3, [[{ name: text("id/b"), value: EMPTY, owner: ALICE_SCRIPT }]])
        branches.add(next, blocks[2])
        branches.tip = next[0]
        yield* applyAll(db, [next])
        yield* eventually("the new event", () => data(first).length === 4 && data(second).length === 2)
        assert.deepStrictEqual(data(second), data(first).slice(2))
        assert.strictEqual(data(first)[3].type, "cleared")
      }))))

  it.live("has only events of watched names, or of names of the wallets, if the reader asks for them", () =>
    world(LISTS, ({ page: handler, port }) =>
      Effect.scoped(Effect.gen(function*() {
        const shown = (query: string) =>
          Effect.map(whole(port, `?from=0&wait=0${query}`), ({ json }) =>
            json.events.map(({ name, type }: { readonly name: string; readonly type: string }) =>
              `${name} ${type}`
            ))
        assert.deepStrictEqual(yield* shown("&watched=1"), ["d/a registered", "d/a updated"])
        assert.deepStrictEqual(yield* shown("&mine"), ["id/b registered"])
        assert.lengthOf(yield* shown("&mine=1&watched=1"), 3)
        assert.lengthOf(yield* shown("&mine=0&watched=0"), 3)
        assert.deepStrictEqual(yield* shown("&watched=1&prefix=id/"), [])
        assert.include((yield* whole(port, "?watched=yes")).json.error, "watched")
        const needs = (query: string) => handler.needs?.(pageRequest(`/events?${query}`))
        assert.deepStrictEqual([needs("from=0"), needs("mine"), needs("watched=1")], [
          [],
          ["name_expiring"],
          ["name_expiring"]
        ])
      }))))

  it.live("filters by name, prefix, owner and type, and says what is wrong with a request", () =>
    world(LISTS, ({ port }) =>
      Effect.scoped(Effect.gen(function*() {
        const page = (query: string) =>
          Effect.map(whole(port, `?from=0&wait=0${query}`), ({ json, status }) => ({ status, json }))
        const kinds = (query: string) =>
          Effect.map(page(query), ({ json }) =>
            json.events.map(({ name, type }: Record<string, string>) => `${name} ${type}`))
        assert.deepStrictEqual(yield* kinds("&prefix=id/"), ["id/b registered"])
        assert.deepStrictEqual(yield* kinds("&name=d/a&types=updated"), ["d/a updated"])
        assert.deepStrictEqual(yield* kinds(`&owner=${ALICE}`), ["id/b registered"])
        const hex = (yield* page("&nameEncoding=hex&name=642f61&limit=1")).json
        assert.deepStrictEqual([hex.events.length, hex.events[0].name, hex.end], [1, "642f61", false])
        const behind = (yield* whole(port, `?from=${hex.cursor}&wait=0`)).json
        assert.strictEqual(behind.events.length, 2)
        for (
          const wrong of [
            "&types=born",
            "&wait=1000",
            "&limit=x",
            "&limit=0",
            "&owner=x",
            "&colour=red",
            "&form=x",
            "&nameEncoding=x",
            "&types=pending"
          ]
        ) {
          const { json, status } = yield* page(wrong)
          assert.strictEqual(status, 400, wrong)
          assert.isString(json.error)
        }
      }))))

  it.live("has the bytes of names and values that have no text in the encoding", () =>
    world(
      [
        [],
        [{ name: Uint8Array.of(0x78, 0x2f, 0xff), rand, value: Uint8Array.of(0) }, {
          name: text("d/a"),
          rand,
          value: text("1")
        }]
      ],
      ({ blocks: [base], branches, db, port }) =>
        Effect.scoped(Effect.gen(function*() {
          const { json } = yield* whole(port, "?from=0&wait=0")
          const [odd, plain] = json.events
          const name = { name_error: "invalid data for ascii", name_encoding: "ascii", name_hex: "782fff" }
          const value = { value_error: "invalid data for ascii", value_encoding: "ascii", value_hex: "00" }
          assert.deepInclude(odd, name)
          assert.deepInclude(odd.record, { ...name, ...value })
          assert.notProperty(odd.record, "name")
          assert.notProperty(odd.record, "value")
          assert.notProperty(plain, "name_hex")
          assert.notProperty(plain.record, "value_hex")
          if (base === undefined) return assert.fail("there are blocks")
          const other = branch("b", 1, [[], []])
          branches.add(other, base)
          branches.tip = other.at(-1)
          yield* db.follower.rewind(base)
          yield* applyAll(db, [other])
          const [undone] = (yield* whole(port, `?from=${json.cursor}&wait=0`)).json.events
          assert.deepInclude(undone.names[0], { ...name, record: null })
        }))
    ))

  it.live("has the end of each block, and bytes alone, for a reader that asks for them", () =>
    world(LISTS, ({ port }) =>
      Effect.scoped(Effect.gen(function*() {
        const lines = yield* reader(port, "?from=0&types=registered,updated,block&form=bytes", LINES)
        yield* eventually("the last block", () => eventsOf(lines).at(-1)?.height === 2)
        const told = eventsOf(lines)
        assert.deepStrictEqual(told.map(({ height, type }) => `${height} ${type}`), [
          "0 block",
          "1 registered",
          "1 registered",
          "1 block",
          "2 updated",
          "2 block"
        ])
        assert.deepStrictEqual(Object.keys(told[0]), ["type", "cursor", "height", "hash", "time"])
        assert.strictEqual(told[3].time, 1_300_000_600)
        const { cursor, hash, txid, ...said } = told[2]
        assert.deepStrictEqual(said, {
          type: "registered",
          height: 1,
          name: "69642f62",
          value: "32",
          script: toHex(ALICE_SCRIPT),
          vout: 1
        })
        assert.deepStrictEqual([cursor, hash, txid].map((each) => typeof each), ["string", "string", "string"])
        const rest = yield* reader(port, `?from=${told[3].cursor}&types=block`, LINES)
        yield* eventually("the block behind the cursor", () => eventsOf(rest).length > 0)
        assert.deepStrictEqual(eventsOf(rest), [told[5]])
      }))))

  it.live("has every value in each encoding, one line an event, or says why the encoding cannot represent it", () =>
    world(
      [[], STRANGE_VALUES.map((value, i) => ({ name: text(`d/${i}`), rand, value }))],
      ({ port }) =>
        Effect.scoped(Effect.gen(function*() {
          const events = (query: string, headers?: Record<string, string>) =>
            Effect.gen(function*() {
              const from = yield* reader(port, `?from=0${query}`, headers)
              const lines = () =>
                headers === undefined
                  ? from.lines().filter((line) => line.startsWith("data: {"))
                  : from.lines().slice(1)
              yield* eventually("all values", () => lines().length === STRANGE_VALUES.length)
              return lines().map((line) => JSON.parse(line.replace(/^data: /, "")))
            })
          const hex = STRANGE_VALUES.map((value) => toHex(value))
          assert.isTrue(hex.some((value) => value.length === 2_046))
          for (const headers of [undefined, LINES]) {
            const bytes = yield* events("&form=bytes", headers)
            assert.deepStrictEqual(bytes.map(({ value }) => value), hex)
            const digits = yield* events("&valueEncoding=hex", headers)
            assert.deepStrictEqual(digits.map(({ record }) => record.value), hex)
            const shown = yield* events("&valueEncoding=utf8", headers)
            for (const [i, { record }] of shown.entries()) {
              const value = Buffer.from(STRANGE_VALUES[i] ?? EMPTY)
              if (isUtf8(value)) assert.strictEqual(record.value, value.toString())
              else assert.deepStrictEqual([record.value, typeof record.value_error], [undefined, "string"])
            }
          }
        }))
    ))

  it.live("answers 410 with the oldest cursor to one that cannot be used", () =>
    world(LISTS, ({ port }) =>
      Effect.scoped(Effect.gen(function*() {
        for (const cursor of ["x", "a0000001.08388608.0123456789abcdef", "a9999999.08388608.0123456789abcdef"]) {
          const { json, status } = yield* whole(port, `?from=${cursor}`)
          assert.deepStrictEqual([status, json.oldest], [410, "0"], cursor)
        }
      }))))

  it.live("answers 503 to a cursor of the future whose block may still come", () =>
    Effect.gen(function*() {
      const from = (height: number) => `?wait=0&from=a${String(height).padStart(7, "0")}.08388608.0123456789abcdef`
      const answers = (port: number) =>
        Effect.map(
          Effect.forEach([3, 8, 9, 9_999_999], (height) => whole(port, from(height))),
          (all) => all.map(({ json: { why }, status }) => `${status} ${why}`)
        )
      const [later, refused] = ["503 future", "410 future"]
      yield* world(LISTS, ({ port }) =>
        Effect.map(Effect.scoped(answers(port)), (said) =>
          assert.deepStrictEqual(said, [later, later, refused, refused])))
      yield* world(
        LISTS,
        ({ port }) =>
          Effect.map(Effect.scoped(answers(port)), (said) =>
            assert.deepStrictEqual(said, [later, later, later, later])),
        {},
        SYNCING
      )
    }))

  it.live("answers a long poll when a block changes names", () =>
    world(LISTS, ({ blocks, branches, db, port }) =>
      Effect.scoped(Effect.gen(function*() {
        const polling = yield* reader(port, "?wait=30")
        yield* eventually("the head", () => polling.answer() !== undefined)
        const next = branch("a", 3, [[{ name: text("d/a"), value: text("4") }]])
        branches.add(next, blocks[2])
        branches.tip = next[0]
        yield* applyAll(db, [next])
        yield* eventually("the page", polling.ended)
        assert.deepStrictEqual([body(polling).events.length, body(polling).end], [1, true])
      }))))

  it.live("keeps the replica of a stranger equal to names.db across reorganizations", () =>
    world(LISTS, ({ blocks, branches, db, port }) =>
      Effect.scoped(Effect.gen(function*() {
        const replica: Replica = { names: new Map(), cursor: "0" }
        let connection = yield* reader(port, "?from=0&nameEncoding=hex", LINES)
        let taken = 0
        const equals = Effect.gen(function*() {
          for (const line of connection.lines().slice(taken)) take(replica, line)
          taken = connection.lines().length
          const stored = yield* Stream.runCollect(db.scanByPrefix({ prefix: EMPTY }))
          const records = [...stored].map(({ name, value }) => `${toHex(name)} ${Buffer.from(value).toString()}`)
          return records.sort().join() ===
            [...replica.names].map(([name, { value }]) => `${name} ${value}`).sort().join()
        })
        yield* eventually("the first state", equals)
        let tip = blocks
        for (const [round, depth] of [1, 2, 1, 2].entries()) {
          const kept = tip.slice(0, tip.length - depth)
          const fork = kept.at(-1)
          if (fork === undefined) return assert.fail()
          const fresh = branch(
            `r${round}`,
            kept.length,
            Array.from({ length: depth + 1 }, (_, i) => [
              { name: text(`d/${(round + i) % 3}`), rand, value: text(`${round}.${i}`) }
            ])
          )
          branches.add(fresh, fork)
          branches.tip = fresh.at(-1)
          yield* db.follower.rewind(fork)
          yield* applyAll(db, [fresh])
          tip = [...kept, ...fresh]
          if (round === 2) {
            connection.request.destroy()
            connection = yield* reader(port, `?nameEncoding=hex&from=${replica.cursor}`, LINES)
            taken = 0
          }
          yield* eventually(`the state after reorganization ${round}`, equals)
        }
        assert.isAbove(replica.names.size, 2)
        assert.isTrue(eventsOf(connection).some(({ type }) => type === "undone"))
      }))))

  it.live("gives the event loop a turn between two pages of a reader that catches up", () =>
    Effect.scoped(withNewDb((db) =>
      Effect.gen(function*() {
        const blocks = branch("a", 0, [
          [],
          ...Array.from({ length: 8 }, (_, i) =>
            Array.from({ length: 150 }, (_, j) => ({ name: text(`d/${i}.${j}`), rand })))
        ])
        const branches = new Branches()
        branches.add(blocks)
        branches.tip = blocks.at(-1)
        yield* applyAll(db, [blocks])
        let turns = 0
        const count = setInterval(() => {}, 1_000)
        const turn = (): void => {
          turns++
          if (count.hasRef()) {
            setImmediate(turn)
          }
        }
        turn()
        const asked: Array<number> = []
        const log = branches.events(db)
        const page = yield* eventsPage.pipe(
          Effect.provideService(NameEvents, {
            ...log,
            page: (from, options) => {
              asked.push(turns)
              return log.page(from, options)
            }
          }),
          Effect.provide([OPTIONS, SUBJECTS, SYNCED, LiveEvents.layerNoMempool])
        )
        const { body } = yield* page.answer(pageRequest("/events?from=0&name=d/none"))
        if (!isStream(body)) {
          return assert.fail("it is a stream")
        }
        const reading = yield* Effect.forkScoped(body.write(() =>
          Effect.void
        ))
        yield* eventually("the last page", () => asked.length >= 13)
        yield* Fiber.interrupt(reading)
        count.unref()
        clearInterval(count)
        // The first page is read twice: before the answer begins, and for it.
        assert.deepStrictEqual(asked.slice(1), [...new Set(asked.slice(1))])
      })
    )))
})
