import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { bloomMessages } from "../../../src/network/relay/bloomMessages.ts"
import type { Message } from "../../../src/network/wire/message.ts"
import { receive } from "../../support/receive.ts"
import { fakePeer, type FakePeerOptions } from "./fakePeer.ts"

const load = (size = 8, hashFunctions = 2): Message => ({
  type: "filterload",
  filter: new Uint8Array(size),
  hashFunctions,
  tweak: 0,
  flags: 0
})

const add = (size: number): Message => ({ type: "filteradd", data: new Uint8Array(size) })

/** A peer that gets messages of a node with bloom filters. */
const after = (messages: ReadonlyArray<Message>, options: FakePeerOptions = {}, enabled = true) =>
  Effect.gen(function*() {
    const peer = fakePeer({ hello: { relay: false }, ...options })
    const part = { messages: bloomMessages(enabled) }
    for (const message of messages) yield* receive(part, peer, message)
    return peer
  })

describe("bloom filters of peers", () => {
  it.effect("a peer sets, extends and clears its filter, and gets transactions from then on", () =>
    Effect.gen(function*() {
      const peer = yield* after([load()])
      assert.deepStrictEqual([peer.features.bloom?.size, peer.features.relay], [8, true])
      assert.strictEqual(peer.memory.held("messages"), 8)
      const extended = yield* after([load(), add(520)])
      assert.isTrue(extended.features.bloom?.has(new Uint8Array(520)))
      const cleared = yield* after([load(), load(16), { type: "filterclear" }])
      assert.deepStrictEqual([cleared.features.bloom, cleared.features.relay], [undefined, true])
      assert.strictEqual(cleared.memory.held("messages"), 0)
    }))

  const offences: ReadonlyArray<readonly [what: string, messages: ReadonlyArray<Message>, reason: string]> = [
    ["a filter above 36,000 bytes", [load(36_001)], "invalid filterload: the bloom filter is too large"],
    ["more than 50 hash functions", [load(8, 51)], "invalid filterload: the bloom filter is too large"],
    ["data above 520 bytes", [load(), add(521)], "invalid filteradd: the data is too long"],
    ["data without a filter", [add(1)], "invalid filteradd: the peer has no bloom filter"]
  ]
  for (const [what, messages, reason] of offences) {
    it.effect(`${what} is misbehaviour`, () =>
      Effect.gen(function*() {
        assert.deepStrictEqual((yield* after(messages)).disconnection(), { reason, misbehaving: true })
      }))
  }

  it.effect("the largest filter is taken", () =>
    Effect.gen(function*() {
      assert.strictEqual((yield* after([load(36_000, 50)])).features.bloom?.size, 36_000)
    }))

  it.effect("without the option only peers with the permission may set a filter", () =>
    Effect.gen(function*() {
      const refused = { reason: "unsupported: the peer uses bloom filters", misbehaving: false }
      for (const message of [load(), add(1), { type: "filterclear" } as const]) {
        assert.deepStrictEqual((yield* after([message], {}, false)).disconnection(), refused)
      }
      const trusted = yield* after([load()], { permissions: ["bloomfilter"] }, false)
      assert.strictEqual(trusted.features.bloom?.size, 8)
    }))

  it.effect("a connection without transactions has no filter", () =>
    Effect.gen(function*() {
      const peer = yield* after([load(), add(1)], { type: "block-relay-only" })
      assert.deepStrictEqual([peer.features.bloom, peer.features.relay, peer.disconnection()], [
        undefined,
        false,
        undefined
      ])
    }))
})
