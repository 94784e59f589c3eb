import { assert, describe, it } from "@effect/vitest"
import { Effect, Layer } from "effect"
import * as SyncStatus from "../../../src/chain/SyncStatus.ts"
import { askAll, takeHeaders } from "../../../src/network/sync/incomingHeaders.ts"
import type { SyncContext, SyncPeer } from "../../../src/network/sync/SyncContext.ts"
import { MAX_HEADERS, MAX_LOCATOR } from "../../../src/network/wire/messages/headers.ts"
import type { BlockHeader } from "../../../src/protocol/block.ts"
import { type Bytes, toHex } from "../../../src/protocol/bytes.ts"
import type { Header } from "../../../src/protocol/header.ts"
import { chainLayer, temporaryDirectory } from "../../support/chain.ts"
import { BLOCK_VERSION, emptyChain, solve } from "../../support/regtest.ts"
import { mempoolWith } from "../relay/fakePool.ts"
import { FakePeer, ServedBlocks } from "./fakePeers.ts"
import { join, makeContext } from "./makeContext.ts"

const GENESIS_BLOCK = emptyChain(0).blockAt(0)

/** Headers with work on top of another; `salt` tells branches apart. */
const onTopOf = (parent: Header, count: number, salt = 0): ReadonlyArray<BlockHeader> => {
  const headers: Array<BlockHeader> = []
  const merkleRoot = new Uint8Array(32).fill(salt)
  let last = parent
  for (let made = 0; made < count; made++) {
    last = solve({ version: BLOCK_VERSION, prevHash: last.hash, merkleRoot, time: last.time + 1, bits: last.bits })
    headers.push({ header: last, auxpow: undefined })
  }
  return headers
}

/** Our best chain, from genesis on: as deep as the tests go, and as many headers below. */
const DEEPEST = 9_000
const MAIN: ReadonlyArray<BlockHeader> = [GENESIS_BLOCK, ...onTopOf(GENESIS_BLOCK.header, 2 * DEEPEST)]
const TOP = MAIN.length - 1
const HEIGHTS = new Map(MAIN.map(({ header }, height) => [toHex(header.hash), height]))

/** What a peer has: our best chain up to a height, and headers of its own above it. */
interface PeerChain {
  readonly shared: number
  readonly own: ReadonlyArray<BlockHeader>
}

/** The answer to `getheaders` of a node with this chain. Source: upstream `net_processing.cpp`, `ProcessMessage`. */
const answerOf = ({ own, shared }: PeerChain, locator: ReadonlyArray<Bytes>): ReadonlyArray<BlockHeader> => {
  assert.isAtMost(locator.length, MAX_LOCATOR)
  for (const hash of locator) {
    const height = HEIGHTS.get(toHex(hash))
    if (height !== undefined && height <= shared) {
      return [...MAIN.slice(height + 1, Math.min(shared, height + MAX_HEADERS) + 1), ...own].slice(0, MAX_HEADERS)
    }
    const at = own.findIndex(({ header }) => toHex(header.hash) === toHex(hash))
    if (at >= 0) return own.slice(at + 1, at + 1 + MAX_HEADERS)
  }
  throw new Error("the locator lacks genesis")
}

/**
 * Answers a peer's questions until none is open. Returns how many there were, how many headers were not known before, and
 * whether the last answer was empty: the peer's chain ends at an entry of the locator.
 */
const converse = (context: SyncContext, { peer, state, chain, from = 0 }: {
  readonly peer: FakePeer
  readonly state: SyncPeer
  readonly chain: PeerChain
  /** Questions that were answered before. */
  readonly from?: number
}) =>
  Effect.gen(function*() {
    let fresh = 0
    let ended = false
    for (let asked = from; asked < peer.got("getheaders").length; asked++) {
      // A conversation without an end.
      if (asked === 100) return { questions: Infinity, fresh, ended }
      const answer = answerOf(chain, peer.got("getheaders")[asked]?.locator ?? [])
      ended = answer.length === 0
      fresh += answer.filter(({ header }) => context.tree.find(header.hash) < 0).length
      yield* takeHeaders(context, state, answer)
    }
    return { questions: peer.got("getheaders").length, fresh, ended }
  })

const meet = (context: SyncContext, chain: PeerChain) => {
  const peer = new FakePeer(new ServedBlocks([GENESIS_BLOCK]))
  const state = join(context, peer)
  askAll(context, state)
  return Effect.map(converse(context, { peer, state, chain }), (counted) => {
    assert.isUndefined(peer.disconnection)
    const { best } = state
    return { ...counted, best: best < 0 ? undefined : toHex(context.tree.hash(best)) }
  })
}

/** The hash of the last header of a peer. */
const endOf = ({ own, shared }: PeerChain): string =>
  toHex((own.at(-1) ?? MAIN[shared])?.header.hash ?? new Uint8Array())

const withMain = <A>(use: (context: SyncContext) => Effect.Effect<A>) =>
  Effect.gen(function*() {
    const context = yield* makeContext.pipe(Effect.provide(Layer.mergeAll(
      SyncStatus.layer({ offline: false, expectsPeers: true }).pipe(
        Layer.provideMerge(chainLayer(yield* temporaryDirectory))
      ),
      mempoolWith({ entries: () => [] })
    )))
    assert.strictEqual((yield* context.sink.acceptHeaders(MAIN.slice(1))).added, TOP)
    return yield* use(context)
  })

/** Each run tries other depths, `HEADER_DEPTH_STRIDE=1` all of them; where the entries of a locator are dense, always all. */
const STRIDE = Number(process.env["HEADER_DEPTH_STRIDE"] ?? 11)
const OFFSET = Math.floor(Math.random() * STRIDE)
const DEPTHS = Array.from({ length: DEEPEST + 1 }, (_, depth) => depth).filter((depth) =>
  depth < 20 || depth === DEEPEST || depth % STRIDE === OFFSET
)

describe("questions to a peer", () => {
  it.scopedLive("that is some blocks behind on our own chain: few, at any depth", () =>
    withMain((context) =>
      Effect.gen(function*() {
        for (const depth of DEPTHS) {
          const chain = { shared: TOP - depth, own: [] }
          const { best, ended, questions } = yield* meet(context, chain)
          // The question begins at the parent of our best header: a peer that has it answers with it at once.
          assert.isAtMost(questions, depth === 0 ? 1 : 3, `${depth} blocks behind`)
          if (!ended || depth === 0) assert.strictEqual(best, endOf(chain), `${depth} blocks behind`)
        }
      })
    ))

  it.scopedLive("whose chain leaves ours that far below: few, at any depth", () =>
    withMain((context) =>
      Effect.gen(function*() {
        for (const depth of DEPTHS) {
          const shared = TOP - depth
          const chain = { shared, own: onTopOf(MAIN[shared]?.header ?? GENESIS_BLOCK.header, 2, 1) }
          const { best, questions } = yield* meet(context, chain)
          assert.isAtMost(questions, 3, `${depth} blocks below`)
          assert.strictEqual(best, endOf(chain), `${depth} blocks below`)
        }
      })
    ))

  it.scopedLive("with a long branch that another peer has shown: few, at any length", () =>
    withMain((context) =>
      Effect.gen(function*() {
        const shared = TOP - DEEPEST
        const branch = onTopOf(MAIN[shared]?.header ?? GENESIS_BLOCK.header, DEEPEST - 1, 1)
        for (const length of [1, MAX_HEADERS - 1, MAX_HEADERS, MAX_HEADERS + 1, 3 * MAX_HEADERS, DEEPEST - 1]) {
          const chain = { shared, own: branch.slice(0, length) }
          const first = yield* meet(context, chain)
          assert.isAtMost(first.questions, 3 + length / MAX_HEADERS, `${length} headers`)
          assert.strictEqual(first.best, endOf(chain), `${length} headers`)
          const again = yield* meet(context, chain)
          assert.strictEqual(again.fresh, 0, `${length} headers`)
          assert.isAtMost(again.questions, 3 + length / MAX_HEADERS, `${length} known headers`)
          assert.strictEqual(again.best, endOf(chain), `${length} known headers`)
        }
      })
    ))

  it.scopedLive("that another peer overtakes: few, however often its header sync starts again", () =>
    withMain((context) =>
      Effect.gen(function*() {
        for (const depth of [2_080, 4_200, 8_300, DEEPEST]) {
          const silent = new FakePeer(new ServedBlocks([GENESIS_BLOCK]))
          const waiting = join(context, silent)
          assert.include(context.headers.start(context.now(), 0), silent.id)
          askAll(context, waiting)
          const peer = new FakePeer(new ServedBlocks([GENESIS_BLOCK]))
          const state = join(context, peer)
          const chain = { shared: TOP - depth, own: [] }
          for (let tick = 0; tick < 20; tick++) {
            const from = peer.got("getheaders").length
            if (context.headers.start(context.now(), 0).includes(peer.id)) askAll(context, state)
            yield* converse(context, { peer, state, chain, from })
            // A full answer without a new header ended its header sync: the other peer is not silent yet.
            if (tick === 0) assert.isFalse(context.headers.isStarted(peer.id), `${depth} blocks behind`)
          }
          assert.isAtMost(peer.got("getheaders").length, 3, `${depth} blocks behind`)
          context.headers.remove(silent.id)
        }
      })
    ))

  // Work that is checked first is walked twice.
  for (const walks of [1, 2]) {
    it.scopedLive(`whose chain is longer than ours, from far below, walked ${walks}x: it becomes the best chain`, () =>
      withMain((given) =>
        Effect.gen(function*() {
          const { params, tree } = given
          const minimumChainWork = walks === 1 ? 0n : tree.chainwork(tree.best())
          const context = { ...given, params: { ...params, minimumChainWork } }
          for (const [round, depth] of [2_047, 2_100, 4_110, 6_300].entries()) {
            const shared = TOP - depth
            const length = tree.height(tree.best()) - shared + 2
            const chain = { shared, own: onTopOf(MAIN[shared]?.header ?? GENESIS_BLOCK.header, length, round + 2) }
            const { best, fresh, questions } = yield* meet(context, chain)
            assert.isAtMost(questions, 3 * walks + fresh / MAX_HEADERS, `${depth} blocks below`)
            assert.strictEqual(best, endOf(chain))
            assert.strictEqual(toHex(tree.hash(tree.best())), endOf(chain))
          }
        })
      ))
  }
})
