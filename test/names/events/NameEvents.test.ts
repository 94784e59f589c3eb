import { assert, describe, it } from "@effect/vitest"
import { Effect, FastCheck } from "effect"
import type { ConnectedBlock } from "../../../src/chain/write/Follower.ts"
import { isExpired } from "../../../src/consensus/expiry.ts"
import { regtestParams } from "../../../src/consensus/params.ts"
import { BEGINNING, cursorText, type EventCursor, readCursorText } from "../../../src/names/events/EventCursor.ts"
import { binaryString, EMPTY, equal } from "../../../src/protocol/bytes.ts"
import { applyAll, batches, text, withNewDb } from "../blocks.ts"
import { branchOf, lists, name, rand, stored, withBlocks } from "./eventBlocks.ts"
import { Branches, readAll, recordsOf, Replica } from "./world.ts"

describe("a replica of the events", () => {
  it.effect.prop("has the records of names.db after any reorganization, from any cursor on", {
    common: lists(1, 40),
    one: lists(1, 40),
    other: lists(1, 40),
    // Where the reader was when the chain changed, as a part of the events.
    stop: FastCheck.double({ min: 0, max: 1, noNaN: true }),
    back: FastCheck.boolean()
  }, ({ back, common, one, other, stop }) =>
    withNewDb((db) =>
      Effect.gen(function*() {
        const shared = branchOf("shared", common, 0)
        const first = branchOf("one", one, shared.length)
        const second = branchOf("other", other, shared.length)
        const branches = new Branches()
        branches.add(shared)
        branches.add(first, shared.at(-1))
        branches.add(second, shared.at(-1))
        const events = branches.events(db)
        branches.tip = first.at(-1)
        yield* applyAll(db, batches([...shared, ...first], 7))
        const all = (yield* readAll(events, BEGINNING)).flatMap((page) => page.events)

        const replica = new Replica()
        const seen = all.slice(0, Math.floor(stop * all.length))
        replica.take({ events: seen })
        let at: EventCursor = seen.at(-1)?.cursor ?? BEGINNING
        const fork = shared.at(-1)
        if (fork === undefined) return
        const catchUp = Effect.gen(function*() {
          for (const page of yield* readAll(events, at)) {
            replica.take(page)
            at = page.next
          }
          const records = yield* stored(db)
          const tipHeight = (yield* db.cursor)?.height ?? 0
          assert.deepStrictEqual(new Map([...replica.records].sort()), new Map([...recordsOf(records)].sort()))
          const expired = records.filter((record) => isExpired(record, tipHeight, regtestParams))
          assert.deepStrictEqual([...replica.expired].sort(), expired.map(({ name }) => binaryString(name)).sort())
        })
        branches.tip = second.at(-1)
        yield* db.follower.rewind(fork)
        if (back) yield* catchUp
        yield* applyAll(db, batches(second, 5))
        yield* catchUp
        branches.tip = first.at(-1)
        yield* db.follower.rewind(fork)
        yield* applyAll(db, batches(first, 40))
        yield* catchUp
      })
    ), { fastCheck: { numRuns: 40 } })

  it.effect.prop("has the records of names.db though the chain changes while blocks are undone", {
    common: lists(1, 4),
    one: lists(1, 12),
    other: lists(1, 12),
    third: lists(1, 12),
    // How far the names go on each branch, how many pages the reader takes, and of the last one how many names.
    moves: FastCheck.array(
      FastCheck.record({
        branch: FastCheck.integer({ min: 0, max: 2 }),
        part: FastCheck.double({ min: 0, max: 1, noNaN: true }),
        pages: FastCheck.nat(4),
        names: FastCheck.nat(3)
      }),
      { minLength: 2, maxLength: 8 }
    )
  }, ({ common, moves, one, other, third }) =>
    withNewDb((db) =>
      Effect.gen(function*() {
        const shared = branchOf("shared", common, 0)
        const first = branchOf("one", one, shared.length)
        // The third forks from the middle of the first, whose end it does not have: the best chain never goes back to one below.
        const stem = first.slice(0, Math.floor(first.length / 2))
        const chains = [
          [...shared, ...first],
          [...shared, ...branchOf("other", other, shared.length)],
          [...shared, ...stem, ...branchOf("third", third, shared.length + stem.length)]
        ]
        const branches = new Branches()
        for (const chain of chains) branches.add(chain)
        const events = branches.events(db)
        const replica = new Replica()
        let at: EventCursor = BEGINNING
        let chain: ReadonlyArray<ConnectedBlock> = []
        const go = (to: ReadonlyArray<ConnectedBlock>) =>
          Effect.gen(function*() {
            const same = to.findIndex(({ hash }, i) => chain[i] === undefined || !equal(chain[i].hash, hash))
            const fork = to[(same < 0 ? to.length : same) - 1]
            branches.tip = to.at(-1)
            if (fork !== undefined && chain.length > fork.height + 1) yield* db.follower.rewind(fork)
            yield* applyAll(db, batches(same < 0 ? [] : to.slice(same), 5))
            chain = to
          })
        for (const { branch, names, pages, part } of moves) {
          const all = chains[branch] ?? []
          yield* go(all.slice(0, Math.max(shared.length, Math.ceil(part * all.length))))
          for (let page = 0; page <= pages; page++) {
            const [read] = yield* readAll(events, at, { most: 1 })
            const [event] = read?.events ?? []
            if (page === pages && event?.type === "undone" && event.names.length > names) {
              // The reader stops within the names of a block.
              const taken = event.names.slice(0, names + 1)
              replica.take({ events: [{ ...event, names: taken }] })
              at = taken.at(-1)?.cursor ?? at
            } else if (read !== undefined) {
              replica.take(read)
              at = read.next
            }
            const text = cursorText(at)
            assert.deepStrictEqual(readCursorText(text), at)
          }
        }
        // A chain that only got shorter may grow again: its reader waits.
        yield* go(chains[moves.at(-1)?.branch ?? 0] ?? [])
        for (const page of yield* readAll(events, at)) replica.take(page)
        const records = yield* stored(db)
        assert.deepStrictEqual(new Map([...replica.records].sort()), new Map([...recordsOf(records)].sort()))
      })
    ), { fastCheck: { numRuns: 20 } })

  it.effect("has the records of a block that is back in the chain before the reader undid it", () =>
    withNewDb((db) =>
      Effect.gen(function*() {
        const set = (value: string) => [{ name, rand, value: text(value) }]
        const first = branchOf("one", [[], set("1"), set("2"), set("3")], 0)
        const other = branchOf("other", [[], [], [], []], 1)
        const third = branchOf("third", [[], []], 3)
        const [genesis, , second] = first
        const branches = new Branches()
        branches.add(first)
        branches.add(other, genesis)
        branches.add(third, second)
        const events = branches.events(db)
        const replica = new Replica()
        branches.tip = first.at(-1)
        yield* applyAll(db, [first])
        const at = (yield* readAll(events, BEGINNING)).map((page) => {
          replica.take(page)
          return page.next
        }).at(-1)
        if (genesis === undefined || second === undefined || at === undefined) return assert.fail()
        // The reader undoes the block with the value 3: the other branch has no such name.
        branches.tip = other.at(-1)
        yield* db.follower.rewind(genesis)
        yield* applyAll(db, [other])
        const [undone] = yield* readAll(events, at, { most: 1 })
        if (undone === undefined) return assert.fail()
        replica.take(undone)
        assert.strictEqual(replica.records.size, 0)
        // The block with the value 2 is back, without the one above it.
        branches.tip = third.at(-1)
        yield* db.follower.rewind(genesis)
        yield* applyAll(db, [[...first.slice(1, 3), ...third]])
        for (const page of yield* readAll(events, undone.next)) replica.take(page)
        assert.deepStrictEqual(new Map(replica.records), recordsOf(yield* stored(db)))
      })
    ))

  it.effect.prop("has each event once and in order, whatever the cursors between", {
    chain: lists(1, 45),
    notices: FastCheck.boolean()
  }, ({ chain, notices }) =>
    withNewDb((db) =>
      Effect.gen(function*() {
        const blocks = branchOf("shared", chain, 0)
        const branches = new Branches()
        branches.add(blocks)
        branches.tip = blocks.at(-1)
        const events = branches.events(db)
        yield* applyAll(db, batches(blocks, 9))
        const all = (yield* readAll(events, BEGINNING, { notices })).flatMap((page) => page.events)
        const texts = all.map(({ cursor }) => cursorText(cursor))
        assert.deepStrictEqual(texts, [...new Set(texts)].sort())
        const alone = (yield* readAll(events, BEGINNING, { notices, before: false })).flatMap((page) => page.events)
        assert.deepStrictEqual(alone, all.map((event) => "before" in event ? { ...event, before: undefined } : event))
        for (const [i, event] of all.entries()) {
          const [page] = yield* readAll(events, event.cursor, { notices, most: 1 })
          assert.deepStrictEqual(page?.events[0], all[i + 1])
        }
      })
    ), { fastCheck: { numRuns: 20 } })
})

describe("the kinds of events", () => {
  it.effect("tell the end of each block behind its events, even at the end of a full page", () =>
    withNewDb((db) =>
      Effect.gen(function*() {
        const names = ["d/a", "d/b", "d/c"].map((name) => ({ name: text(name), rand: Uint8Array.of(1) }))
        const blocks = branchOf("a", [[], names, [], names.slice(1)], 0)
        const branches = new Branches()
        branches.add(blocks)
        branches.tip = blocks.at(-1)
        yield* applyAll(db, [blocks])
        const events = branches.events(db)
        const whole = (yield* readAll(events, BEGINNING, { blocks: true })).flatMap((page) => page.events)
        assert.deepStrictEqual(
          whole.map(({ height, type }) => type === "block" ? `end ${height}` : type),
          ["end 0", "registered", "registered", "registered", "end 1", "end 2", "registered", "registered", "end 3"]
        )
        for (let behind = 0; behind < whole.length; behind++) {
          const found: Array<unknown> = []
          for (let at = whole[behind]?.cursor ?? BEGINNING;;) {
            const page = yield* events.page(at, { notices: false, blocks: true, most: 1 })
            found.push(...page.events)
            at = page.next
            if (page.isEnd) break
          }
          assert.deepStrictEqual(found, whole.slice(behind + 1))
        }
      })
    ))

  it.effect("tell a registration, a change, a renewal, a transfer, a clearing, an expiry and its notices", () =>
    withBlocks([
      [{ name, rand, value: text("1"), owner: text("alice") }],
      [{ name, value: text("1"), owner: text("alice") }, { name, value: text("2"), owner: text("alice") }],
      [{ name, value: text("3"), owner: text("bob") }, { name, value: EMPTY, owner: text("bob") }],
      ...Array.from({ length: 30 }, () => []),
      [{ name, rand, value: text("4"), owner: text("carol") }]
    ], ({ events }) =>
      Effect.gen(function*() {
        const all = (yield* readAll(events, BEGINNING, { notices: true })).flatMap((page) => page.events)
        assert.deepStrictEqual(
          all.map((event) => [event.type, event.height, event.type === "expiring" ? event.blocks : undefined]),
          [
            ["registered", 0, undefined],
            ["renewed", 1, undefined],
            ["updated", 1, undefined],
            ["transferred", 2, undefined],
            ["cleared", 2, undefined],
            ["expiring", 16, 16],
            ["expiring", 24, 8],
            ["expiring", 28, 4],
            ["expiring", 30, 2],
            ["expiring", 31, 1],
            ["expired", 32, undefined],
            ["registered", 33, undefined]
          ]
        )
        const transfer = all[3]
        if (transfer?.type !== "transferred") return assert.fail()
        assert.deepStrictEqual([transfer.record.address, transfer.before?.address], [text("bob"), text("alice")])
        const without = (yield* readAll(events, BEGINNING)).flatMap((page) => page.events)
        assert.deepStrictEqual(without, all.filter(({ type }) => type !== "expiring"))
      })))
})
