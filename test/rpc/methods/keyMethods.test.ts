import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { regtest } from "../../../src/protocol/networks.ts"
import { type Json, JsonNumber } from "../../../src/rpc/json/json.ts"
import { type CallContext, methodTable } from "../../../src/rpc/method/methodTable.ts"
import { MOST_WORK } from "../../../src/rpc/method/work.ts"
import { keyMethods } from "../../../src/rpc/methods/keyMethods.ts"

const METHODS = methodTable(keyMethods(regtest))

const KEY = "0279be667ef9dcbbac55a06295ce870b07029bfcdb2dce28d959f2815b16f81798"

describe("createmultisig", () => {
  /** The error of a call, if any, and how many turns of the event loop it gave to other calls. */
  const called = (keys: ReadonlyArray<Json>, type: string) =>
    Effect.gen(function*() {
      let turns = 0
      const context: CallContext = {
        wallet: undefined,
        peer: "127.0.0.1:1",
        remote: false,
        share: [],
        user: undefined,
        rights: undefined,
        methods: METHODS,
        turns: { isOver: () => true, next: Effect.sync(() => void turns++) },
        room: Number.MAX_SAFE_INTEGER,
        work: { bytes: MOST_WORK },
        running: () => []
      }
      const method = METHODS.get("createmultisig") ?? assert.fail("no method")
      const answer = method.call([new JsonNumber("1"), keys, type], context)
      const message = yield* Effect.match(answer, { onSuccess: () => undefined, onFailure: ({ message }) => message })
      return { message, turns }
    })

  it.effect("checks each key in a turn of its own, up to the first that it refuses", () =>
    Effect.gen(function*() {
      assert.deepStrictEqual(yield* called([KEY, KEY, KEY], "legacy"), { message: undefined, turns: 3 })
      assert.deepStrictEqual(yield* called([KEY, "xx", KEY], "unknown"), {
        message: "Pubkey \"xx\" must be a hex string",
        turns: 1
      })
      assert.strictEqual((yield* called([KEY], "unknown")).message, "Unknown address type 'unknown'")
    }))
})
