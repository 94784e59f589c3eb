import * as Effect from "effect/Effect"
import type * as Either from "effect/Either"
import type { Bytes } from "../../protocol/bytes.ts"
import type { ScriptKey } from "../../protocol/keys.ts"
import type { ElectrumError } from "../protocol/ElectrumError.ts"
import type { HistoryEntry } from "../protocol/status.ts"

/** An unspent output. */
export interface UnspentOutput {
  /** Wire order. */
  readonly txid: Bytes
  readonly vout: number
  /** 0 in the pool. */
  readonly height: number
  /** Smallest units. */
  readonly value: number
}

export interface PoolEntryOfScript extends HistoryEntry {
  /** Smallest units. */
  readonly fee: number
}

export interface ScriptBalance {
  /** Smallest units. */
  readonly confirmed: number
  readonly unconfirmed: number
}

export interface WholeHistory {
  /** In chain order. */
  readonly confirmed: ReadonlyArray<HistoryEntry>
  /** In the order of the protocol: height 0 first, then by txid. */
  readonly unconfirmed: ReadonlyArray<PoolEntryOfScript>
}

/** Whose question an answer is: blocks that are read for it cost. */
export interface Payer {
  readonly charge: (cost: number) => void
  readonly withinLimits: Effect.Effect<void, ElectrumError>
}

/** What `all` says of one of several. */
export type FoundHistory = Either.Either<WholeHistory, ElectrumError>

/**
 * What the node knows of a script hash. Fails with `syncing` while something may be missing, and with "history too
 * large" above `LONGEST_HISTORY`.
 */
export interface Histories {
  /** At one moment, so that no transaction is twice in it. */
  readonly all: (key: ScriptKey, payer?: Payer) => Effect.Effect<WholeHistory, ElectrumError>
  /** `all` of the first of some, in their order: as many as a slice of work has time for, at least one. */
  readonly several: (keys: ReadonlyArray<ScriptKey>) => Effect.Effect<ReadonlyArray<FoundHistory>, ElectrumError>
  /** `all`, without a fiber, if memory has it and nothing is missing. */
  readonly known?: (key: ScriptKey) => WholeHistory | undefined
  readonly confirmed: (key: ScriptKey, payer?: Payer) => Effect.Effect<ReadonlyArray<HistoryEntry>, ElectrumError>
  readonly unconfirmed: (
    key: ScriptKey,
    payer?: Payer
  ) => Effect.Effect<ReadonlyArray<PoolEntryOfScript>, ElectrumError>
  readonly unspent: (key: ScriptKey, payer?: Payer) => Effect.Effect<ReadonlyArray<UnspentOutput>, ElectrumError>
  readonly balance: (key: ScriptKey, payer?: Payer) => Effect.Effect<ScriptBalance, ElectrumError>
}

/** `several` where each history is read on its own. */
export const oneAtATime = (all: Histories["all"]): Histories["several"] => (keys) =>
  Effect.forEach(keys.slice(0, 1), (key) => Effect.either(all(key)))

/** Transactions. */
export const LONGEST_HISTORY = 20_000
