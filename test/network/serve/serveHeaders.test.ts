import { assert, describe, it } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { Chain, type ChainProgress } from "../../../src/chain/Chain.ts"
import { mainnetParams, regtestParams } from "../../../src/consensus/params.ts"
import type { Message } from "../../../src/network/wire/message.ts"
import { FULL_HEADERS_SIZE, headersSize, MAX_HEADERS_SIZE } from "../../../src/network/wire/messages/headers.ts"
import { makeAuxpow } from "../../../src/protocol/auxpow.ts"
import { type BlockHeader, decodeBlock } from "../../../src/protocol/block.ts"
import { makeTransaction } from "../../../src/protocol/transaction.ts"
import type { TestChain } from "../../support/chain.ts"
import { receive } from "../../support/receive.ts"
import { coinbaseInput, minimalAuxpow } from "../../support/regtest.ts"
import { fakePeer, ofType } from "../relay/fakePeer.ts"
import { hashOf, lineOf, treeOf } from "./branches.ts"
import { serverWith } from "./servedChain.ts"

const NO_HASH = new Uint8Array(32)

describe("getheaders", () => {
  /** A header whose proof has about this many bytes. */
  const headerOf = (size: number): BlockHeader => {
    const { header } = decodeBlock(regtestParams.network.genesisBlock)
    const proof = minimalAuxpow(header)
    const coinbase = makeTransaction({
      version: 1,
      inputs: [coinbaseInput(new Uint8Array(size))],
      outputs: [],
      lockTime: 0
    })
    return { header, auxpow: makeAuxpow({ ...proof, coinbase }) }
  }

  const asked = { type: "getheaders", version: 1, locator: [hashOf(0)], stop: NO_HASH } as const

  const progress: ChainProgress = {
    tip: { height: 0, hash: NO_HASH },
    headers: 0,
    importing: undefined,
    behind: false,
    missing: undefined
  }

  /** The answer of a chain with this many equal headers, of which `stored` are stored. */
  const sentBy = (
    { changes = {}, count, header, permissions = [], stored = count, version = 110_016 }: {
      readonly count: number
      readonly header: BlockHeader
      readonly stored?: number
      readonly version?: number
      readonly permissions?: ReadonlyArray<"download">
      readonly changes?: Partial<TestChain>
    }
  ) =>
    Effect.gen(function*() {
      const server = yield* serverWith()
      const peer = fakePeer({ hello: { version }, permissions })
      yield* receive(server, peer, asked)
      return peer.take()
    }).pipe(Effect.provide(Layer.mock(Chain, {
      params: regtestParams,
      tree: treeOf(lineOf(count + 1), count),
      progress: Effect.succeed(progress),
      fullHeaders: (ids) => Effect.succeed(ids.filter((id) => id <= stored).map(() => header)),
      ...changes
    })))

  const counts = (messages: ReadonlyArray<Message>) => ofType(messages, "headers").map(({ headers }) => headers.length)

  const large = headerOf(8000)
  const full = Math.ceil(FULL_HEADERS_SIZE / headersSize([large]))

  it.effect("the answer ends with the header that reaches 4 MiB, for peers that support the limit", () =>
    Effect.gen(function*() {
      assert.deepStrictEqual(counts(yield* sentBy({ count: 1900, header: large })), [full])
      assert.deepStrictEqual(counts(yield* sentBy({ count: full, header: large })), [full])
      assert.deepStrictEqual(counts(yield* sentBy({ count: full - 1, header: large })), [full - 1])
      assert.deepStrictEqual(counts(yield* sentBy({ count: 1900, header: large, version: 110_000 })), [full])
      assert.deepStrictEqual(counts(yield* sentBy({ count: 1900, header: large, version: 109_999 })), [1900])
    }))

  it.effect("no answer is sent if it has more than 6 MiB", () =>
    Effect.gen(function*() {
      const huge = headerOf(MAX_HEADERS_SIZE)
      assert.deepStrictEqual(counts(yield* sentBy({ count: 3, header: huge })), [])
      assert.deepStrictEqual(counts(yield* sentBy({ count: 3, header: huge, version: 109_999 })), [3])
    }))

  it.effect("no answer is sent if a header is not stored with its proof", () =>
    Effect.gen(function*() {
      const header = headerOf(10)
      assert.deepStrictEqual(counts(yield* sentBy({ count: 300, header, stored: 299 })), [])
      assert.deepStrictEqual(counts(yield* sentBy({ count: 300, header, stored: 300 })), [300])
    }))

  it.effect("the answer is empty while the chain has too little work", () =>
    Effect.gen(function*() {
      const header = headerOf(10)
      assert.deepStrictEqual(counts(yield* sentBy({ count: 3, header, changes: { params: mainnetParams } })), [0])
      const enough = { ...regtestParams, minimumChainWork: 8n }
      assert.deepStrictEqual(counts(yield* sentBy({ count: 3, header, changes: { params: enough } })), [3])
      const more = { ...regtestParams, minimumChainWork: 9n }
      assert.deepStrictEqual(counts(yield* sentBy({ count: 3, header, changes: { params: more } })), [0])
      const permissions = ["download"] as const
      assert.deepStrictEqual(counts(yield* sentBy({ count: 3, header, permissions, changes: { params: more } })), [3])
    }))

  it.effect("getheaders is ignored during an import", () =>
    Effect.gen(function*() {
      const importing = {
        phase: "blocks",
        done: 1,
        total: 2,
        bytesDone: 1,
        bytesTotal: 2,
        height: 1,
        elapsedMs: 1
      } as const
      const changes = { progress: Effect.succeed({ ...progress, importing }) }
      assert.deepStrictEqual(yield* sentBy({ count: 3, header: headerOf(10), changes }), [])
    }))
})
