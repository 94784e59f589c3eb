import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import { turnOfEventLoop } from "../base/turns.ts"
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
  | { readonly type: "connected" }
  /** The block was stored before and is not invalid. */
  | { readonly type: "duplicate" }
  /** The block is stored outside the best chain. Its transactions are not validated. */
  | { readonly type: "inconclusive" }
  | { readonly type: "rejected"; readonly reject: Reject }

export interface HeadersAccepted {
  /** The last of the headers that is known now; `NO_HEADER` if the first one is refused. */
  readonly last: HeaderId
  readonly added: number
  readonly reject: Reject | undefined
}

export interface Delivery {
  /** For each block, why it was refused before it was stored, or `undefined`. */
  readonly refused: ReadonlyArray<Reject | undefined>
  /** Verdicts on blocks of this or an earlier delivery. A block without `reject` is connected. */
  readonly judged: ReadonlyArray<{ readonly hash: Bytes; readonly reject: Reject | undefined }>
}

/** Validates and stores headers and blocks, and moves to the best chain. */
export class ChainSink extends Context.Tag("svcd/ChainSink")<ChainSink, {
  /**
   * Offers headers in chain order up to the first refusal, without waiting for the writer. `checked` headers need no
   * proof, as their proof of work is already checked.
   */
  readonly acceptHeaders: (
    headers: ReadonlyArray<BlockHeader>,
    checked?: boolean
  ) => Effect.Effect<HeadersAccepted>
  /**
   * Stores blocks from peers, then moves to the best chain. Known headers may have their blocks in any order. With
   * `bulk`, while many blocks follow, flushes depend on size and time, and followers are notified in batches.
   */
  readonly deliver: (blocks: ReadonlyArray<Block>, bulk: boolean) => Effect.Effect<Delivery, StorageFailure>
  readonly submit: (block: Block) => Effect.Effect<Submission, StorageFailure>
  /**
   * Validates a block as a new tip without its proof of work, storing nothing. A block that does not build on the tip
   * is refused with `inconclusive-not-best-prevblk`.
   */
  readonly judge: (block: Block) => Effect.Effect<Reject | undefined, StorageFailure>
  /** Imports block files in this order. After a file that ends early, continues with the blocks found. */
  readonly importFrom: (
    paths: ReadonlyArray<string>
  ) => Effect.Effect<ImportReport, ImportFailed | StorageFailure>
}>() {}

/** Headers per turn of the event loop: about five milliseconds of proofs. */
const HEADERS_A_TURN = 64

/** Offers headers one by one. Each step leaves the tree consistent, even between the steps of the writer. */
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
      // This includes a pruned or lost block of the active chain, which was validated before.
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
      const judged = yield* attempt(() => state.connector.judge(block))
      // The writer's lock also protects the pool, so there is no other batch.
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
