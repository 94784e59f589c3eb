import { assert } from "@effect/vitest"
import { Effect } from "effect"
import { turnOfEventLoop } from "../../../src/base/turns.ts"
import { type InventoryItem, ItemType } from "../../../src/network/wire/messages/inv.ts"
import { receive } from "../../support/receive.ts"
import { simulated } from "../../support/simulated.ts"
import { fakePeer } from "./fakePeer.ts"
import { connect, first, inv, withRelay, wtx } from "./relayNode.ts"

/** How much of an inventory of the greatest length is processed. */

/** Items that count reads of their hashes. */
const counted = (count: number) => {
  const looks = { count: 0 }
  const items = Array.from({ length: count }, (_, i): InventoryItem => {
    const hash = new Uint8Array(32)
    new DataView(hash.buffer).setUint32(0, i)
    return {
      type: ItemType.wtx,
      get hash() {
        looks.count += 1
        return hash
      }
    }
  })
  return { items, looks }
}

simulated("an inventory is not processed during initial download", () =>
  withRelay((node) =>
    Effect.gen(function*() {
      const peer = fakePeer()
      node.initialDownload.value = true
      yield* connect(node, peer)
      const { items, looks } = counted(50_000)
      yield* receive(node.relay, peer, inv(...items))
      assert.strictEqual(looks.count, 0)
    })
  ))

simulated(
  "an inventory is processed up to the announcement limit, and not again while that is reached",
  () =>
    withRelay((node) =>
      Effect.gen(function*() {
        const peer = fakePeer({ type: "inbound" })
        yield* connect(node, peer)
        const { items, looks } = counted(50_000)
        yield* receive(node.relay, peer, inv(...items))
        assert.isAtLeast(looks.count, 5_000)
        assert.isAtMost(looks.count, 2 * 5_000)
        looks.count = 0
        yield* receive(node.relay, peer, inv(...items.slice(20_000)))
        assert.strictEqual(looks.count, 0)
      })
    )
)

simulated(
  "a peer with relay may announce any number of transactions",
  () =>
    withRelay((node) =>
      Effect.gen(function*() {
        const peer = fakePeer({ type: "inbound", permissions: ["relay"] })
        yield* connect(node, peer)
        const { items, looks } = counted(12_000)
        yield* receive(node.relay, peer, inv(...items))
        assert.isAtLeast(looks.count, 12_000)
      })
    )
)

simulated(
  "an inventory is not processed beyond the limit even if all items are known",
  () =>
    withRelay((node) =>
      Effect.gen(function*() {
        const peer = fakePeer({ type: "inbound" })
        yield* connect(node, peer)
        yield* node.submit(first)
        const { items, looks } = counted(1)
        const known = Array.from({ length: 5_000 }, () => wtx(first))
        yield* receive(node.relay, peer, inv(...known, ...items))
        assert.strictEqual(looks.count, 0)
        yield* receive(node.relay, peer, inv(...known.slice(1), ...items))
        assert.isAbove(looks.count, 0)
      })
    )
)

simulated("other fibers get a turn every thousand items", () =>
  withRelay((node) =>
    Effect.gen(function*() {
      const peer = fakePeer({ type: "inbound" })
      yield* connect(node, peer)
      let turns = 0
      const { items } = counted(5_000)
      const counting = Effect.forever(Effect.zipRight(turnOfEventLoop, Effect.sync(() => void (turns += 1))))
      yield* Effect.raceFirst(receive(node.relay, peer, inv(...items)), counting)
      assert.isAtLeast(turns, 3)
    })
  ))
