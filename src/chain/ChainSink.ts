import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import { turnOfEventLoop } from "../base/turnOfEventLoop.ts"
import type { Reject } from "../consensus/Reject.ts"
import type { Block, BlockHeader } from "../protocol/block.ts"
import { type Bytes, displayHash } from "../protocol/bytes.ts"
import { type HeaderId, headerId } from "../protocol/keys.ts"
import type { StorageFailure } from "../storage/errors.ts"
import { attempt } from "./attempt.ts"
import type { ChainParts } from "./ChainParts.ts"
import type { ImportFailed } from "./errors.ts"
import type { ImportReport } from "./import/importBlocks.ts"
import { NO_HEADER } from "./index/HeaderTree.ts"
import type { Accepted } from "./state/Accepted.ts"
import { blockReject } from "./write/chainSteps.ts"
import { cursorOf } from "./write/followers.ts"
import { recordRefused } from "./write/recordChain.ts"

export type Submission =
  /** The block is in the best chain now. */
  | { readonly type: "connected" }
  /** The block was stored before and is not invalid. */
  | { readonly type: "duplicate" }
  /** The block is stored. It is not on the best chain, so its transactions are not validated. */
  | { readonly type: "inconclusive" }
  | { readonly type: "rejected"; readonly reject: Reject }

export interface HeadersAccepted {
  /** The number in the tree of the last header that is known now; `NO_HEADER` if the first one is refused. */
  readonly last: HeaderId
  readonly added: number
  /** Why the header after `last` is refused. */
  readonly reject: Reject | undefined
}

export interface Delivery {
  /** For each block in order: why it was refused before it was stored, or `undefined`. */
  readonly refused: ReadonlyArray<Reject | undefined>
  /** The verdicts on blocks of this or an earlier delivery: refused with the reason, or connected. */
  readonly judged: ReadonlyArray<{ readonly hash: Bytes; readonly reject: Reject | undefined }>
}

/** Takes headers and blocks: validates them, stores them, and moves to the best chain. */
export class ChainSink extends Context.Tag("svcd/ChainSink")<ChainSink, {
  /**
   * Offers headers in chain order, up to the first refusal. Does not wait for the writer of the chain. `checked`: their
   * proofs of work were checked before, so that they may come without proofs.
   */
  readonly acceptHeaders: (
    headers: ReadonlyArray<BlockHeader>,
    checked?: boolean
  ) => Effect.Effect<HeadersAccepted>
  /**
   * Offers blocks from peers: stores them, then moves to the best chain. The order is free if the headers are known.
   * Use `bulk` while many blocks follow: then flushes depend on size and time, and followers are notified in batches.
   */
  readonly deliver: (blocks: ReadonlyArray<Block>, bulk: boolean) => Effect.Effect<Delivery, StorageFailure>
  readonly submit: (block: Block) => Effect.Effect<Submission, StorageFailure>
  /**
   * Validates a block as a new tip without its proof of work, and stores nothing. A block that does not build on the
   * tip is refused with `inconclusive-not-best-prevblk`.
   */
  readonly judge: (block: Block) => Effect.Effect<Reject | undefined, StorageFailure>
  /** Imports block files, one path after the other. If a file ends early, continues with the blocks found. */
  readonly importFrom: (
    paths: ReadonlyArray<string>
  ) => Effect.Effect<ImportReport, ImportFailed | StorageFailure>
}>() {}

/** Headers between two turns of the event loop: about five milliseconds of proofs. */
const HEADERS_A_TURN = 64

/**
 * Offers headers one by one. Each is one step that leaves the tree consistent, even between the steps of the writer of a
 * chain.
 */
export const acceptHeaders = (
  accept: (header: BlockHeader) => Accepted,
  headers: ReadonlyArray<BlockHeader>
): Effect.Effect<HeadersAccepted> =>
  Effect.gen(function*() {
    let last = NO_HEADER
    let added = 0
    for (let from = 0; from < headers.length; from += HEADERS_A_TURN) {
      if (from > 0) yield* turnOfEventLoop
      for (const header of headers.slice(from, from + HEADERS_A_TURN)) {
        const accepted = accept(header)
        if (accepted.type === "rejected") {
          recordRefused("header")
          return { last, added, reject: accepted.reject }
        }
        if (accepted.type === "new") added++
        last = headerId(accepted.id)
      }
    }
    return { last, added, reject: undefined }
  }).pipe(Effect.withSpan("svcd.chain.acceptHeaders", { attributes: { headers: headers.length } }))

const submit = ({ state, writer }: ChainParts, block: Block): Effect.Effect<Submission, StorageFailure> =>
  writer.exclusively<Submission, StorageFailure>((held) =>
    Effect.gen(function*() {
      const accepted: Accepted = yield* attempt(() => state.acceptBlock(block))
      const stored = accepted.type === "rejected" ? undefined : accepted.id
      // Also for a pruned or lost block of the active chain, which is stored again: it was judged before.
      let outcome: Submission = { type: "inconclusive" }
      yield* held.activate(false, (id, reject) => {
        if (id === stored) outcome = reject === undefined ? { type: "connected" } : { type: "rejected", reject }
      })
      yield* held.flushAfter(false)
      if (accepted.type === "rejected") {
        recordRefused("block")
        return accepted
      }
      return accepted.type === "known" ? { type: "duplicate" } : outcome
    })
  ).pipe(
    Effect.tap(({ type }) => Effect.annotateCurrentSpan("result", type)),
    Effect.withSpan("svcd.chain.submit", { attributes: { hash: displayHash(block.hash) } })
  )

const deliver = (
  { state, writer }: ChainParts,
  blocks: ReadonlyArray<Block>,
  bulk: boolean
): Effect.Effect<Delivery, StorageFailure> =>
  writer.exclusively((held) =>
    Effect.gen(function*() {
      const refused = new Array<Reject | undefined>()
      for (const block of blocks) {
        const accepted = yield* attempt(() => state.acceptBlock(block))
        if (accepted.type === "rejected") recordRefused("block")
        refused.push(accepted.type === "rejected" ? accepted.reject : undefined)
      }
      const judged: Array<Delivery["judged"][number]> = []
      yield* held.activate(bulk, (id, reject) => judged.push({ hash: cursorOf(state, id).hash, reject }))
      yield* held.flushAfter(bulk)
      return { refused, judged }
    })
  ).pipe(Effect.withSpan("svcd.chain.deliver", { attributes: { blocks: blocks.length, bulk } }))

const judge = (
  { pool, state, writer }: ChainParts,
  block: Block
): Effect.Effect<Reject | undefined, StorageFailure> =>
  writer.undisturbed(
    Effect.gen(function*() {
      const judged = yield* attempt(() => state.judge(block))
      // The writer's lock also protects the pool: there is no other batch.
      const batch = pool.begin()
      batch.add(0, judged.scripts, judged.flags)
      const failed = yield* batch.finish
      return failed === undefined ? judged.reject : blockReject(failed, pool)
    }).pipe(Effect.uninterruptible)
  ).pipe(Effect.withSpan("svcd.chain.judge", { attributes: { transactions: block.transactions.length } }))

export const make = (parts: ChainParts): Context.Tag.Service<ChainSink> => ({
  acceptHeaders: (headers, checked) => acceptHeaders((header) => parts.state.acceptHeader(header, checked), headers),
  deliver: (blocks, bulk) => deliver(parts, blocks, bulk),
  submit: (block) => submit(parts, block),
  judge: (block) => judge(parts, block),
  importFrom: (paths) => parts.imports.run({ paths, own: false })
})
