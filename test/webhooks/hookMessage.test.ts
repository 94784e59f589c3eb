import { assert, describe, it } from "@effect/vitest"
import { Effect, FastCheck } from "effect"
import type { ConnectedBlock } from "../../src/chain/write/Follower.ts"
import { BEGINNING, cursorText, type EventCursor } from "../../src/names/events/EventCursor.ts"
import { type EventFilter, filtered } from "../../src/names/events/EventFilter.ts"
import type { NameEvent } from "../../src/names/events/NameEvent.ts"
import { displayHash } from "../../src/protocol/bytes.ts"
import { type HookDelivery, messageBody, messageId, stepOf } from "../../src/webhooks/hookMessage.ts"
import { applyAll, blocksWith, type Operation, text, withNewDb } from "../names/blocks.ts"
import { Branches, readAll } from "../names/events/world.ts"

const operation: FastCheck.Arbitrary<Operation> = FastCheck.record({
  name: FastCheck.constantFrom(...["d/a", "d/b", "id/a"].map(text)),
  value: FastCheck.constantFrom(text("1"), text("2")),
  owner: FastCheck.constantFrom(text("alice"), text("bob"))
})

const textOf = ({ cursor, type }: NameEvent): string => JSON.stringify({ type, cursor: cursorText(cursor) })

type Events = ReturnType<Branches["events"]>

/** All messages of a hook that is never refused, with pages of some size. */
const deliveriesOf = (events: Events, filter: EventFilter, most: number) =>
  Effect.gen(function*() {
    const found: Array<HookDelivery> = []
    for (let at: EventCursor = BEGINNING, steps = 0;; steps++) {
      assert.isBelow(steps, 1_000, "ends")
      const page = yield* events.page(at, { notices: false, most })
      const step = stepOf(page, filter)
      if (step.type === "skip") {
        if (page.isEnd && step.to === page.next) return found
        at = step.to
        continue
      }
      found.push(step.delivery)
      at = step.delivery.next
    }
  })

const withChain = (blocks: ReadonlyArray<ConnectedBlock>, use: (events: Events) => Effect.Effect<void, unknown>) =>
  withNewDb((db) =>
    Effect.gen(function*() {
      const branches = new Branches()
      branches.add(blocks)
      branches.tip = blocks.at(-1)
      yield* applyAll(db, [blocks])
      yield* use(branches.events(db))
    })
  )

describe("messages of a hook", () => {
  it.effect.prop("have every wanted event once, in order, each message of one block", {
    lists: FastCheck.array(FastCheck.array(operation, { maxLength: 7 }), { minLength: 1, maxLength: 45 }),
    filter: FastCheck.constantFrom<EventFilter>(
      {},
      { prefixes: [text("d/")] },
      { names: [text("id/a")] },
      { owners: [text("bob")] },
      { kinds: ["expired"] }
    ),
    most: FastCheck.integer({ min: 1, max: 9 })
  }, ({ filter, lists, most }) =>
    withChain(blocksWith(lists), (events) =>
      Effect.gen(function*() {
        const all = (yield* readAll(events, BEGINNING)).flatMap((page) => page.events)
        const wanted = all.flatMap((event) => filtered(filter, event) ?? [])
        const deliveries = yield* deliveriesOf(events, filter, most)
        assert.deepStrictEqual(deliveries.flatMap((delivery) => delivery.events).map(textOf), wanted.map(textOf))
        for (const { events: [first, ...others] } of deliveries) {
          assert.isTrue(others.every(({ height }) => height === first.height))
        }
        // Only a block with more events than a page has is cut.
        const heights = deliveries.filter(({ more }) => !more).map(({ events: [{ height }] }) => height)
        assert.deepStrictEqual(heights, [...new Set(heights)])
        if (most > 8) assert.isTrue(deliveries.every(({ more }) => !more))
      })), { fastCheck: { numRuns: 15 } })

  it.effect("are the same when they are read again, though blocks follow", () => {
    const blocks = blocksWith([[{ name: text("d/a") }], [], [{ name: text("d/b") }, { name: text("d/a") }]])
    const bodies: Array<string> = []
    const readFirst = (events: Events) =>
      Effect.map(deliveriesOf(events, {}, 256), ([first]) => {
        if (first === undefined) return assert.fail("no message")
        bodies.push(messageBody(first, { hook: "h", textOf }))
      })
    return Effect.gen(function*() {
      yield* withChain(blocks.slice(0, 1), readFirst)
      yield* withChain(blocks, readFirst)
      assert.strictEqual(bodies[0], bodies[1])
    })
  })

  it.effect("have the block, the cursor behind their events, and ids that differ", () =>
    withChain(blocksWith([[], [{ name: text("d/a") }, { name: text("d/b") }]]), (events) =>
      Effect.gen(function*() {
        const [first] = yield* deliveriesOf(events, {}, 256)
        if (first === undefined) return assert.fail("no message")
        const body: unknown = JSON.parse(messageBody(first, { hook: "0a", textOf }))
        const [{ hash }] = first.events
        assert.deepStrictEqual(body, {
          type: "names.block",
          hook: "0a",
          height: 1,
          hash: displayHash(hash),
          cursor: cursorText(first.next),
          more: false,
          events: first.events.map((event) => JSON.parse(textOf(event)))
        })
        assert.strictEqual(messageId("0a", 7, first), `msg_0a_00000007_${displayHash(hash).slice(-16)}`)
      })))
})
