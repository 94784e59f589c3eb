import { assert, describe, it } from "@effect/vitest"
import { FastCheck } from "effect"
import {
  accepted,
  begun,
  failed,
  mailsIn,
  MOST_NAMED,
  queuesOf,
  replaced,
  withNotices
} from "../../../src/alerts/mail/mailQueue.ts"
import { noticeOf } from "./notice.ts"

const TO = ["a@x.example", "b@x.example"]

const step = FastCheck.oneof(
  FastCheck.integer({ min: 1, max: 150 }).map((count) => ({ type: "notices", count } as const)),
  FastCheck.constantFrom(...TO).chain((to) =>
    FastCheck.constantFrom(
      { type: "begin", to } as const,
      { type: "fail", to } as const,
      { type: "accept", to } as const
    )
  )
)

describe("the queues of mail", () => {
  it.prop("lose no notice, keep a mail as it is once it is sent, and hold two mails for an address", {
    steps: FastCheck.array(step, { maxLength: 40 })
  }, ({ steps }) => {
    let queues = queuesOf([], TO)
    let given = 0
    const arrived = new Map(TO.map((to) => [to, 0]))
    for (const [at, each] of steps.entries()) {
      if (each.type === "notices") {
        const notices = Array.from({ length: each.count }, (_, i) => noticeOf(`d/${given + i}`, 1_000 + i))
        given += each.count
        queues = withNotices(queues, notices)
      } else {
        const before = queues.find(({ to }) => to === each.to)
        if (each.type === "begin") {
          queues = replaced(queues, each.to, (queue) => begun(queue, { id: `${at}`, madeAt: at }))
        }
        if (each.type === "fail") queues = replaced(queues, each.to, (queue) => failed(queue, at))
        if (each.type === "accept" && before?.sending !== undefined) {
          const { more, names } = before.sending
          arrived.set(each.to, (arrived.get(each.to) ?? 0) + names.length + more)
          queues = replaced(queues, each.to, accepted)
        }
        const after = queues.find(({ to }) => to === each.to)
        if (each.type !== "accept" && before?.sending !== undefined) assert.strictEqual(after?.sending, before.sending)
      }
      for (const { sending, to, waiting } of queues) {
        for (const mail of [sending, waiting]) assert.isAtMost(mail?.names.length ?? 0, MOST_NAMED)
        const held = [sending, waiting].reduce((sum, mail) => sum + (mail?.names.length ?? 0) + (mail?.more ?? 0), 0)
        assert.strictEqual((arrived.get(to) ?? 0) + held, given)
      }
      assert.isAtMost(mailsIn(queues), 2 * TO.length)
    }
  })

  it("name those that expire first, each once with its last notice", () => {
    const many = Array.from({ length: MOST_NAMED + 5 }, (_, i) => noticeOf(`d/${i}`, 5_000 - i))
    const [queue] = withNotices(queuesOf([], ["a@x.example"]), many)
    assert.deepStrictEqual([queue?.waiting?.names.length, queue?.waiting?.more], [MOST_NAMED, 5])
    assert.strictEqual(queue?.waiting?.names[0]?.about, 5_000 - many.length + 1)
    const [twice] = withNotices(
      withNotices(queuesOf([], ["a@x.example"]), [noticeOf("d/a"), noticeOf("d/b")]),
      [{ ...noticeOf("d/a"), pending: true }]
    )
    assert.deepStrictEqual(twice?.waiting?.names.map(({ pending }) => pending), [true, false])
  })

  it("belong to the addresses of the settings", () => {
    const queues = withNotices(queuesOf([], TO), [noticeOf("d/a")])
    const now = queuesOf(queues, ["b@x.example", "c@x.example"])
    assert.deepStrictEqual(now.map(({ to, waiting }) => [to, waiting?.names.length]), [
      ["b@x.example", 1],
      ["c@x.example", undefined]
    ])
  })

  it("remember the first failure, and no time that is yet to come", () => {
    const [queue] = queuesOf([], ["a@x.example"])
    if (queue === undefined) return assert.fail()
    assert.strictEqual(failed(failed(queue, 5), 9).failingSince, 5)
    assert.strictEqual(failed(failed(queue, 9), 5).failingSince, 5)
    assert.isUndefined(accepted(failed(queue, 5)).failingSince)
  })
})
