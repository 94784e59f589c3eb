import * as Effect from "effect/Effect"
import { turnOfEventLoop } from "../../base/turns.ts"
import { GENESIS } from "../../chain/index/BlockIndex.ts"
import { locatorOf, NO_HEADER } from "../../chain/index/HeaderTree.ts"
import { blockWork } from "../../consensus/difficulty.ts"
import { checkProofOfWork } from "../../consensus/header.ts"
import type { Reject } from "../../consensus/Reject.ts"
import { type BlockHeader, decodeBlock } from "../../protocol/block.ts"
import { type Bytes, equal } from "../../protocol/bytes.ts"
import type { HeaderId } from "../../protocol/keys.ts"
import { headersSize, isFullHeaders, isTooLongHeaders, LOCATOR_VERSION } from "../wire/messages/headers.ts"
import { type ItemList, ItemType } from "../wire/messages/inv.ts"
import { MOST_ANNOUNCED } from "./announceBlocks.ts"
import { Presync, presyncParameters, type PresyncStart } from "./Presync.ts"
import { isOffence, learn, misbehaves, seconds, type SyncContext, type SyncPeer, workThreshold } from "./SyncContext.ts"

/** Headers whose proof of work is checked before other fibers get a turn. */
const PROOFS_A_TURN = 64

const ANY = new Uint8Array(32)

/** No-op while the node is loading. An unanswered request is not repeated soon. */
const question = (context: SyncContext, { peer }: SyncPeer, locator: ReadonlyArray<Bytes>): void => {
  if (context.loading || !context.headers.ask(peer.id, context.now())) return
  peer.post({ type: "getheaders", version: LOCATOR_VERSION, locator, stop: ANY })
}

/** Includes our best chain, in case the peer's changed. */
const askNext = (context: SyncContext, state: SyncPeer, { next }: Presync): void =>
  question(context, state, [next, ...locatorOf(context.tree, context.tree.best())])

/** Or continues the check of a low-work chain. No two answers are the same. */
export const askHeaders = (context: SyncContext, state: SyncPeer, after: HeaderId): void => {
  const { tree } = context
  if (state.presync !== undefined) return askNext(context, state, state.presync)
  const known = state.best === NO_HEADER ? after : tree.forkPoint(state.best, after)
  question(context, state, locatorOf(tree, after, known))
}

/** The parent of a header. A peer with the header answers at least with it, which shows its position. */
const before = ({ tree }: SyncContext, id: HeaderId): HeaderId => {
  const parent = tree.parent(id)
  return parent === NO_HEADER ? id : parent
}

export const askFrom = (context: SyncContext, state: SyncPeer, id: HeaderId): void =>
  askHeaders(context, state, before(context, id))

export const askAll = (context: SyncContext, state: SyncPeer): void => askFrom(context, state, context.tree.best())

/** After our best chain if that already continues from there. */
const askBeyond = (context: SyncContext, state: SyncPeer, last: HeaderId): void => {
  const { tree } = context
  const end = before(context, tree.best())
  const isAhead = tree.height(end) > tree.height(last) && tree.forkPoint(end, last) === last
  if (isAhead) question(context, state, locatorOf(tree, end, last))
  else askHeaders(context, state, last)
}

/** How far below the best header to ask again: enough for headers announced without their blocks. */
const LOOK_BACK = 16

/** Asks once more, from further back, if our best header lacks its block: the peer's chain may end below. */
const lookBack = (context: SyncContext, state: SyncPeer): void => {
  const { tree } = context
  const best = tree.best()
  const [first, height] = [tree.height(GENESIS), tree.height(best)]
  if (tree.hasBlock(best)) return
  // From the first header or the one after it, it was asked already.
  if (state.best !== NO_HEADER || state.lookedBack || height <= first + 1) return
  state.lookedBack = true
  askHeaders(context, state, tree.ancestor(best, Math.max(first, height - LOOK_BACK)))
}

const areLinked = (headers: ReadonlyArray<BlockHeader>): boolean =>
  headers.every(({ header }, i) => {
    const before = headers[i - 1]
    return before === undefined || equal(header.prevHash, before.header.hash)
  })

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

const toldAll = (context: SyncContext, state: SyncPeer): Effect.Effect<void> => {
  context.headers.told(state.peer.id)
  return context.status.answered
}

/** `full`: more headers follow. */
interface HeadersMessage {
  readonly headers: ReadonlyArray<BlockHeader>
  readonly full: boolean
}

const continuePresync = (
  context: SyncContext,
  state: SyncPeer,
  { full, headers, presync }: HeadersMessage & { readonly presync: Presync }
): HeadersMessage => {
  context.headers.answered(state.peer.id)
  const { cut, more, released, sound } = presync.take(headers, full)
  if (more) askNext(context, state, presync)
  else state.presync = undefined
  // If the peer's chain changed, its message may still be valid by itself.
  return sound ? { headers: released, full: full || cut } : { headers, full }
}

/** An anchor has no fields: its difficulty is unknown, and later blocks are assumed on schedule. */
const startAt = ({ params, tree }: SyncContext, parent: HeaderId): PresyncStart => {
  const height = tree.height(parent)
  const known = { hash: tree.hash(parent).slice(), height, chainwork: tree.chainwork(parent) }
  const isAnchor = tree.parent(parent) === NO_HEADER && height > 0
  if (!isAnchor) return { ...known, bits: tree.bits(parent), medianTimePast: tree.medianTimePast(parent) }
  const { header } = decodeBlock(params.network.genesisBlock)
  return { ...known, bits: undefined, medianTimePast: header.time + height * params.targetSpacing }
}

const startPresync = (
  context: SyncContext,
  state: SyncPeer,
  { headers, parent }: { readonly parent: HeaderId; readonly headers: ReadonlyArray<BlockHeader> }
): void => {
  const { params, random } = context
  const parameters = presyncParameters[params.network.name]
  const word = (): number => Number(random(32))
  state.presync = new Presync({
    params,
    parameters,
    start: startAt(context, parent),
    threshold: workThreshold(context, parent),
    now: seconds(context),
    key: [word(), word(), word(), word()],
    offset: word() % parameters.period
  })
  continuePresync(context, state, { presync: state.presync, headers, full: true })
}

/** Not misbehaviour (reference/protocol.md 6.7, point 4), but no answer either, so the peer is charged. */
const unconnected = (context: SyncContext, state: SyncPeer, last: Bytes): void => {
  state.peer.judged(false)
  state.unknown = last.slice()
  askHeaders(context, state, context.tree.best())
}

/** The peer then answers from genesis. */
const lacksAnchor = ({ params, tree }: SyncContext, { header: { prevHash } }: BlockHeader): boolean =>
  tree.height(GENESIS) > 0 && equal(prevHash, decodeBlock(params.network.genesisBlock).hash)

/** Known headers cost nothing. */
const areKnown = ({ tree }: SyncContext, last: Bytes): boolean => {
  const id = tree.find(last)
  if (id === NO_HEADER) return false
  const best = tree.best()
  return tree.isActive(id) ||
    (tree.height(id) <= tree.height(best) && tree.ancestor(best, tree.height(id)) === id)
}

/** Returns whether it asked. The answer travels while these headers are checked. */
const askAhead = (context: SyncContext, state: SyncPeer, headers: ReadonlyArray<BlockHeader>): boolean => {
  const { tree } = context
  const [first, last] = [headers[0]?.header, headers.at(-1)?.header]
  if (first === undefined || last === undefined || tree.find(last.hash) !== NO_HEADER) return false
  question(context, state, [last.hash, ...locatorOf(tree, tree.find(first.prevHash))])
  return true
}

const accept = (
  context: SyncContext,
  state: SyncPeer,
  { full, headers }: HeadersMessage
): Effect.Effect<void> =>
  Effect.gen(function*() {
    const { sink, tree } = context
    const { peer } = state
    const isAhead = full && state.presync === undefined && askAhead(context, state, headers)
    const { added, last, reject } = yield* sink.acceptHeaders(headers)
    if (last !== NO_HEADER) {
      learn(context, state, last)
      state.announced = last
      if (added > 0 && tree.compareWork(last, tree.tip()) > 0) state.lastAnnouncement = seconds(context)
    }
    if (reject !== undefined && isOffence(reject, state)) {
      return misbehaves(state, `invalid header: ${reject.reason}`)
    }
    if (full && reject === undefined) {
      const isOvertaken = added === 0 && context.headers.overtaken(peer.id, context.now())
      if (state.presync === undefined && !isOvertaken && !isAhead) askBeyond(context, state, last)
      // After the request, so that another full message of known headers is not read without delay.
      peer.judged(added > 0)
      return
    }
    if (headers.length > MOST_ANNOUNCED) peer.judged(added > 0)
    yield* toldAll(context, state)
    const poor = state.best !== NO_HEADER && tree.chainwork(state.best) < context.params.minimumChainWork
    const outbound = peer.type === "outbound-full-relay" || peer.type === "block-relay-only"
    if (context.initial && poor && outbound) {
      peer.disconnect({
        reason: "insufficient chainwork: the chain of the peer has too little work to sync from",
        misbehaving: false
      })
    }
  })

/** Rules 1 to 6 of reference/protocol.md 6.7. */
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
      else lookBack(context, state)
      return yield* toldAll(context, state)
    }
    const size = headersSize(received)
    if (isTooLongHeaders({ size, peerVersion: peer.hello.version })) {
      return misbehaves(state, `oversized headers message: ${size} bytes`)
    }
    if (!areLinked(received)) {
      return misbehaves(state, "non-continuous headers: they do not follow one another")
    }
    let full = isFullHeaders({ count: received.length, size, peerVersion: peer.hello.version })
    let headers = received
    let worthy = false
    // The chain may have these headers by now, from another peer or a light start.
    if (areKnown(context, last.header.hash)) state.presync = undefined
    if (state.presync !== undefined) {
      const reject = yield* firstWithoutWork(received, context)
      if (reject !== undefined) return misbehaves(state, `invalid header: ${reject.reason}`)
      const { presync } = state
      const left = continuePresync(context, state, { presync, headers: received, full })
      headers = left.headers
      full = left.full
      worthy = headers !== received
      if (headers.length === 0) return
    }
    const [start] = headers
    const parent = start === undefined ? NO_HEADER : tree.find(start.header.prevHash)
    if (parent === NO_HEADER) {
      const reject = yield* firstWithoutWork(headers, context)
      if (reject !== undefined) return misbehaves(state, `invalid header: ${reject.reason}`)
      if (start !== undefined && lacksAnchor(context, start)) {
        return peer.disconnect({ reason: "the chain of the peer lacks the anchor", misbehaving: false })
      }
      return unconnected(context, state, last.header.hash)
    }
    const again = worthy ? false : asked.answered(peer.id)
    // A peer that the operator trusts saves the check.
    const poor = !worthy && !peer.permissions.has("noban") && !areKnown(context, last.header.hash) &&
      tree.chainwork(parent) + claimedWork(headers) < workThreshold(context, parent)
    if (poor) {
      const reject = yield* firstWithoutWork(headers, context)
      if (reject !== undefined) return misbehaves(state, `invalid header: ${reject.reason}`)
      if (full) startPresync(context, state, { parent, headers })
      else {
        peer.judged(false)
        yield* toldAll(context, state)
      }
      return
    }
    yield* accept(context, state, { headers, full })
    if (state.unknown !== undefined) resolve(context, state, again)
  }).pipe(Effect.withSpan("svcd.network.headers", { attributes: { peer: state.peer.id, headers: received.length } }))

/** A later block may build on this unwanted one. */
export const takeHeader = (context: SyncContext, state: SyncPeer, header: BlockHeader): Effect.Effect<void> =>
  Effect.map(context.sink.acceptHeaders([header]), ({ last, reject }) => {
    if (reject === undefined) learn(context, state, last)
    else if (isOffence(reject, state)) misbehaves(state, `invalid header: ${reject.reason}`)
  })

/** Checks whether an announced block is known now. Asks once more if it was announced after the request. */
const resolve = (context: SyncContext, state: SyncPeer, again: boolean): void => {
  const { unknown } = state
  if (unknown === undefined) return
  const id = context.tree.find(unknown)
  if (id !== NO_HEADER) {
    state.unknown = undefined
    learn(context, state, id)
  } else if (again) askHeaders(context, state, context.tree.best())
}

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
  if (unknown && context.headers.follows(state.peer.id)) askHeaders(context, state, context.tree.best())
}
