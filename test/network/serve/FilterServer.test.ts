import { assert } from "@effect/vitest"
import { Effect, Layer, Logger } from "effect"
import { filterHash, filterHeader } from "../../../src/chain/indexes/blockFilter.ts"
import { openFilterIndex } from "../../../src/chain/indexes/FilterIndex.ts"
import * as FilterServer from "../../../src/network/serve/FilterServer.ts"
import type { Message } from "../../../src/network/wire/message.ts"
import { toHex } from "../../../src/protocol/bytes.ts"
import { temporaryDirectory, testChain } from "../../support/chain.ts"
import { eventually } from "../../support/eventually.ts"
import { layer } from "../../support/layer.ts"
import { receive } from "../../support/receive.ts"
import { fakePeer, ofType } from "../relay/fakePeer.ts"
import { servedChain } from "./servedChain.ts"

/** A server of the filters of `regtest-names`. */
const serverOf = Effect.gen(function*() {
  const chain = yield* testChain
  const index = yield* openFilterIndex({ directory: yield* temporaryDirectory, pageSize: 4096 })
  yield* chain.control.register(index.follower)
  yield* eventually("the index is at the tip", Effect.map(index.follower.cursor, (cursor) => cursor?.height === 600))
  const messages = yield* FilterServer.make(index)
  const hashAt = (height: number) => chain.tree.hash(chain.tree.at(height)).slice()
  const ask = (message: Message) =>
    Effect.gen(function*() {
      const peer = fakePeer()
      yield* receive({ messages }, peer, message)
      return { answers: peer.take(), left: peer.disconnection()?.reason }
    })
  return { ask, hashAt }
})

layer(servedChain.pipe(Layer.provide(Logger.remove(Logger.defaultLogger))))("the server of block filters", (it) => {
  it.scoped("filters and hashes of a range form the chain of headers", () =>
    Effect.gen(function*() {
      const { ask, hashAt } = yield* serverOf
      const range = { filterType: 0, startHeight: 500, stopHash: hashAt(600) }
      const filters = ofType((yield* ask({ type: "getcfilters", ...range })).answers, "cfilter")
      assert.deepStrictEqual(
        filters.map(({ blockHash }) => toHex(blockHash)),
        Array.from({ length: 101 }, (_, i) => toHex(hashAt(500 + i)))
      )
      const [headers = assert.fail()] = ofType((yield* ask({ type: "getcfheaders", ...range })).answers, "cfheaders")
      assert.deepStrictEqual(headers.filterHashes.map(toHex), filters.map(({ filter }) => toHex(filterHash(filter))))
      const all = { filterType: 0, startHeight: 0, stopHash: hashAt(499) }
      const [before = assert.fail()] = ofType((yield* ask({ type: "getcfheaders", ...all })).answers, "cfheaders")
      assert.strictEqual(toHex(before.previousHeader), "00".repeat(32))
      assert.lengthOf(before.filterHashes, 500)
      const last = before.filterHashes.reduce(
        (previous, hash) => filterHeader({ hash, previous }),
        before.previousHeader
      )
      assert.strictEqual(toHex(headers.previousHeader), toHex(last))
    }))

  it.scoped("a chain of less than a thousand blocks has no checkpoint", () =>
    Effect.gen(function*() {
      const { ask, hashAt } = yield* serverOf
      const stopHash = hashAt(600)
      const { answers } = yield* ask({ type: "getcfcheckpt", filterType: 0, stopHash })
      assert.deepStrictEqual(answers, [{ type: "cfcheckpt", filterType: 0, stopHash, filterHeaders: [] }])
    }))

  it.scoped("requests that no light client makes end the connection", () =>
    Effect.gen(function*() {
      const { ask, hashAt } = yield* serverOf
      const bad: ReadonlyArray<readonly [Message, RegExp]> = [
        [{ type: "getcfilters", filterType: 1, startHeight: 0, stopHash: hashAt(1) }, /another type/],
        [{ type: "getcfcheckpt", filterType: 255, stopHash: hashAt(1) }, /another type/],
        [{ type: "getcfheaders", filterType: 0, startHeight: 0, stopHash: new Uint8Array(32) }, /unknown/],
        [{ type: "getcfheaders", filterType: 0, startHeight: 2, stopHash: hashAt(1) }, /above/]
      ]
      for (const [message, reason] of bad) {
        const { answers, left } = yield* ask(message)
        assert.deepStrictEqual(answers, [])
        assert.match(left ?? "", reason)
      }
    }))

  it.scoped("blocks that the index does not have get no answer", () =>
    Effect.gen(function*() {
      const { ask, hashAt } = yield* serverOf
      const empty = yield* openFilterIndex({ directory: yield* temporaryDirectory, pageSize: 4096 })
      const messages = yield* FilterServer.make(empty)
      for (const type of ["getcfilters", "getcfheaders"] as const) {
        const peer = fakePeer()
        const message = { type, filterType: 0, startHeight: 1, stopHash: hashAt(2) }
        yield* receive({ messages }, peer, message)
        assert.deepStrictEqual([peer.take(), peer.disconnection()], [[], undefined])
        assert.isAbove((yield* ask(message)).answers.length, 0)
      }
    }))
})
