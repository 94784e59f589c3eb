import * as Effect from "effect/Effect"
import { Chain } from "../../chain/Chain.ts"
import type { HeaderInfo } from "../../chain/index/headerInfo.ts"
import { NameAnswers } from "../../light/NameAnswers.ts"
import { operationsWithin } from "../../names/events/blockOperations.ts"
import { NameDb } from "../../names/NameDb.ts"
import type { Height } from "../../protocol/keys.ts"
import type { StorageFailure } from "../../storage/errors.ts"

/** The blocks of lists, which read headers and names, and no blocks. */

export interface ListedBlock {
  readonly info: HeaderInfo
  /** Operations that set names; `undefined` where names.db lacks the block. */
  readonly operations: number | undefined
}

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
