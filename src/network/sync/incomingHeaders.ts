import * as Effect from "effect/Effect"
import { turnOfEventLoop } from "../../base/turnOfEventLoop.ts"
import { locatorOf, NO_HEADER } from "../../chain/index/HeaderTree.ts"
import { blockWork } from "../../consensus/difficulty.ts"
import { checkProofOfWork } from "../../consensus/header.ts"
import type { Reject } from "../../consensus/Reject.ts"
import type { BlockHeader } from "../../protocol/block.ts"
import { type Bytes, equal } from "../../protocol/bytes.ts"
import { headersSize, isFullHeaders, isTooLongHeaders, LOCATOR_VERSION } from "../wire/messages/headers.ts"
import { type ItemList, ItemType } from "../wire/messages/inv.ts"
import { MOST_ANNOUNCED } from "./announcement.ts"
import { Presync, presyncParameters } from "./Presync.ts"
import { isOffence, learn, misbehaves, seconds, type SyncContext, type SyncPeer, workThreshold } from "./SyncContext.ts"

/** Headers whose proof is checked before others get a turn. */
const PROOFS_A_TURN = 64

const ANY = new Uint8Array(32)

/** Asks for headers after a locator, once the node has loaded. A question that is not answered yet is not repeated soon. */
const question = (context: SyncContext, { peer }: SyncPeer, locator: ReadonlyArray<Bytes>): void => {
  if (context.loading || !context.headers.ask(peer.id, context.now())) return
  peer.post({ type: "getheaders", version: LOCATOR_VERSION, locator, stop: ANY })
}

/** Asks for what comes next in the first passes over a chain of little work; our own best chain in case it changed. */
const askNext = (context: SyncContext, state: SyncPeer, { next }: Presync): void =>
  question(context, state, [next, ...locatorOf(context.tree, context.tree.best())])

/** Asks for what follows a header. Where a chain of little work is under way, that goes on. */
export const askHeaders = (context: SyncContext, state: SyncPeer, after: number): void => {
  if (state.presync !== undefined) askNext(context, state, state.presync)
  else question(context, state, locatorOf(context.tree, after))
}

/**
 * Asks for all that a peer has. From the predecessor of our best header on, so that its answer shows where it stands even
 * if it has no more than we.
 */
export const askAll = (context: SyncContext, state: SyncPeer): void => {
  const best = context.tree.best()
  const parent = context.tree.parent(best)
  askHeaders(context, state, parent === NO_HEADER ? best : parent)
}

const areLinked = (headers: ReadonlyArray<BlockHeader>): boolean =>
  headers.every(({ header }, i) => {
    const before = headers[i - 1]
    return before === undefined || equal(header.prevHash, before.header.hash)
  })

/** The first header without the work that it claims. */
const firstWithoutWork = (
  headers: ReadonlyArray<BlockHeader>,
  { params }: SyncContext
): Effect.Effect<Reject | undefined> =>
  Effect.gen(function*() {
    for (let from = 0; from < headers.length; from += PROOFS_A_TURN) {
      if (from > 0) yield* turnOfEventLoop
      for (const header of headers.slice(from, from + PROOFS_A_TURN)) {
        const reject = checkProofOfWork(header, params)
        if (reject !== undefined) return reject
      }
    }
    return undefined
  })

const claimedWork = (headers: ReadonlyArray<BlockHeader>): bigint =>
  headers.reduce((work, { header }) => work + blockWork(header.bits), 0n)

/** The peer has no more headers than it told. */
const toldAll = (context: SyncContext, state: SyncPeer): Effect.Effect<void> => {
  context.headers.told(state.peer.id)
  return context.status.answered
}

/** Goes on with the first passes over a chain of little work. Returns the headers that are still to be looked at. */
const continuePresync = (
  context: SyncContext,
  state: SyncPeer,
  presync: Presync,
  headers: ReadonlyArray<BlockHeader>,
  full: boolean
): ReadonlyArray<BlockHeader> => {
  context.headers.answered(state.peer.id)
  const { more, released, sound } = presync.take(headers, full)
  if (more) askNext(context, state, presync)
  else state.presync = undefined
  // Where the peer changed its mind, its message may still make sense by itself.
  return sound ? released : headers
}

const startPresync = (
  context: SyncContext,
  state: SyncPeer,
  parent: number,
  headers: ReadonlyArray<BlockHeader>
): void => {
  const { params, random, tree } = context
  const parameters = presyncParameters[params.network.name]
  const word = (): number => Number(random(32))
  state.presync = new Presync({
    params,
    parameters,
    start: {
      hash: tree.hash(parent).slice(),
      height: tree.height(parent),
      bits: tree.bits(parent),
      chainwork: tree.chainwork(parent),
      medianTimePast: tree.medianTimePast(parent)
    },
    threshold: workThreshold(context),
    now: seconds(context),
    key: [word(), word(), word(), word()],
    offset: word() % parameters.period
  })
  continuePresync(context, state, state.presync, headers, true)
}

/**
 * A first header that connects to nothing: the peer knows blocks that we miss. No offence (reference/protocol.md 6.7,
 * point 4), and no answer: what looking at it took is the peer's, whatever the peer was asked.
 */
const unconnected = (context: SyncContext, state: SyncPeer, last: Bytes): void => {
  state.peer.judged(false)
  state.unknown = last.slice()
  askHeaders(context, state, context.tree.best())
}

/** Whether the headers are known and of the best chain, so that they cost nothing. */
const areKnown = ({ tree }: SyncContext, last: Bytes): boolean => {
  const id = tree.find(last)
  if (id === NO_HEADER) return false
  const best = tree.best()
  return tree.isActive(id) ||
    (tree.height(id) <= tree.height(best) && tree.ancestor(best, tree.height(id)) === id)
}

/** Stores headers that are worth it, and goes on from there. */
const accept = (
  context: SyncContext,
  state: SyncPeer,
  headers: ReadonlyArray<BlockHeader>,
  full: boolean
): Effect.Effect<void> =>
  Effect.gen(function*() {
    const { chain, tree } = context
    const { peer } = state
    const { added, last, reject } = yield* chain.acceptHeaders(headers)
    if (last !== NO_HEADER) {
      learn(context, state, last)
      if (added > 0 && tree.compareWork(last, tree.tip()) > 0) state.lastAnnouncement = seconds(context)
    }
    if (reject !== undefined && isOffence(reject, state)) {
      return misbehaves(state, `an invalid header (${reject.reason})`)
    }
    if (full && reject === undefined) {
      if (state.presync === undefined) askHeaders(context, state, last)
      // Behind the question, so that an answer to one more full message of what is known is not read without delay.
      peer.judged(added > 0)
      return
    }
    if (headers.length > MOST_ANNOUNCED) peer.judged(added > 0)
    yield* toldAll(context, state)
    const poor = state.best !== NO_HEADER && tree.chainwork(state.best) < context.params.minimumChainWork
    const outbound = peer.type === "outbound-full-relay" || peer.type === "block-relay-only"
    if (context.initial && poor && outbound) {
      peer.disconnect({
        reason: "insufficient chainwork: its chain has too little work to sync from",
        misbehaving: false
      })
    }
  })

/** Takes a `headers` message: rules 1 to 6 of reference/protocol.md 6.7. */
export const takeHeaders = (
  context: SyncContext,
  state: SyncPeer,
  received: ReadonlyArray<BlockHeader>
): Effect.Effect<void> =>
  Effect.gen(function*() {
    const { headers: asked, tree } = context
    const { peer } = state
    const first = received[0]
    const last = received.at(-1)
    if (first === undefined || last === undefined) {
      state.presync = undefined
      if (asked.answered(peer.id)) askHeaders(context, state, tree.best())
      return yield* toldAll(context, state)
    }
    const size = headersSize(received)
    if (isTooLongHeaders(size, peer.hello.version)) return misbehaves(state, `${size} bytes of headers`)
    if (!areLinked(received)) return misbehaves(state, "headers that do not follow one another")
    const full = isFullHeaders(received.length, size, peer.hello.version)
    let headers = received
    let worthy = false
    if (state.presync !== undefined) {
      const reject = yield* firstWithoutWork(received, context)
      if (reject !== undefined) return misbehaves(state, `an invalid header (${reject.reason})`)
      const { presync } = state
      headers = continuePresync(context, state, presync, received, full)
      worthy = headers !== received
      if (headers.length === 0) return
    }
    const [start] = headers
    const parent = start === undefined ? NO_HEADER : tree.find(start.header.prevHash)
    if (parent === NO_HEADER) {
      const reject = yield* firstWithoutWork(headers, context)
      if (reject !== undefined) return misbehaves(state, `an invalid header (${reject.reason})`)
      return unconnected(context, state, last.header.hash)
    }
    const again = worthy ? false : asked.answered(peer.id)
    const poor = !worthy && !areKnown(context, last.header.hash) &&
      tree.chainwork(parent) + claimedWork(headers) < workThreshold(context)
    if (poor) {
      const reject = yield* firstWithoutWork(headers, context)
      if (reject !== undefined) return misbehaves(state, `an invalid header (${reject.reason})`)
      if (full) startPresync(context, state, parent, headers)
      else {
        peer.judged(false)
        yield* toldAll(context, state)
      }
      return
    }
    yield* accept(context, state, headers, full)
    if (state.unknown !== undefined) resolve(context, state, again)
  })

/** Looks whether a block that the peer announced is known by now; asks once more where it was announced since the question. */
const resolve = (context: SyncContext, state: SyncPeer, again: boolean): void => {
  const { unknown } = state
  if (unknown === undefined) return
  const id = context.tree.find(unknown)
  if (id !== NO_HEADER) {
    state.unknown = undefined
    learn(context, state, id)
  } else if (again) askHeaders(context, state, context.tree.best())
}

/** Takes the blocks that a peer announces by their hashes. */
export const takeInventory = (context: SyncContext, state: SyncPeer, items: ItemList): void => {
  let unknown = false
  for (const { hash, type } of items) {
    if (type !== ItemType.block) continue
    const id = context.tree.find(hash)
    if (id !== NO_HEADER) learn(context, state, id)
    else {
      state.unknown = hash.slice()
      unknown = true
    }
  }
  if (unknown) askHeaders(context, state, context.tree.best())
}
