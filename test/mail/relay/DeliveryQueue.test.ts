import { assert, describe, it } from "@effect/vitest"
import { FastCheck } from "effect"
import { DeliveryQueue, type Entry, type QueueOptions } from "../../../src/mail/relay/DeliveryQueue.ts"
import type { Queued } from "../../../src/mail/relay/deliveryState.ts"
import { initialState } from "../../../src/mail/relay/deliveryState.ts"
import type { Envelope } from "../../../src/mail/relay/envelope.ts"

const HOUR = 3_600_000

const entry = (id: string, due: number, message?: Queued): Entry => ({
  id,
  bytes: 1,
  arrivedAt: 0,
  due,
  message,
  suspect: false
})

const queued = (recipients: number, unsaved = false): Queued => {
  const to = { address: "a@bit", targets: ["a@b.example"], loops: false }
  const envelope: Envelope = {
    id: "x",
    arrivedAt: 0,
    sender: "",
    greeting: "x",
    client: "",
    protocol: "SMTP",
    hasMessageId: true,
    eightBit: false,
    recipients: [to, ...Array.from({ length: recipients - 1 }, () => to)]
  }
  return { envelope, bodyLength: 1, state: initialState(envelope), unsaved }
}

/** A queue, and the messages that it has begun. */
const watched = (options: Partial<QueueOptions> = {}) => {
  const begun: Array<Entry> = []
  const queue = new DeliveryQueue({
    atOnce: 1,
    longestPause: 2 * HOUR,
    isReachable: () => true,
    isOver: () => false,
    begin: (each) => void begun.push(each),
    ...options
  })
  return { begun, ids: () => begun.map(({ id }) => id), queue }
}

describe("DeliveryQueue", () => {
  it("begins due messages in the order in which they are due, up to a number at once", () => {
    const { ids, queue } = watched({ atOnce: 2 })
    for (const [id, due] of [["a", 5], ["b", 4], ["c", 3], ["d", 2]] as const) queue.add(entry(id, due))
    assert.deepStrictEqual(ids(), ["a", "b"])
    queue.finished(entry("a", 5), undefined)
    queue.finished(entry("b", 4), undefined)
    assert.deepStrictEqual(ids(), ["a", "b", "d", "c"])
    queue.end()
  })

  it("keeps the order for any times", () => {
    FastCheck.assert(FastCheck.property(FastCheck.array(FastCheck.nat(1_000)), (times) => {
      let reachable = false
      const { begun, queue } = watched({ atOnce: times.length, isReachable: () => reachable })
      for (const [index, due] of times.entries()) queue.add(entry(String(index), due))
      reachable = true
      queue.wake()
      queue.end()
      assert.deepStrictEqual(begun.map(({ due }) => due), times.toSorted((a, b) => a - b))
    }))
  })

  it("waits for later messages, and wakes for them", async () => {
    const soon = Date.now() + 30
    const begun = await new Promise<Entry>((resolve) => {
      const { ids, queue } = watched({ begin: resolve })
      queue.add(entry("later", Date.now() + HOUR))
      queue.add(entry("soon", soon))
      assert.deepStrictEqual(ids(), [])
    })
    assert.strictEqual(begun.id, "soon")
    assert.isAtLeast(Date.now(), soon)
  })

  it("begins a message that is due beyond the longest pause: the clock was set back", () => {
    const { ids, queue } = watched({ atOnce: 9 })
    queue.add(entry("in time", Date.now() + HOUR))
    assert.deepStrictEqual(ids(), [])
    const other = watched()
    other.queue.add(entry("years ahead", Date.now() + 30_000 * HOUR))
    assert.deepStrictEqual(other.ids(), ["years ahead"])
    queue.end()
    other.queue.end()
  })

  it("begins only messages to give up while the upstream server is unreachable", () => {
    let reachable = false
    const { ids, queue } = watched({
      atOnce: 9,
      isReachable: () => reachable,
      isOver: ({ arrivedAt }) => arrivedAt === 7
    })
    queue.add({ ...entry("old", 0), arrivedAt: 7 })
    assert.deepStrictEqual(ids(), ["old"])
    queue.add(entry("new", 0))
    assert.deepStrictEqual(ids(), ["old"])
    reachable = true
    queue.wake()
    assert.deepStrictEqual(ids(), ["old", "new"])
    queue.end()
  })

  it("keeps few messages in memory, and each whose state is not on the disk", () => {
    const { begun, queue } = watched({ isReachable: () => false, atOnce: 9 })
    const entries = [
      entry("1", 1, queued(9_999)),
      entry("2", 2, queued(1)),
      entry("3", 3, queued(1)),
      entry("4", 4, queued(1, true))
    ]
    for (const each of entries) queue.add(each)
    assert.deepStrictEqual(entries.map(({ message }) => message !== undefined), [true, true, false, true])
    assert.deepStrictEqual(begun, [])
    queue.end()
  })

  it("begins nothing after its end", () => {
    const { ids, queue } = watched()
    queue.end()
    queue.add(entry("a", 0))
    queue.wake()
    assert.deepStrictEqual(ids(), [])
  })
})
