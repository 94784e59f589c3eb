import * as Effect from "effect/Effect"
import type { Chain } from "../../chain/Chain.ts"
import { isExpired } from "../../consensus/expiry.ts"
import type { NameAnswers } from "../../light/NameAnswers.ts"
import type { CommitSignal } from "../../names/CommitSignal.ts"
import type { NameDb } from "../../names/NameDb.ts"
import type { ScriptOperation } from "../../names/ScriptReads.ts"
import { hashOfKey, type ScriptKey } from "../../protocol/keys.ts"
import { CODE, ElectrumError, internalError, syncing } from "../protocol/ElectrumError.ts"
import { type Histories, LONGEST_HISTORY } from "./Histories.ts"
import { KeptHistories } from "./KeptHistories.ts"

/** The histories of names, from names.db. */

export interface NameHistoryParts {
  readonly names: Pick<typeof NameDb.Service, "readLog">
  readonly commits: Pick<CommitSignal, "count" | "touchedBehind">
  readonly answers: Pick<typeof NameAnswers.Service, "complete" | "fromWindow">
  readonly chain: Pick<typeof Chain.Service, "params" | "tree">
}

const NOTHING = { confirmed: 0, unconfirmed: 0 }

export const tooLarge = (): ElectrumError =>
  new ElectrumError({ code: CODE.historyTooLong, message: "history too large" })

/** The operations on the name of a script hash, oldest first; none for any other hash. */
export type OperationsOf = (key: ScriptKey) => Effect.Effect<ReadonlyArray<ScriptOperation>, ElectrumError>

/** Histories in which each transaction is an operation. */
export const historiesOf = (
  operations: OperationsOf,
  chain: Pick<typeof Chain.Service, "params" | "tree">
): Histories => ({
  all: (key) => Effect.map(operations(key), (confirmed) => ({ confirmed, unconfirmed: [] })),
  confirmed: operations,
  // As in ElectrumX, clients hear of an operation when it is in a block.
  unconfirmed: () => Effect.succeed([]),
  unspent: (key) =>
    Effect.map(operations(key), (all) => {
      const last = all.at(-1)
      // The coin of a name goes one block before the name expires.
      if (last === undefined || isExpired(last, chain.tree.height(chain.tree.tip()) + 1, chain.params)) return []
      return [{ txid: last.txid, vout: last.vout, height: last.height, value: last.amount }]
    }),
  // The amount belongs to the owner's address.
  balance: (key) => Effect.as(operations(key), NOTHING)
})

export const makeNameHistories = ({ answers, chain, commits, names }: NameHistoryParts): Histories => {
  const kept = new KeptHistories(commits)

  /** All operations on the name of a script hash; none for any other hash. */
  const operations = (key: ScriptKey): Effect.Effect<ReadonlyArray<ScriptOperation>, ElectrumError> => {
    const read = names.readLog((_, { scripts }) => {
      const name = scripts.find(hashOfKey(key))
      if (name === undefined) return scripts.isComplete() ? [] : undefined
      const found = scripts.operations(name, LONGEST_HISTORY + 1)
      kept.put(key, found)
      return found
    })
    const known = Effect.suspend(() => {
      const found = kept.get(key)
      return found === undefined ? read : Effect.succeed(found)
    })
    return Effect.matchEffect(Effect.zip(answers.complete, known), {
      onFailure: () => internalError(),
      onSuccess: ([complete, found]) => {
        // While a window answers, names.db is not at the tip.
        if (!complete || answers.fromWindow() || found === undefined) return syncing()
        return found.length > LONGEST_HISTORY ? tooLarge() : Effect.succeed(found)
      }
    })
  }

  return historiesOf(operations, chain)
}
