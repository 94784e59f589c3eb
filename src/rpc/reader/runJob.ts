import SQLite from "better-sqlite3"
import * as Chunk from "effect/Chunk"
import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import * as Stream from "effect/Stream"
import { turnOfEventLoop } from "../../base/turns.ts"
import { decodeUndo } from "../../chain/state/coinCodec.ts"
import { CoinReads } from "../../chain/state/CoinReads.ts"
import { CoinStats } from "../../chain/state/coinStats.ts"
import { searchCoins, visit, VISIT_ROWS } from "../../chain/state/visitCoins.ts"
import { spentCoins } from "../../consensus/connectBlock.ts"
import { paramsOf } from "../../consensus/params.ts"
import type { Coin } from "../../consensus/view.ts"
import type { NameEntry } from "../../names/NameEntry.ts"
import { history } from "../../names/nameQueries.ts"
import { scan } from "../../names/nameScan.ts"
import { openNamesSnapshot } from "../../names/NamesSnapshot.ts"
import { decodeBlock } from "../../protocol/block.ts"
import { type Bytes, equal, fromBinaryString } from "../../protocol/bytes.ts"
import { networks } from "../../protocol/networks.ts"
import type { StorageFailure } from "../../storage/errors.ts"
import type { AnswerMemory } from "../CallerMemory.ts"
import { encodeJson } from "../json/encodeJson.ts"
import type { LongText } from "../json/LongText.ts"
import { encodeLong, noMemory, PieceWriter } from "../longAnswer.ts"
import type { RpcError } from "../method/RpcError.ts"
import { listNames } from "../methods/nameSearch.ts"
import { type Match, matchesOf } from "../shapes/activity.ts"
import { blockJson } from "../shapes/block.ts"
import { blockStatsJson } from "../shapes/blockStats.ts"
import { nameRow } from "../shapes/name.ts"
import type {
  BlockJob,
  BlockSearchJob,
  BlockStatsJob,
  CoinSearchJob,
  CoinStatsJob,
  HistoryJob,
  Job,
  JobResult,
  ReadCoins,
  ReadNames,
  ReadText,
  ScanJob,
  ShownNames,
  StoredBlock
} from "./readMessage.ts"

/** Each job that reads a file has its own connection, which sees one state. */

/** The node, as seen by a job. */
export interface Asker {
  /** Reports that the state is fixed. Later commits are not part of the answer. */
  readonly begun: Effect.Effect<void>
  readonly owns: (scripts: ReadonlyArray<Bytes>) => Effect.Effect<ReadonlyArray<boolean>>
  readonly reached: (key: Uint8Array) => void
  /** Whether the search should end with its findings so far. */
  readonly isStopped: () => boolean
}

const encoder = new TextEncoder()

/** A copy that can be transferred to another thread. */
const alone = (piece: Uint8Array): Uint8Array<ArrayBuffer> => {
  const { buffer } = piece
  return buffer instanceof ArrayBuffer && buffer.byteLength === piece.length
    ? new Uint8Array(buffer)
    : Uint8Array.from(piece)
}

const memoryOf = (room: number): AnswerMemory => {
  let taken = 0
  return { limit: room, take: (bytes) => (taken += bytes) <= room, give: () => {}, isLost: () => false }
}

const piecesOf = (text: string | LongText): ReadText["pieces"] =>
  typeof text === "string" ? [alone(encoder.encode(text))] : text.pieces.map(alone)

/** As an array, page by page. */
class RecordsWriter {
  count = 0
  readonly #writer: PieceWriter

  constructor(room: number) {
    this.#writer = new PieceWriter(memoryOf(room))
  }

  add(row: string): Effect.Effect<void, RpcError> {
    return this.#writer.add(`${this.count++ === 0 ? "[" : ","}${row}`) ? Effect.void : noMemory()
  }

  end(): Effect.Effect<ReadNames, RpcError> {
    const text = this.#writer.add(this.count === 0 ? "[]" : "]") ? this.#writer.end() : undefined
    return text === undefined ? noMemory() : Effect.succeed({ pieces: piecesOf(text), count: this.count })
  }
}

const adder = (shown: ShownNames, tipHeight: number, asker: Asker) => {
  const network = networks[shown.network]
  const context = { ...shown, network }
  const now = { tipHeight, params: paramsOf(network) }
  return (writer: RecordsWriter, page: ReadonlyArray<NameEntry>): Effect.Effect<void, RpcError> =>
    Effect.flatMap(
      shown.withOwner ? asker.owns(page.map(({ address }) => address)) : Effect.succeed([]),
      (owned) =>
        Effect.forEach(
          page,
          (record, i) =>
            writer.add(encodeJson(nameRow(context, record, { now, ismine: owned[i], proof: shown.proof }))),
          { discard: true }
        )
    )
}

/** Records of a history per step. */
const PAGE = 1_000

/** Fixes the state of a file with names and begins the answer. */
const beginNames = (file: string, shown: ShownNames, asker: Asker) =>
  Effect.gen(function*() {
    const names = yield* openNamesSnapshot(file)
    yield* asker.begun
    const tipHeight = (yield* names.point(() => names.points.cursor()))?.height ?? 0
    const writer = new RecordsWriter(shown.room)
    return { names, tipHeight, writer, add: adder(shown, tipHeight, asker) }
  })

const scanNames = (
  { file, list, shown }: ScanJob,
  asker: Asker
): Effect.Effect<ReadNames, RpcError | StorageFailure, Scope.Scope> =>
  Effect.gen(function*() {
    const { add, names, tipHeight, writer } = yield* beginNames(file, shown, asker)
    const found = yield* listNames(
      (options) => Stream.map(scan(names, options), (record) => ({ record, proof: "full" })),
      list,
      tipHeight
    )
    yield* Stream.runForEachChunk(
      found,
      (page) => add(writer, Chunk.toReadonlyArray(page).map(({ record }) => record))
    )
    return yield* writer.end()
  })

const readHistory = (
  { file, name, shown }: HistoryJob,
  asker: Asker
): Effect.Effect<ReadNames, RpcError | StorageFailure, Scope.Scope> =>
  Effect.gen(function*() {
    const { add, names, writer } = yield* beginNames(file, shown, asker)
    const entries = yield* history(names, name)
    for (let from = 0; from < entries.length; from += PAGE) yield* add(writer, entries.slice(from, from + PAGE))
    return yield* writer.end()
  })

/** As of the last commit. */
const openCoins = (file: string): Effect.Effect<CoinReads, never, Scope.Scope> =>
  Effect.acquireRelease(
    Effect.sync(() => new SQLite(file, { readonly: true, fileMustExist: true })),
    (opened) => Effect.sync(() => opened.close())
  ).pipe(Effect.map((database) => {
    database.exec("BEGIN")
    // The first read fixes the state.
    database.prepare("SELECT best_hash FROM state").get()
    return new CoinReads(database)
  }))

const countCoins = (
  { file, kind }: CoinStatsJob,
  asker: Asker
): Effect.Effect<JobResult, StorageFailure, Scope.Scope> =>
  Effect.gen(function*() {
    const coins = yield* openCoins(file)
    yield* asker.begun
    const stats = new CoinStats(kind)
    yield* visit((after: string | undefined) => coins.coinsAfter(after, VISIT_ROWS), (page) => {
      for (const [key, coin] of page) stats.add(fromBinaryString(key), coin)
    })
    return stats.finish()
  })

const findCoins = (
  { file, scripts }: CoinSearchJob,
  asker: Asker
): Effect.Effect<ReadCoins, StorageFailure, Scope.Scope> =>
  Effect.gen(function*() {
    const coins = yield* openCoins(file)
    yield* asker.begun
    const found: Array<readonly [outpoint: string, coin: Coin]> = []
    let count = 0
    yield* searchCoins((search) => coins.coinsPaying(search), scripts, (step) => {
      found.push(...step.found)
      count += step.count
      if (step.last !== undefined) asker.reached(Uint8Array.from(step.last))
      return !asker.isStopped()
    })
    return { found, count, whole: !asker.isStopped() }
  })

/** If this throws, the node finds the error again and reports what is damaged. */
const decoded = ({ block: bytes, hash, height, undo }: StoredBlock) => {
  const block = decodeBlock(bytes)
  if (!equal(block.hash, hash) || !equal(block.merkle.root, block.header.merkleRoot)) {
    throw new Error("the bytes are not those of the block")
  }
  return { block, spent: undo === undefined ? undefined : spentCoins(block, height, decodeUndo(undo).removed).slice(1) }
}

const showBlock = (job: BlockJob, asker: Asker): Effect.Effect<ReadText, RpcError> =>
  Effect.gen(function*() {
    const { place, shown, verbosity } = job
    yield* asker.begun
    const { block, spent } = yield* Effect.sync(() => decoded({ ...job, ...place }))
    const context = { ...shown, network: networks[shown.network] }
    const shownBlock = { block, info: { ...place, header: block.header } }
    const text = yield* encodeLong(blockJson(context, shownBlock, { spent, verbosity }), memoryOf(shown.room))
    return { pieces: piecesOf(text) }
  })

const countBlock = ({ medianTimePast, stored, subsidy }: BlockStatsJob, asker: Asker): Effect.Effect<JobResult> =>
  Effect.map(asker.begun, () => {
    const { block, spent = [] } = decoded(stored)
    return blockStatsJson({ block, info: { height: stored.height, medianTimePast }, spent, subsidy })
  })

const searchBlock = (stored: StoredBlock, scripts: ReadonlySet<string>): ReadonlyArray<Match> => {
  const { block: { transactions }, spent = [] } = decoded(stored)
  return transactions.flatMap((transaction, i) => matchesOf({ transaction, spent: spent[i - 1] ?? [] }, scripts))
}

/** Block by block, so that other jobs have their turn. */
const searchBlocks = ({ blocks, scripts }: BlockSearchJob, asker: Asker): Effect.Effect<JobResult> =>
  Effect.zipRight(
    asker.begun,
    Effect.forEach(blocks, (stored) => Effect.map(turnOfEventLoop, () => searchBlock(stored, scripts)))
  )

/** Closes the job's connection, too. */
export const runJob = (job: Job, asker: Asker): Effect.Effect<JobResult, RpcError | StorageFailure> => {
  switch (job.type) {
    case "scan":
      return Effect.scoped(scanNames(job, asker))
    case "history":
      return Effect.scoped(readHistory(job, asker))
    case "coinStats":
      return Effect.scoped(countCoins(job, asker))
    case "coinSearch":
      return Effect.scoped(findCoins(job, asker))
    case "block":
      return showBlock(job, asker)
    case "blockStats":
      return countBlock(job, asker)
    case "blockSearch":
      return searchBlocks(job, asker)
  }
}
