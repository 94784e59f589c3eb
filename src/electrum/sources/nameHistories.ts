import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import { monotonic } from "../../base/clock.ts"
import { SLICE_MS } from "../../base/turns.ts"
import type { Chain } from "../../chain/Chain.ts"
import { NO_HEADER } from "../../chain/index/HeaderTree.ts"
import { isExpired } from "../../consensus/expiry.ts"
import type { NameAnswers } from "../../light/NameAnswers.ts"
import type { CommitSignal } from "../../names/CommitSignal.ts"
import type { LiveReads, NameDb } from "../../names/NameDb.ts"
import type { NameOfScript, ScriptOperation } from "../../names/ScriptReads.ts"
import { hashOfKey, type ScriptKey } from "../../protocol/keys.ts"
import type { StorageFailure } from "../../storage/errors.ts"
import { CODE, ElectrumError, internalError, syncing } from "../protocol/ElectrumError.ts"
import { type Histories, LONGEST_HISTORY, oneAtATime, type WholeHistory } from "./Histories.ts"
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

/** Operations of a history that is answered without a fiber: a tenth of a millisecond. */
const MOST_AT_ONCE = 100

/** Milliseconds for which names count as complete at a tip: a new doubt about stored data shows that much later. */
const SETTLED_FOR = 20

/** The operations on the name of a script hash, oldest first; none for any other hash. */
export type OperationsOf = (key: ScriptKey) => Effect.Effect<ReadonlyArray<ScriptOperation>, ElectrumError>

const wholeOf = (confirmed: ReadonlyArray<ScriptOperation>): WholeHistory => ({ confirmed, unconfirmed: [] })

/** Histories in which each transaction is an operation. */
export const historiesOf = (
  operations: OperationsOf,
  chain: Pick<typeof Chain.Service, "params" | "tree">
): Histories => ({
  all: (key) => Effect.map(operations(key), wholeOf),
  several: oneAtATime((key) => Effect.map(operations(key), wholeOf)),
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

/** Reads a history from its last known operation on, or whole if a reorganization removed that one. */
const wholeHistory = (
  scripts: LiveReads["scripts"],
  name: NameOfScript,
  known: ReadonlyArray<ScriptOperation>
): ReadonlyArray<ScriptOperation> => {
  const last = known.at(-1)
  if (last !== undefined) {
    const before = known.filter(({ height }) => height < last.height)
    const read = scripts.operations(name, { from: last.height, limit: LONGEST_HISTORY + 1 - before.length })
    if (read[0]?.height === last.height) return [...before, ...read]
  }
  return scripts.operations(name, { from: 0, limit: LONGEST_HISTORY + 1 })
}

export const makeNameHistories = ({ answers, chain, commits, names }: NameHistoryParts): Histories => {
  const kept = new KeptHistories(commits)

  /** `undefined` for a hash that may be that of a name without one. */
  const readNow = ({ scripts }: LiveReads, key: ScriptKey): ReadonlyArray<ScriptOperation> | undefined => {
    const name = scripts.find(hashOfKey(key))
    if (name === undefined) return scripts.isComplete() ? [] : undefined
    const found = wholeHistory(scripts, name, kept.beginning(key))
    kept.put(key, found)
    return found
  }

  let settled = { tip: NO_HEADER, commits: -1, until: 0 }

  const isSettled = (): boolean =>
    settled.tip === chain.tree.tip() && settled.commits === commits.count && monotonic() < settled.until

  /** As `answers.complete`, which takes longer to ask than most histories take to answer. */
  const complete = Effect.suspend(() => {
    if (isSettled()) return Effect.succeed(true)
    // Of the moment before the answer: a commit in between makes it old.
    const asked = { tip: chain.tree.tip(), commits: commits.count }
    return Effect.tap(answers.complete, (isComplete) => {
      if (isComplete) settled = { ...asked, until: monotonic() + SETTLED_FOR }
    })
  })

  /** What is read counts if names are complete. While a window answers, names.db is not at the tip. */
  const whenComplete = <A>(read: Effect.Effect<A, StorageFailure>): Effect.Effect<A, ElectrumError> =>
    Effect.matchEffect(Effect.zip(complete, read), {
      onFailure: () => internalError(),
      onSuccess: ([complete, found]) => complete && !answers.fromWindow() ? Effect.succeed(found) : syncing()
    })

  const judged = (
    found: ReadonlyArray<ScriptOperation> | undefined
  ): Either.Either<ReadonlyArray<ScriptOperation>, ElectrumError> => {
    if (found === undefined) return Either.left(syncing())
    return found.length > LONGEST_HISTORY ? Either.left(tooLarge()) : Either.right(found)
  }

  const operations: OperationsOf = (key) =>
    Effect.flatMap(
      whenComplete(Effect.suspend(() => {
        const found = kept.get(key)
        return found === undefined ? names.readLog((_, reads) => readNow(reads, key)) : Effect.succeed(found)
      })),
      judged
    )

  return {
    ...historiesOf(operations, chain),
    known: (key) => {
      const found = isSettled() && !answers.fromWindow() ? kept.get(key) : undefined
      return found !== undefined && found.length <= MOST_AT_ONCE ? wholeOf(found) : undefined
    },
    several: (keys) =>
      Effect.map(
        whenComplete(names.readLog((_, reads) => {
          const end = monotonic() + SLICE_MS
          const found: Array<ReadonlyArray<ScriptOperation> | undefined> = []
          for (const key of keys) {
            found.push(kept.get(key) ?? readNow(reads, key))
            if (monotonic() >= end) break
          }
          return found
        })),
        (found) => found.map((each) => Either.map(judged(each), wholeOf))
      )
  }
}
