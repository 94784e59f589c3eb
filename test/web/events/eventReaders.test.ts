import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { connect } from "node:net"
import { MemoryBudget } from "../../../src/base/MemoryBudget.ts"
import { applyAll, text } from "../../names/blocks.ts"
import { eventually } from "../../support/eventually.ts"
import { branch, eventsOf, LINES, LISTS, rand, type Reader, reader, world } from "./served.ts"

/** Readers of `/events` that come and go, read slowly, or are too many. */

const statusOf = (from: Reader) => from.answer()?.statusCode

/** A block of the server's chain with one registration more. */
const more = (letter: string, height: number) =>
  branch(letter, height, [[{ name: text(`d/${letter}${height}`), rand }]])

/** Counts the connections that held memory. */
class CountingBudget extends MemoryBudget {
  opened = 0

  override open(options: Parameters<MemoryBudget["open"]>[0]) {
    this.opened++
    return super.open(options)
  }
}

/** Names enough that a page of events is more text than a socket takes at once. */
const LARGE = [
  [],
  Array.from({ length: 50 }, (_, i) => ({ name: text(`d/${i}`), rand, value: new Uint8Array(1_000).fill(97) }))
]

/** Blocks whose events are 16 MB of text. */
const LONG_BLOCKS = [
  [],
  ...Array.from(
    { length: 4 },
    (_, i) =>
      Array.from({ length: 2_000 }, (_, j) => ({ name: text(`d/${i}.${j}`), value: new Uint8Array(1_000).fill(97) }))
  )
]

/** A reader of all events that reads nothing: its socket has no listener for data. */
const silentReader = (port: number) =>
  Effect.acquireRelease(
    Effect.sync(() => {
      const socket = connect(port, "127.0.0.1")
      socket.on("error", () => {})
      socket.write("GET /events?from=0&valueEncoding=hex HTTP/1.1\r\nHost: localhost\r\n\r\n")
      return socket.pause()
    }),
    (socket) => Effect.sync(() => socket.destroy())
  )

describe("the readers of events", () => {
  it.live("take a place each, and the next one ends the oldest of the user with the most", () =>
    world(LISTS, ({ port }) =>
      Effect.scoped(Effect.gen(function*() {
        const [first, ...others] = yield* Effect.forEach([1, 2, 3], () => reader(port, "?from=0", LINES))
        if (first === undefined) return assert.fail("no reader")
        yield* eventually("three streams", () => [first, ...others].every((each) => eventsOf(each).length === 3))
        const fourth = yield* reader(port, "?from=0", LINES)
        yield* eventually("the fourth stream", () => eventsOf(fourth).length === 3)
        yield* eventually("the end of the first", first.ended)
        assert.strictEqual(statusOf(first), 200)
        assert.isFalse([...others, fourth].some((each) => each.ended()))
      })), { limits: { readers: 3 } }))

  it.live("leave no memory and no place behind when they reconnect 200 times, and others go on", () => {
    const budget = new CountingBudget(2 ** 30)
    const READERS = 6
    return world(LARGE, ({ blocks, branches, db, port }) =>
      Effect.scoped(Effect.gen(function*() {
        const steady = yield* reader(port, "", LINES)
        yield* eventually("the steady reader's position", () => steady.lines().length >= 1)
        let served = 0
        for (let i = 0; i < 200; i++) {
          yield* Effect.async<void>((resume) => {
            const socket = connect(port, "127.0.0.1")
            socket.on("error", () => {})
            socket.on("close", () => resume(Effect.void))
            let received = ""
            socket.on("data", (part) => {
              received += part.toString("latin1")
              if (received.length < 1_000) return
              served++
              socket.destroy()
            })
            socket.write("GET /events?from=0&valueEncoding=hex HTTP/1.1\r\nHost: localhost\r\n\r\n")
          })
        }
        // One that comes before the place of an earlier one is free gets status 503.
        assert.isAbove(served, 100)
        assert.isAtLeast(budget.opened, served)
        yield* eventually("the end of what was held", () => budget.held("rpc_answers") === 0)
        const others: Array<Reader> = []
        yield* eventually(
          "readers in all places but one",
          Effect.gen(function*() {
            const next = yield* reader(port, "", LINES)
            yield* eventually("the head", () => next.answer() !== undefined)
            if (statusOf(next) === 200) others.push(next)
            return others.length === READERS - 1
          })
        )
        const next = more("b", 2)
        branches.add(next, blocks[1])
        branches.tip = next[0]
        yield* applyAll(db, [next])
        yield* eventually("the new block", () => [steady, ...others].every((each) => eventsOf(each).length === 1))
        assert.deepStrictEqual(eventsOf(steady).map(({ name, type }) => `${name} ${type}`), ["d/b2 registered"])
      })), { budget, limits: { readers: READERS } })
  })

  it.live("holds no more for readers that do not read than the budget has, and drops those with the most", () => {
    const budget = new MemoryBudget(4_000_000)
    const limit = budget.limit("rpc_answers")
    const dropped: Array<string> = []
    budget.listen(({ action, kind }) => void dropped.push(`${kind} ${action}`))
    return world(
      LONG_BLOCKS,
      ({ port }) =>
        Effect.scoped(Effect.gen(function*() {
          let most = 0
          const sockets = yield* Effect.replicateEffect(silentReader(port), 8)
          yield* eventually("a reader is dropped", () => {
            most = Math.max(most, budget.held("rpc_answers"))
            return dropped.length > 0
          })
          assert.isAbove(most, 0)
          assert.isAtMost(most, limit)
          assert.isTrue(dropped.every((what) => what.startsWith("rpc_answers ")))
          assert.isAbove(budget.held("rpc_answers"), 0)
          for (const socket of sockets) socket.destroy()
          yield* eventually("the end of what was held", () => budget.held("rpc_answers") === 0)
        })),
      { budget }
    )
  })

  it.live("that lose their place while they do not read are disconnected at once", () => {
    const budget = new MemoryBudget(2 ** 30)
    return world(
      LONG_BLOCKS,
      ({ port }) =>
        Effect.scoped(Effect.gen(function*() {
          const silent = yield* silentReader(port)
          yield* eventually("what it does not read is held", () => budget.held("rpc_answers") > 0)
          const reading = yield* reader(port, "", LINES)
          yield* eventually("its position", () => reading.lines().length >= 1)
          yield* eventually("the end of what was held", () => budget.held("rpc_answers") === 0)
          yield* eventually("the end of the silent one", () => {
            silent.write("\r\n")
            return silent.destroyed
          })
          assert.isFalse(reading.ended())
        })),
      // Beyond the time limit of the test.
      { budget, limits: { readers: 1, idleTimeout: 3_600_000 } }
    )
  })

  it.live("disconnects a reader that never reads, and goes on with the others", () =>
    world(
      LONG_BLOCKS,
      ({ port }) =>
        Effect.scoped(Effect.gen(function*() {
          const silent = yield* silentReader(port)
          const reading = yield* reader(port, "?from=0", LINES)
          yield* eventually("all events", () => reading.length() > 8_000 * 520)
          // A socket that reads nothing learns of the end only when it writes.
          yield* eventually("the end of the silent one", () => {
            silent.write("\r\n")
            return silent.destroyed
          })
        })),
      { limits: { idleTimeout: 2_000 } }
    ))
})
