import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Layer from "effect/Layer"
import * as Queue from "effect/Queue"
import * as Schedule from "effect/Schedule"
import type * as Scope from "effect/Scope"
import * as Stream from "effect/Stream"
import { withLoneSpan } from "../base/spans.ts"
import { turnOfEventLoop } from "../base/turnOfEventLoop.ts"
import type { ConsensusParams } from "../consensus/params.ts"
import type { Reject } from "../consensus/Reject.ts"
import type { Coin, NameClaim } from "../consensus/view.ts"
import type { Block, BlockHeader } from "../protocol/block.ts"
import { type Bytes, displayHash } from "../protocol/bytes.ts"
import { type HeaderId, headerId } from "../protocol/keys.ts"
import { guarded } from "../storage/Database.ts"
import type { DataHealth } from "../storage/DataHealth.ts"
import { type StorageFailure, StorageUnavailable } from "../storage/errors.ts"
import { attempt } from "./attempt.ts"
import type { ChainEvent } from "./ChainEvent.ts"
import { BlockNotFound, BlockUnavailable, type ImportFailed } from "./errors.ts"
import { type ImportReport, importSources } from "./import/importBlocks.ts"
import type { ImportProgress } from "./import/ImportRun.ts"
import { removeUnpacked } from "./import/importSource.ts"
import { NONE, Status } from "./index/BlockIndex.ts"
import { type Branch, branchOf, giveUpBranch } from "./index/branches.ts"
import { Decisions } from "./index/Decisions.ts"
import { type HeaderInfo, headerInfo } from "./index/headerInfo.ts"
import { type HeaderTree, headerTree } from "./index/HeaderTree.ts"
import { lacksUndo } from "./repair/BlockLosses.ts"
import { checkPages, removeDamagedChainState } from "./repair/chainDamage.ts"
import { type CheckLimits, checkStored } from "./repair/checkStored.ts"
import { cutTails } from "./repair/repairFiles.ts"
import { DEFAULT_CHECK, verifyChain, type VerifyOptions, type VerifyReport } from "./repair/verifyChain.ts"
import { type Accepted, ChainState, type ChainStateOptions } from "./state/ChainState.ts"
import type { Undo } from "./state/coinCodec.ts"
import type { Timings } from "./state/timings.ts"
import type { TipState } from "./state/TipState.ts"
import * as ChainWriter from "./write/ChainWriter.ts"
import type { Cursor, Follower } from "./write/Follower.ts"
import { cursorOf } from "./write/followers.ts"
import { recordRefused } from "./write/recordChain.ts"
import * as VerifyPool from "./write/VerifyPool.ts"

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

export interface StateAtRest {
  readonly tip: HeaderInfo
  /** Passes all coins to `use` in lists, in the order of (txid, index). */
  readonly visitCoins: (
    use: (coins: ReadonlyArray<readonly [outpoint: string, coin: Coin]>) => void
  ) => Effect.Effect<void, StorageFailure>
  /** Passes the claims of all names to `use` in lists, in the order of their bytes. */
  readonly visitClaims: (
    use: (claims: ReadonlyArray<readonly [name: string, claim: NameClaim]>) => void
  ) => Effect.Effect<void, StorageFailure>
}

export interface ChainProgress {
  readonly tip: Cursor
  readonly headers: number
  readonly importing: ImportProgress | undefined
  /** Whether a header with more chainwork than the tip's is known: its blocks are missing. */
  readonly behind: boolean
}

export class Chain extends Context.Tag("svcd/Chain")<Chain, {
  readonly params: ConsensusParams
  readonly tip: Effect.Effect<HeaderInfo>
  /** The tip, once the followers have been notified of it. Not for the steps of a follower. */
  readonly toldTip: Effect.Effect<HeaderInfo>
  /** The header with the most chainwork that is not known to be invalid. */
  readonly headerTip: Effect.Effect<HeaderInfo>
  readonly progress: Effect.Effect<ChainProgress>
  /** The header of the best chain at a height; `undefined` above the tip. */
  readonly headerAt: (height: number) => Effect.Effect<HeaderInfo | undefined>
  readonly header: (hash: Bytes) => Effect.Effect<HeaderInfo, BlockNotFound>
  readonly block: (hash: Bytes) => Effect.Effect<Block, BlockNotFound | BlockUnavailable | StorageFailure>
  /** The undo data of a connected block; `undefined` if the block was never connected. Fails if they are lost. */
  readonly undo: (hash: Bytes) => Effect.Effect<Undo | undefined, BlockNotFound | StorageFailure>
  /** The unspent output at an outpoint key, and the tip at the time of the lookup. */
  readonly coin: (
    outpoint: string
  ) => Effect.Effect<{ readonly coin: Coin | undefined; readonly tip: HeaderInfo }, StorageFailure>
  readonly coinOf: (txid: Bytes) => Effect.Effect<Coin | undefined, StorageFailure>
  /** Runs `work` on the stored state. No block is connected or disconnected meanwhile: keep it short. */
  readonly atRest: <A, E>(work: (state: StateAtRest) => Effect.Effect<A, E>) => Effect.Effect<A, E | StorageFailure>
  readonly tree: HeaderTree
  /** Headers with proofs, by their numbers. The list ends before the first block that is not stored. */
  readonly fullHeaders: (ids: ReadonlyArray<number>) => Effect.Effect<ReadonlyArray<BlockHeader>, StorageFailure>
  /** The stored bytes of a block, not decoded. */
  readonly blockBytes: (hash: Bytes) => Effect.Effect<Bytes, BlockNotFound | BlockUnavailable | StorageFailure>
  /** Runs `work` on the state at the tip, which does not change meanwhile: keep it short. Followers use `tipState`. */
  readonly atTip: <A, E>(work: (state: TipState) => Effect.Effect<A, E>) => Effect.Effect<A, E>
  /** The state at the tip, for the steps of a follower. */
  readonly tipState: Effect.Effect<TipState>
  /**
   * Validates a block as a new tip without its proof of work, and stores nothing. A block that does not build on the
   * tip is refused with `inconclusive-not-best-prevblk`.
   */
  readonly judge: (block: Block) => Effect.Effect<Reject | undefined, StorageFailure>
  /** Offers headers in chain order, up to the first refusal. Does not wait for the writer of the chain. */
  readonly acceptHeaders: (headers: ReadonlyArray<BlockHeader>) => Effect.Effect<HeadersAccepted>
  /**
   * Offers blocks from peers: stores them, then moves to the best chain. The order is free if the headers are known.
   * Use `bulk` while many blocks follow: then flushes depend on size and time, and followers are notified in batches.
   */
  readonly deliver: (blocks: ReadonlyArray<Block>, bulk: boolean) => Effect.Effect<Delivery, StorageFailure>
  readonly submit: (block: Block) => Effect.Effect<Submission, StorageFailure>
  /** Marks a block and its descendants as invalid, and moves to the best chain without them. */
  readonly invalidate: (hash: Bytes) => Effect.Effect<void, BlockNotFound | StorageFailure>
  /** Withdraws `invalidate` or a refusal. */
  readonly reconsider: (hash: Bytes) => Effect.Effect<void, BlockNotFound | StorageFailure>
  /**
   * Gives up the branch that waits for a missing block, until that block arrives, and moves to the best chain without
   * it. Returns false if no branch waits, or if the tip is invalid, so the chain cannot stay.
   */
  readonly giveUpBranch: Effect.Effect<boolean, StorageFailure>
  readonly branches: Effect.Effect<ReadonlyArray<Branch>>
  /** Brings a follower to the tip and keeps it there. */
  readonly register: (follower: Follower) => Effect.Effect<void, StorageFailure>
  /** Removes a follower. When this ends, no step of the follower is running. An unregistered follower is ignored. */
  readonly unregister: (follower: Follower) => Effect.Effect<void>
  /** Imports block files, one path after the other. If a file ends early, continues with the blocks found. */
  readonly importFrom: (
    paths: ReadonlyArray<string>
  ) => Effect.Effect<ImportReport, ImportFailed | StorageFailure>
  readonly events: Stream.Stream<ChainEvent>
  /**
   * Verifies the last blocks of the best chain, which does not change meanwhile. Damaged blocks count as missing. If
   * the coins do not match the blocks, `failure` fails as well.
   */
  readonly verify: (options: VerifyOptions) => Effect.Effect<VerifyReport, StorageFailure>
  /**
   * Checks stored blocks and undo data against their checksums, from a number in the tree on, within limits of time and
   * bytes. Returns the number of the next block, `undefined` at the end.
   */
  readonly checkStored: (from: number, limits: CheckLimits) => Effect.Effect<number | undefined, StorageFailure>
  readonly sizeOnDisk: Effect.Effect<number>
  /** Bytes of the database of coins, claims and headers. */
  readonly chainstateSize: Effect.Effect<number, StorageFailure>
  readonly repairs: ReadonlyArray<string>
  readonly timings: Effect.Effect<Timings>
  /** Fails if the chain could not be stored. The node should end with this error. */
  readonly failure: Effect.Effect<never, StorageFailure>
  readonly flush: Effect.Effect<void, StorageFailure>
}>() {}

export interface ChainOptions extends Omit<ChainStateOptions, "now" | "onDamage"> {
  /** Worker threads for scripts, in addition to the main thread. */
  readonly verifyThreads: number
  /** Unix time in seconds; by default Effect's clock. */
  readonly now?: () => number
  readonly check?: Pick<VerifyOptions, "level" | "blocks">
  readonly temporaryDirectory: string
}

/** Headers between two turns of the event loop: about five milliseconds of proofs. */
const HEADERS_A_TURN = 64

/** Milliseconds after which the check at the start ends. The background check covers the rest. */
const START_CHECK_MS = 60_000

const VISIT_ROWS = 250

const make = (
  options: ChainOptions
): Effect.Effect<Context.Tag.Service<Chain>, StorageFailure, DataHealth | Scope.Scope> =>
  Effect.gen(function*() {
    const { temporaryDirectory } = options
    yield* attempt(() => guarded(temporaryDirectory, "tidying", "", () => removeUnpacked(temporaryDirectory)))
    const clock = yield* Effect.clock
    const now = options.now ?? (() => Math.floor(clock.unsafeCurrentTimeMillis() / 1000))
    const rebuilt = yield* removeDamagedChainState(options)
    const met = yield* Queue.sliding<StorageFailure>(1)
    const state = yield* Effect.acquireRelease(
      attempt(() => new ChainState({ ...options, now, onDamage: (damage) => void met.unsafeOffer(damage) })),
      (state) => Effect.sync(() => state.close())
    )
    const decisions = yield* attempt(() => new Decisions(options.blocksDirectory))
    const pool = yield* VerifyPool.make(options.verifyThreads)
    const writer = yield* ChainWriter.make(state, pool)
    const { activate, catchUp, exclusively, flush, flushAfter, stored, undisturbed } = writer
    const endBy = (damage: Effect.Effect<never, StorageFailure>) => Effect.ignore(exclusively(damage))
    yield* checkPages(options, state, endBy)
    // Also if only a read of a caller found the damage: the database may return wrong data to other callers.
    yield* Effect.forkScoped(Effect.flatMap(Queue.take(met), (damage) => endBy(Effect.fail(damage))))
    let importing: ImportProgress | undefined
    // Waits for the current writer: a batch in progress is settled first, while its worker threads still exist.
    yield* Effect.addFinalizer(() =>
      Effect.catchAll(
        exclusively(flush),
        (failure) => Effect.logError("chain state could not be saved at shutdown", { reason: failure.message })
      )
    )

    const info = (id: number): HeaderInfo => headerInfo(state, id)

    const readTip = Effect.sync(() => info(state.at(state.settledHeight)))

    const find = (hash: Bytes): Effect.Effect<number, BlockNotFound> =>
      Effect.suspend(() => {
        const id = state.index.find(hash)
        return id === NONE ? Effect.fail(new BlockNotFound({ hash: displayHash(hash) })) : Effect.succeed(id)
      })

    const submit = (block: Block): Effect.Effect<Submission, StorageFailure> =>
      exclusively<Submission, StorageFailure>(Effect.gen(function*() {
        const accepted: Accepted = yield* attempt(() => state.acceptBlock(block))
        const verdicts: ChainWriter.BatchVerdicts = yield* activate(false)
        yield* flushAfter(false)
        if (accepted.type === "rejected") {
          recordRefused("block")
          return accepted
        }
        if (accepted.type === "known") return { type: "duplicate" }
        if (!verdicts.has(accepted.id)) return { type: state.isActive(accepted.id) ? "duplicate" : "inconclusive" }
        const reject = verdicts.get(accepted.id)
        return reject === undefined ? { type: "connected" } : { type: "rejected", reject }
      })).pipe(
        Effect.tap(({ type }) => Effect.annotateCurrentSpan("result", type)),
        Effect.withSpan("svcd.chain.submit", { attributes: { hash: displayHash(block.hash) } })
      )

    const withData = <A>(id: number, read: () => A): Effect.Effect<A, BlockUnavailable | StorageFailure> =>
      Effect.suspend((): Effect.Effect<A, BlockUnavailable | StorageFailure> =>
        state.index.has(id, Status.HAVE_DATA)
          ? attempt(read)
          : Effect.fail(
            new BlockUnavailable({ hash: displayHash(state.index.hash(id)), height: state.index.height(id) })
          )
      )

    const tipState = (): TipState => {
      const tip = info(state.at(state.settledHeight))
      return {
        tip,
        coin: (outpoint) => state.coins.peek(outpoint),
        claim: (name) => state.coins.claim(name),
        medianTimePastAt: (height) => state.index.medianTimePast(state.at(height))
      }
    }

    // Each header is one step that leaves the tree consistent, also between the steps of the writer.
    const acceptHeaders = (headers: ReadonlyArray<BlockHeader>): Effect.Effect<HeadersAccepted> =>
      Effect.gen(function*() {
        let last = headerId(NONE)
        let added = 0
        for (let from = 0; from < headers.length; from += HEADERS_A_TURN) {
          if (from > 0) yield* turnOfEventLoop
          for (const header of headers.slice(from, from + HEADERS_A_TURN)) {
            const accepted = state.acceptHeader(header)
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

    const judge = (block: Block): Effect.Effect<Reject | undefined, StorageFailure> =>
      undisturbed(
        Effect.gen(function*() {
          const judged = yield* attempt(() => state.judge(block))
          // The writer's lock also protects the pool: there is no other batch.
          const batch = pool.begin()
          batch.add(0, judged.scripts, judged.flags)
          const failed = yield* batch.finish
          return failed === undefined ? judged.reject : ChainWriter.scriptReject(failed)
        }).pipe(Effect.uninterruptible)
      ).pipe(Effect.withSpan("svcd.chain.judge", { attributes: { transactions: block.transactions.length } }))

    const deliver = (blocks: ReadonlyArray<Block>, bulk: boolean): Effect.Effect<Delivery, StorageFailure> =>
      exclusively(Effect.gen(function*() {
        const refused = new Array<Reject | undefined>()
        for (const block of blocks) {
          const accepted = yield* attempt(() => state.acceptBlock(block))
          if (accepted.type === "rejected") recordRefused("block")
          refused.push(accepted.type === "rejected" ? accepted.reject : undefined)
        }
        const verdicts: ChainWriter.BatchVerdicts = yield* activate(bulk)
        yield* flushAfter(bulk)
        const judged = [...verdicts].map(([id, reject]) => ({ hash: state.index.hash(id).slice(), reject }))
        return { refused, judged }
      })).pipe(Effect.withSpan("svcd.chain.deliver", { attributes: { blocks: blocks.length, bulk } }))

    const decide = (invalid: boolean) => (hash: Bytes) =>
      Effect.flatMap(find(hash), (id) =>
        exclusively(
          attempt(() => {
            if (invalid) state.invalidate(id)
            else state.reconsider(id)
            decisions.note(state.index, id, invalid)
          }).pipe(Effect.zipRight(activate(false)), Effect.zipRight(flushAfter(false)))
        )).pipe(
          Effect.withSpan(invalid ? "svcd.chain.invalidate" : "svcd.chain.reconsider", {
            attributes: { hash: displayHash(hash) }
          })
        )

    const visit = <A extends readonly [string, unknown]>(
      page: (after: string | undefined) => ReadonlyArray<A>,
      use: (rows: ReadonlyArray<A>) => void
    ): Effect.Effect<void, StorageFailure> =>
      Effect.gen(function*() {
        for (let rows = yield* attempt(() => page(undefined)); rows.length > 0;) {
          const seen = rows
          yield* Effect.sync(() => use(seen))
          yield* turnOfEventLoop
          rows = yield* attempt(() => page(seen[seen.length - 1]?.[0]))
        }
      })

    const atRest = <A, E>(work: (state: StateAtRest) => Effect.Effect<A, E>): Effect.Effect<A, E | StorageFailure> =>
      stored(Effect.suspend(() =>
        work({
          tip: info(state.tip),
          visitCoins: (use) => visit((after) => state.database.coinsAfter(after, VISIT_ROWS), use),
          visitClaims: (use) => visit((after) => state.database.claimsAfter(after, VISIT_ROWS), use)
        })
      ))

    const importFrom = (paths: ReadonlyArray<string>, own = false, from?: ReadonlyMap<string, number>) =>
      importSources({
        paths,
        own,
        ...(from === undefined ? {} : { from }),
        state,
        temporaryDirectory,
        batch: (work) =>
          exclusively(
            attempt(work).pipe(Effect.zipRight(activate(true)), Effect.zipLeft(flushAfter(true)))
          ).pipe(Effect.withSpan("svcd.chain.importBatch")),
        flush: exclusively(Effect.zipRight(catchUp, flush)),
        report: (progress) => Effect.sync(() => void (importing = progress))
      }).pipe(
        // Also if the import ends early: the followers reach the chain's tip.
        Effect.ensuring(Effect.ignore(exclusively(catchUp))),
        Effect.ensuring(Effect.sync(() => void (importing = undefined))),
        withLoneSpan("svcd.chain.import", { attributes: { files: paths.length } })
      )

    const verify = (wanted: VerifyOptions): Effect.Effect<VerifyReport, StorageFailure> =>
      exclusively(Effect.flatMap(verifyChain(state, pool, wanted), (report) =>
        report.contradiction === undefined
          ? Effect.succeed(report)
          : Effect.fail(state.beyondRepair(report.contradiction)))).pipe(
          Effect.withSpan("svcd.chain.check", { attributes: { level: wanted.level, blocks: wanted.blocks } })
        )

    const service: Context.Tag.Service<Chain> = {
      params: options.params,
      tip: readTip,
      toldTip: Effect.suspend(() => writer.telling() ? undisturbed(readTip) : readTip),
      headerTip: Effect.sync(() => info(state.bestHeader)),
      progress: Effect.sync(() => ({
        tip: cursorOf(state, state.at(state.settledHeight)),
        headers: state.index.height(state.bestHeader),
        importing,
        behind: state.index.compareWork(state.bestHeader, state.at(state.settledHeight)) > 0
      })),
      headerAt: (height) =>
        Effect.sync(() => {
          const id = height <= state.settledHeight ? state.at(height) : NONE
          return id === NONE ? undefined : info(id)
        }),
      header: (hash) => Effect.map(find(hash), info),
      block: (hash) => Effect.flatMap(find(hash), (id) => withData(id, () => state.block(id))),
      undo: (hash) =>
        Effect.flatMap(
          find(hash),
          (id) =>
            attempt(() =>
              state.index.has(id, Status.HAVE_UNDO) || lacksUndo(state.index, id) ? state.undo(id) : undefined
            )
        ),
      coin: (outpoint) => undisturbed(attempt(() => ({ coin: state.coins.peek(outpoint), tip: info(state.tip) }))),
      coinOf: (txid) => stored(attempt(() => state.database.coinOf(txid))),
      atRest,
      tree: headerTree(state),
      fullHeaders: (ids) => attempt(() => state.fullHeaders(ids)),
      blockBytes: (hash) => Effect.flatMap(find(hash), (id) => withData(id, () => state.stored.bytes(id))),
      atTip: (work) => undisturbed(Effect.suspend(() => work(tipState()))),
      tipState: Effect.sync(tipState),
      judge,
      acceptHeaders,
      deliver,
      submit,
      invalidate: decide(true),
      reconsider: decide(false),
      giveUpBranch: exclusively(
        Effect.tap(attempt(() => giveUpBranch(state)), () => Effect.zipRight(activate(false), flushAfter(false)))
      ).pipe(Effect.withSpan("svcd.chain.giveUpBranch")),
      branches: Effect.sync(() => state.tips().map(branchOf(state))),
      register: (follower) => exclusively(writer.enlist(follower)).pipe(Effect.withSpan("svcd.chain.register")),
      unregister: (follower) => undisturbed(writer.dismiss(follower)),
      importFrom: (paths) => importFrom(paths),
      events: Stream.fromPubSub(writer.events),
      verify,
      checkStored: (from, limits) => attempt(() => checkStored(state, from, limits)),
      sizeOnDisk: Effect.sync(() => state.files.sizeOnDisk),
      chainstateSize: attempt(() => state.database.size()),
      repairs: state.repairs,
      timings: Effect.sync(() => ({ ...state.timings })),
      failure: writer.failure,
      flush: exclusively(flush)
    }
    const reread = (paths: ReadonlyArray<string>, from?: ReadonlyMap<string, number>) =>
      Effect.catchTag(
        importFrom(paths, true, from),
        "ImportFailed",
        ({ file, reason }) => new StorageUnavailable({ file, doing: "reading", reason })
      )

    // Block files without an index: the folder chainstate was deleted. The blocks are read again in place.
    if (state.hasStrayBlocks) {
      const files = state.files.numbers("blk").map((file) => state.files.path("blk", file))
      yield* Effect.logWarning("chain state missing: rebuilding it from the stored blocks", {
        files: files.length
      })
      const progress = Effect.suspend(() =>
        Effect.logInfo("rebuilding the chain state", { phase: importing?.phase, height: importing?.height })
      )
      const said = yield* Effect.fork(Effect.repeat(progress, Schedule.spaced("10 seconds")))
      yield* reread(files).pipe(Effect.ensuring(Fiber.interrupt(said)))
      yield* exclusively(attempt(() => state.storeGenesis()).pipe(Effect.zipRight(flush)))
    }
    // Blocks that were written, and possibly acknowledged, but not in the index yet at a power cut.
    if (state.tails.length > 0) {
      yield* attempt(() => decisions.lift(state))
      const from = new Map(state.tails.map(({ file, from }) => [state.files.path("blk", file), from]))
      const { stored } = yield* reread([...from.keys()], from)
      if (stored > 0) state.repairs.push(`${stored} blocks after the end of the block index were read again`)
      state.repairs.push(...cutTails(state.index, state.files, state.tails))
    }
    // A chain state that was just rebuilt from the blocks needs no check.
    if (rebuilt === undefined) yield* checkAtStart(options.check ?? DEFAULT_CHECK, verify)
    // Restores the operator's decisions about the best chain.
    for (const said of yield* attempt(() => decisions.apply(state))) yield* Effect.logWarning(said)
    // Blocks that were stored but not connected when the node ended. A damaged one can be fetched again.
    yield* undisturbed(
      Effect.gen(function*() {
        const verdicts: ChainWriter.BatchVerdicts = yield* activate(true)
        yield* catchUp
        // Stores a refusal at once: a start after a crash must not validate the block again.
        if ([...verdicts.values()].some((reject) => reject !== undefined)) yield* flush
      })
    ).pipe(
      Effect.catchIf(
        (failure) => failure._tag === "StorageCorrupted" && failure.file.startsWith(options.blocksDirectory),
        (damage) => Effect.logError(damage.message)
      )
    )
    return service
  })

/** Verifies the last blocks before any request is served. Damaged blocks are noted and requested from peers. */
const checkAtStart = (
  { blocks, level }: Pick<VerifyOptions, "level" | "blocks">,
  verify: (options: VerifyOptions) => Effect.Effect<VerifyReport, StorageFailure>
): Effect.Effect<void, StorageFailure> =>
  Effect.gen(function*() {
    const started = performance.now()
    const { checked, damaged } = yield* verify({ blocks, level, deadline: started + START_CHECK_MS })
    const facts = { level, checked, damaged, milliseconds: Math.round(performance.now() - started) }
    if (damaged > 0) yield* Effect.logError("some of the last blocks are missing or damaged", facts)
    else if (checked > 0) yield* Effect.logDebug("last blocks verified", facts)
  })

export const layer = (options: ChainOptions): Layer.Layer<Chain, StorageFailure, DataHealth> =>
  Layer.scoped(Chain, withLoneSpan("svcd.chain.open")(make(options)))
