import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import type { ObservedCall } from "../../src/rpc/runCalls.ts"
import { eventually } from "../support/eventually.ts"
import { postText, testServer } from "../support/rpcServer.ts"
import { sent, untilInFlight } from "./manyCalls.ts"

/** Calls whose callers have left. */

const SLOW = { id: 1, method: "slow", params: [60_000] }
const WRITE = { id: 2, method: "write", params: [300] }

/** Makes Node's server read the request. */
const OTHER_LANE = "Connection: close\r\n"

describe("a call whose caller has left", () => {
  it.scopedLive.each([["the fast lane", ""], ["Node's server", OTHER_LANE]])(
    "ends, in %s",
    ([, headers]) =>
      Effect.gen(function*() {
        const node = yield* testServer()
        for (const body of [SLOW, [SLOW, SLOW]]) {
          const socket = yield* sent(node.port, postText(JSON.stringify(body), headers))
          yield* untilInFlight(node, 1)
          socket.destroy()
          yield* eventually("the call has ended", () => node.dispatch.inFlight() === 0)
        }
      })
  )

  it.scopedLive.each([["the fast lane", ""], ["Node's server", OTHER_LANE]])(
    "is recorded as abandoned, not as an error, in %s",
    ([, headers]) =>
      Effect.gen(function*() {
        const observed: Array<Pick<ObservedCall, "abandoned" | "error" | "method">> = []
        const node = yield* testServer({
          observe: ({ abandoned, error, method }) => void observed.push({ method, abandoned, error })
        })
        const socket = yield* sent(node.port, postText(JSON.stringify(SLOW), headers))
        yield* untilInFlight(node, 1)
        socket.destroy()
        yield* eventually("the call has ended", () => observed.length === 1)
        assert.deepStrictEqual(observed, [{ method: "slow", abandoned: true, error: undefined }])
      })
  )

  it.scopedLive("runs to its end if it writes; of a batch, the rest is left out", () =>
    Effect.gen(function*() {
      const written: Array<string> = []
      const node = yield* testServer({
        observe: ({ abandoned, method }) => void written.push(abandoned ? `${method} abandoned` : method)
      })
      const socket = yield* sent(node.port, postText(JSON.stringify([SLOW, WRITE, SLOW])))
      yield* untilInFlight(node, 1)
      socket.destroy()
      const running = () => node.dispatch.inFlight()
      yield* eventually("the batch has ended", () => running() === 0)
      assert.deepStrictEqual(written, ["slow abandoned", "write"])
    }))
})
