import * as Effect from "effect/Effect"
import { unixTime } from "../../base/clock.ts"
import { Chain } from "../../chain/Chain.ts"
import type { HeaderInfo } from "../../chain/index/headerInfo.ts"
import { NameAnswers } from "../../light/NameAnswers.ts"
import { Mempool } from "../../mempool/Mempool.ts"
import { NameDb } from "../../names/NameDb.ts"
import { firstOperationAt } from "../../names/NameEntry.ts"
import type { StorageFailure } from "../../storage/errors.ts"

/** The data of the list of blocks. It reads headers, names and the size of the mempool, and no blocks. */

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

export type BlockLister = (from: number | undefined) => Effect.Effect<BlockList, StorageFailure>

export const makeBlockLister: Effect.Effect<BlockLister, never, Chain | Mempool | NameAnswers | NameDb> = Effect.gen(
  function*() {
    const chain = yield* Chain
    const pool = yield* Mempool
    const names = yield* NameDb
    const answers = yield* NameAnswers
    return (from) =>
      Effect.gen(function*() {
        const now = yield* unixTime
        const tip = yield* chain.tip
        const start = Math.min(from ?? tip.height, tip.height)
        const infos: Array<HeaderInfo> = []
        for (let height = start; height >= 0 && infos.length < LISTED_BLOCKS; height--) {
          const info = yield* chain.headerAt(height)
          if (info !== undefined) infos.push(info)
        }
        const counts = answers.fromWindow()
          ? new Map<number, number>()
          : yield* names.readLog(({ beginning, count, last }) =>
            new Map(
              infos.flatMap(({ height }): ReadonlyArray<readonly [number, number]> =>
                height > (last?.height ?? -1) || height <= beginning
                  ? []
                  : [[height, count({ from: firstOperationAt(height), to: firstOperationAt(height + 1) })]]
              )
            )
          )
        return {
          now,
          tipHeight: tip.height,
          newest: start === tip.height,
          waiting: pool.info().size,
          blocks: infos.map((info) => ({ info, operations: counts.get(info.height) }))
        }
      })
  }
)
