import * as Effect from "effect/Effect"
import { unixTime } from "../../base/clock.ts"
import { Chain } from "../../chain/Chain.ts"
import type { HeaderInfo } from "../../chain/index/headerInfo.ts"
import { NameAnswers } from "../../light/NameAnswers.ts"
import { Mempool } from "../../mempool/Mempool.ts"
import { operationsWithin } from "../../names/events/blockOperations.ts"
import { NameDb } from "../../names/NameDb.ts"
import type { Height } from "../../protocol/keys.ts"
import type { StorageFailure } from "../../storage/errors.ts"

/** The data of lists of blocks. They read headers, names and the size of the mempool, and no blocks. */

export interface ListedBlock {
  readonly info: HeaderInfo
  /** Operations that set names; `undefined` where names.db lacks the block. */
  readonly operations: number | undefined
}

export interface BlockList {
  /** Seconds since 1970. */
  readonly now: number
  readonly tipHeight: number
  /** Whether it begins at the tip. */
  readonly newest: boolean
  /** Transactions that wait for a block. */
  readonly waiting: number
  /** The highest first. */
  readonly blocks: ReadonlyArray<ListedBlock>
}

export const LISTED_BLOCKS = 50

/** Makes the reader of the blocks of the best chain from a height downwards: so many, or fewer at the genesis block. */
export const makeBlockReader = Effect.gen(function*() {
  const chain = yield* Chain
  const names = yield* NameDb
  const answers = yield* NameAnswers
  return (from: Height, count: number): Effect.Effect<ReadonlyArray<ListedBlock>, StorageFailure> =>
    Effect.gen(function*() {
      const infos: Array<HeaderInfo> = []
      for (let height = from; height >= 0 && infos.length < count; height--) {
        const info = yield* chain.headerAt(height)
        // `undefined`: disconnected meanwhile.
        if (info !== undefined) infos.push(info)
      }
      if (answers.fromWindow()) return infos.map((info) => ({ info, operations: undefined }))
      return yield* names.readLog((log) =>
        infos.map((info) => ({ info, operations: operationsWithin(log, { from: info.height, to: info.height }) }))
      )
    })
})

export const makeBlockLister = Effect.gen(function*() {
  const chain = yield* Chain
  const pool = yield* Mempool
  const blocksFrom = yield* makeBlockReader
  return (from: Height | undefined): Effect.Effect<BlockList, StorageFailure> =>
    Effect.gen(function*() {
      const now = yield* unixTime
      const tip = yield* chain.tip
      const start = Math.min(from ?? tip.height, tip.height)
      return {
        now,
        tipHeight: tip.height,
        newest: start === tip.height,
        waiting: pool.info().size,
        blocks: yield* blocksFrom(start, LISTED_BLOCKS)
      }
    })
})
