import type { Bytes } from "../../protocol/bytes.ts"
import type { Header } from "../../protocol/header.ts"
import type { HeaderId } from "../../protocol/keys.ts"
import type { ChainState } from "../state/ChainState.ts"
import { NONE, Status } from "./BlockIndex.ts"

export interface HeaderInfo {
  /** Wire order. */
  readonly hash: Bytes
  readonly height: number
  readonly header: Header
  /** The work of all headers from genesis to this one. */
  readonly chainwork: bigint
  /** Seconds since 1970. */
  readonly medianTimePast: number
  /** 0 if the block was never stored. */
  readonly transactions: number
  /** Bytes of the stored block; 0 for one that is not stored. */
  readonly size: number
  /** 1 for the tip; -1 for a block outside the best chain. */
  readonly confirmations: number
  readonly next: Bytes | undefined
}

export const headerInfo = (state: ChainState, id: HeaderId): HeaderInfo => {
  const { active, index } = state
  const height = index.height(id)
  const isActive = active.isActive(id)
  const next = isActive && height < active.settledHeight ? active.at(height + 1) : NONE
  return {
    hash: index.hash(id).slice(),
    height,
    header: index.header(id),
    chainwork: index.chainwork(id),
    medianTimePast: index.medianTimePast(id),
    transactions: index.txCount(id),
    size: index.has(id, Status.HAVE_DATA) ? index.dataPlace(id).size : 0,
    confirmations: isActive ? active.settledHeight - height + 1 : -1,
    next: next === NONE ? undefined : index.hash(next).slice()
  }
}
