import * as Effect from "effect/Effect"
import { type Bytes, displayHash } from "../protocol/bytes.ts"
import type { HeaderId } from "../protocol/keys.ts"
import { BlockNotFound } from "./errors.ts"
import type { ChainImport } from "./import/ChainImport.ts"
import { NONE } from "./index/BlockIndex.ts"
import type { Decisions } from "./index/Decisions.ts"
import { type HeaderInfo, headerInfo } from "./index/headerInfo.ts"
import type { ChainState } from "./state/ChainState.ts"
import type { ChainStores } from "./state/ChainStores.ts"
import type { ChainWriter } from "./write/ChainWriter.ts"
import type { VerifyPool } from "./write/VerifyPool.ts"

/** The parts of an open chain, made once by `openChain`. The four services work on them. */
export interface ChainParts {
  readonly stores: ChainStores
  readonly state: ChainState
  readonly pool: VerifyPool
  readonly writer: ChainWriter
  readonly decisions: Decisions
  readonly imports: ChainImport
}

export const findHeader = (state: ChainState, hash: Bytes): Effect.Effect<HeaderId, BlockNotFound> =>
  Effect.suspend(() => {
    const id = state.index.find(hash)
    return id === NONE ? Effect.fail(new BlockNotFound({ hash: displayHash(hash) })) : Effect.succeed(id)
  })

/** The last validated block. */
export const settledTipOf = (state: ChainState): HeaderInfo => headerInfo(state, state.active.settledTip)
