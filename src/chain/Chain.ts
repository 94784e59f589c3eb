import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Layer from "effect/Layer"
import * as Queue from "effect/Queue"
import * as Schedule from "effect/Schedule"
import type * as Scope from "effect/Scope"
import * as Stream from "effect/Stream"
import { turnOfEventLoop } from "../base/turnOfEventLoop.ts"
import type { ConsensusParams } from "../consensus/params.ts"
import type { Reject } from "../consensus/Reject.ts"
import type { Coin, NameClaim } from "../consensus/view.ts"
import type { Block, BlockHeader } from "../protocol/block.ts"
import { type Bytes, displayHash } from "../protocol/bytes.ts"
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

/** What came of a block that was offered with `submit`. */
export type Submission =
  /** It is in the best chain now. */
  | { readonly type: "connected" }
  /** It was here already, and nothing is known against it. */
  | { readonly type: "duplicate" }
  /** It is stored; other blocks have more work, so nobody judged its transactions. */
  | { readonly type: "inconclusive" }
  | { readonly type: "rejected"; readonly reject: Reject }

/** What came of headers that were offered. */
export interface HeadersAccepted {
  /** The number in the tree of the last one that is known now; `NO_HEADER` where not even the first is. */
  readonly last: number
  /** How many of them were new. */
  readonly added: number
  /** Why the one after `last` is refused. */
  readonly reject: Reject | undefined
}

/** What came of blocks that were delivered. */
export interface Delivery {
  /** For each block in order: why it was not even stored, if it was not. */
  readonly refused: ReadonlyArray<Reject | undefined>
  /** Verdicts on blocks that were judged meanwhile, of this delivery or an earlier one: refused, or connected. */
  readonly judged: ReadonlyArray<{ readonly hash: Bytes; readonly reject: Reject | undefined }>
}

/** The whole state at one tip, to be read from one end to the other. */
export interface StateAtRest {
  readonly tip: HeaderInfo
  /** Feeds all coins to `use` in lists, in the order of (txid, index). */
  readonly visitCoins: (
    use: (coins: ReadonlyArray<readonly [outpoint: string, coin: Coin]>) => void
  ) => Effect.Effect<void, StorageFailure>
  /** Feeds the claims of all names to `use` in lists, in the order of their bytes. */
  readonly visitClaims: (
    use: (claims: ReadonlyArray<readonly [name: string, claim: NameClaim]>) => void
  ) => Effect.Effect<void, StorageFailure>
}

/** Where the node stands on its way to the best chain. */
export interface ChainProgress {
  readonly tip: Cursor
  /** Height of the best header. */
  readonly headers: number
  /** What an import is at; `undefined` where none is running. */
  readonly importing: ImportProgress | undefined
  /** Whether a header with more work than the tip's is known, so that blocks are still to come. */
  readonly behind: boolean
}

export class Chain extends Context.Tag("svcd/Chain")<Chain, {
  readonly params: ConsensusParams
  /** The last block of the best chain. */
  readonly tip: Effect.Effect<HeaderInfo>
  /**
   * The same for those who go on to ask names, wallet or mempool: waits until these know the block. Not for the steps of
   * a follower.
   */
  readonly toldTip: Effect.Effect<HeaderInfo>
  /** The header with the most work that nothing is known against. */
  readonly headerTip: Effect.Effect<HeaderInfo>
  readonly progress: Effect.Effect<ChainProgress>
  /** The header of the best chain at a height; `undefined` above the tip. */
  readonly headerAt: (height: number) => Effect.Effect<HeaderInfo | undefined>
  /** A header by its hash in wire order. */
  readonly header: (hash: Bytes) => Effect.Effect<HeaderInfo, BlockNotFound>
  readonly block: (hash: Bytes) => Effect.Effect<Block, BlockNotFound | BlockUnavailable | StorageFailure>
  /** What undoing a connected block needs; `undefined` for a block that never was connected. Fails where they are lost. */
  readonly undo: (hash: Bytes) => Effect.Effect<Undo | undefined, BlockNotFound | StorageFailure>
  /** The unspent output at an outpoint key, with the tip that it was looked up at. */
  readonly coin: (
    outpoint: string
  ) => Effect.Effect<{ readonly coin: Coin | undefined; readonly tip: HeaderInfo }, StorageFailure>
  /** Some unspent output of a transaction, if there is one. */
  readonly coinOf: (txid: Bytes) => Effect.Effect<Coin | undefined, StorageFailure>
  /** Runs `work` on the stored state while no block is connected or taken back: keep it short. */
  readonly atRest: <A, E>(work: (state: StateAtRest) => Effect.Effect<A, E>) => Effect.Effect<A, E | StorageFailure>
  /** The tree of headers, to be walked without waiting. */
  readonly tree: HeaderTree
  /** Headers with their merged-mining proofs, by their numbers in the tree; those of blocks that are not stored end the list. */
  readonly fullHeaders: (ids: ReadonlyArray<number>) => Effect.Effect<ReadonlyArray<BlockHeader>, StorageFailure>
  /** The stored bytes of a block: not decoded. */
  readonly blockBytes: (hash: Bytes) => Effect.Effect<Bytes, BlockNotFound | BlockUnavailable | StorageFailure>
  /**
   * Judges something against the state at the tip, while nobody moves it: keep it short. A follower's steps are run so
   * already and use `tipState`.
   */
  readonly atTip: <A, E>(work: (state: TipState) => Effect.Effect<A, E>) => Effect.Effect<A, E>
  /** The state at the tip, for the steps of a follower. */
  readonly tipState: Effect.Effect<TipState>
  /**
   * Judges a block as if it were offered on top of the tip, but for its proof of work, and stores nothing. One that does
   * not build on the tip is refused with `inconclusive-not-best-prevblk`.
   */
  readonly judge: (block: Block) => Effect.Effect<Reject | undefined, StorageFailure>
  /** Offers headers in the order of their chain; stops at the first refusal. Does not wait for who connects blocks. */
  readonly acceptHeaders: (headers: ReadonlyArray<BlockHeader>) => Effect.Effect<HeadersAccepted>
  /**
   * Offers blocks as they come from peers, in any order as long as their headers are known or come before: stores them,
   * then moves to the best chain. `bulk` while many are to come: then they are stored to disk by size and age, and
   * followers hear of them in batches.
   */
  readonly deliver: (blocks: ReadonlyArray<Block>, bulk: boolean) => Effect.Effect<Delivery, StorageFailure>
  /** Offers a block, stores it, and moves to the best chain. */
  readonly submit: (block: Block) => Effect.Effect<Submission, StorageFailure>
  /** Takes a block and what builds on it as invalid, and moves to the best chain without it. */
  readonly invalidate: (hash: Bytes) => Effect.Effect<void, BlockNotFound | StorageFailure>
  /** Takes that back, or a refusal. */
  readonly reconsider: (hash: Bytes) => Effect.Effect<void, BlockNotFound | StorageFailure>
  /**
   * Gives up the branch that waits for a missing block, until the block comes, and moves to the best chain without it. False
   * where nothing waits, or the tip counts as invalid so that the chain may not stay.
   */
  readonly giveUpBranch: Effect.Effect<boolean, StorageFailure>
  /** All branches, highest first. */
  readonly branches: Effect.Effect<ReadonlyArray<Branch>>
  /** Brings a follower to the tip and keeps it there. */
  readonly register: (follower: Follower) => Effect.Effect<void, StorageFailure>
  /** Tells a follower no more. Once this ends, no step of it is running; one that is not registered is no matter. */
  readonly unregister: (follower: Follower) => Effect.Effect<void>
  /** Imports block files, one path after the other; goes on with what it has when a file ends early. */
  readonly importFrom: (
    paths: ReadonlyArray<string>
  ) => Effect.Effect<ImportReport, ImportFailed | StorageFailure>
  readonly events: Stream.Stream<ChainEvent>
  /**
   * Checks the last blocks of the best chain while it stands still. Blocks that turn out to be damaged count as missing;
   * where coins are not those of the blocks, `failure` fails as well.
   */
  readonly verify: (options: VerifyOptions) => Effect.Effect<VerifyReport, StorageFailure>
  /**
   * Checks stored blocks and undo data against their checksums, from a number in the tree on, for so many milliseconds
   * and bytes. Returns the number of the next one; `undefined` at the end.
   */
  readonly checkStored: (from: number, limits: CheckLimits) => Effect.Effect<number | undefined, StorageFailure>
  /** Bytes of block and undo files. */
  readonly sizeOnDisk: Effect.Effect<number>
  /** Bytes of the database of coins, claims and headers. */
  readonly chainstateSize: Effect.Effect<number, StorageFailure>
  /** What was mended at the start, in words. */
  readonly repairs: ReadonlyArray<string>
  /** Where the time of connecting blocks went, in milliseconds. */
  readonly timings: Effect.Effect<Timings>
  /** Fails when the chain could not be stored: the node should end with this reason. */
  readonly failure: Effect.Effect<never, StorageFailure>
  /** Stores everything now. */
  readonly flush: Effect.Effect<void, StorageFailure>
}>() {}

export interface ChainOptions extends Omit<ChainStateOptions, "now" | "onDamage"> {
  /** Threads that check scripts beside the one that runs everything. */
  readonly verifyThreads: number
  /** Unix time in seconds; the Effect clock where it is left out. */
  readonly now?: () => number
  /** What is checked at the start; `DEFAULT_CHECK` where it is left out. */
  readonly check?: Pick<VerifyOptions, "level" | "blocks">
  /** Where a packed import file is unpacked to. */
  readonly temporaryDirectory: string
}

/** Headers accepted before others get a turn: some five milliseconds of proofs. */
const HEADERS_A_TURN = 64

/** Milliseconds after which the check at the start ends with what is done: the background check sees the rest. */
const START_CHECK_MS = 60_000

/** Rows read at once where all coins or claims are visited. */
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
    // Also where only a caller's read met it: the database may answer others wrongly.
    yield* Effect.forkScoped(Effect.flatMap(Queue.take(met), (damage) => endBy(Effect.fail(damage))))
    let importing: ImportProgress | undefined
    // Waits for whoever writes: a batch under way is settled first, with the threads that check it still there.
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
      exclusively(Effect.gen(function*() {
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
      }))

    /** Reads something of a block that has to be stored for it. */
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

    // Each header is one step that leaves the tree sound, also between the steps of who connects blocks.
    const acceptHeaders = (headers: ReadonlyArray<BlockHeader>): Effect.Effect<HeadersAccepted> =>
      Effect.gen(function*() {
        let last = NONE
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
            last = accepted.id
          }
        }
        return { last, added, reject: undefined }
      })

    const judge = (block: Block): Effect.Effect<Reject | undefined, StorageFailure> =>
      undisturbed(
        Effect.gen(function*() {
          const judged = yield* attempt(() => state.judge(block))
          // Who holds the chain holds the pool: there is no other batch.
          const batch = pool.begin()
          batch.add(0, judged.scripts, judged.flags)
          const failed = yield* batch.finish
          return failed === undefined ? judged.reject : ChainWriter.scriptReject(failed)
        }).pipe(Effect.uninterruptible)
      )

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
      }))

    const decide = (invalid: boolean) => (hash: Bytes) =>
      Effect.flatMap(find(hash), (id) =>
        exclusively(
          attempt(() => {
            if (invalid) state.invalidate(id)
            else state.reconsider(id)
            decisions.note(state.index, id, invalid)
          }).pipe(Effect.zipRight(activate(false)), Effect.zipRight(flushAfter(false)))
        ))

    /** Reads everything in pages, with turns for others in between. */
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
          ),
        flush: exclusively(Effect.zipRight(catchUp, flush)),
        report: (progress) => Effect.sync(() => void (importing = progress))
      }).pipe(
        // Also where it ends early: the followers stand where the chain stands.
        Effect.ensuring(Effect.ignore(exclusively(catchUp))),
        Effect.ensuring(Effect.sync(() => void (importing = undefined)))
      )

    const verify = (wanted: VerifyOptions): Effect.Effect<VerifyReport, StorageFailure> =>
      exclusively(Effect.flatMap(verifyChain(state, pool, wanted), (report) =>
        report.contradiction === undefined
          ? Effect.succeed(report)
          : Effect.fail(state.beyondRepair(report.contradiction))))

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
      ),
      branches: Effect.sync(() => state.tips().map(branchOf(state))),
      register: (follower) => exclusively(writer.enlist(follower)),
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
    /** Reads own block files, or their ends, where they lie. */
    const reread = (paths: ReadonlyArray<string>, from?: ReadonlyMap<string, number>) =>
      Effect.catchTag(
        importFrom(paths, true, from),
        "ImportFailed",
        ({ file, reason }) => new StorageUnavailable({ file, doing: "reading", reason })
      )

    // Blocks without an index: the chainstate was deleted. They are read again where they lie.
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
    // Blocks that were written, and maybe acknowledged, but not in the index yet, when the power went.
    if (state.tails.length > 0) {
      yield* attempt(() => decisions.lift(state))
      const from = new Map(state.tails.map(({ file, from }) => [state.files.path("blk", file), from]))
      const { stored } = yield* reread([...from.keys()], from)
      if (stored > 0) state.repairs.push(`${stored} blocks behind the end of the block index were read again`)
      state.repairs.push(...cutTails(state.index, state.files, state.tails))
    }
    // What was just made of the blocks is not held against them.
    if (rebuilt === undefined) yield* checkAtStart(options.check ?? DEFAULT_CHECK, verify)
    // The best chain is the one that the operator wants.
    for (const said of yield* attempt(() => decisions.apply(state))) yield* Effect.logWarning(said)
    // Blocks that were stored, but not connected yet, when the node was ended. One that is damaged can come again.
    yield* undisturbed(
      Effect.gen(function*() {
        const verdicts: ChainWriter.BatchVerdicts = yield* activate(true)
        yield* catchUp
        // A refusal is stored at once: a start after a crash must not judge the block again.
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

/** Checks the last blocks before anybody asks. What is damaged is noted, and asked for from peers. */
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
  Layer.scoped(Chain, make(options))
