import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import { pauses } from "../../base/turns.ts"
import type { Chain } from "../../chain/Chain.ts"
import { livingCoins } from "../../chain/indexes/ScriptHistory.ts"
import type { BookFailure, OpenScriptBook, ScriptFound, WaitingEntry } from "../../mempool/scripts/ScriptBook.ts"
import type { ScriptKey } from "../../protocol/keys.ts"
import { badRequest, type ElectrumError, internalError, syncing } from "../protocol/ElectrumError.ts"
import { readCost } from "./Blocks.ts"
import type {
  FoundHistory,
  Histories,
  Payer,
  PoolEntryOfScript,
  ScriptBalance,
  UnspentOutput,
  WholeHistory
} from "./Histories.ts"
import { tooLarge } from "./nameHistories.ts"

/** The histories of all scripts: of names from names.db, of others from blocks and the mempool. */

export interface ScriptHistoryParts {
  readonly names: Histories
  readonly book: Pick<OpenScriptBook, "find">
  readonly chain: Pick<typeof Chain.Service, "params">
}

const errorOf = (failure: BookFailure | ElectrumError): ElectrumError => {
  switch (failure._tag) {
    case "ElectrumError":
      return failure
    case "ScriptsBehind":
      return syncing(failure.message)
    case "HistoryTooLong":
      return tooLarge()
    case "BlockNotFound":
    case "BlockUnavailable":
      return badRequest(`db error: ${failure.message}`)
    default:
      return internalError()
  }
}

const pooled = ({ entry: { fee, transaction: { txid } }, isChild }: WaitingEntry): PoolEntryOfScript => ({
  txid,
  height: isChild ? -1 : 0,
  fee
})

const sum = (values: ReadonlyArray<{ readonly value: number }>): number =>
  values.reduce((total, { value }) => total + value, 0)

export const makeScriptHistories = ({ book, chain: { params }, names }: ScriptHistoryParts): Histories => {
  const find = (key: ScriptKey, payer?: Payer): Effect.Effect<ScriptFound, ElectrumError> =>
    Effect.mapError(
      payer === undefined ? book.find(key) : book.find(key, (transactions) => {
        payer.charge(readCost(transactions))
        return payer.withinLimits
      }),
      errorOf
    )

  /** What `ofScript` makes of a script; the same of a name from `names`. */
  const either =
    <A>(ofName: (key: ScriptKey) => Effect.Effect<A, ElectrumError>, ofScript: (found: ScriptFound) => A) =>
    (key: ScriptKey, payer?: Payer): Effect.Effect<A, ElectrumError> =>
      Effect.flatMap(
        names.confirmed(key),
        (operations) => operations.length > 0 ? ofName(key) : Effect.map(find(key, payer), ofScript)
      )

  const coinsOf = ({ height, history }: ScriptFound) => livingCoins(history, height, params)

  const wholeOf = ({ history, waiting }: ScriptFound): WholeHistory => ({
    confirmed: history.entries,
    unconfirmed: waiting.map(pooled)
  })

  /** With the histories of the keys that name nothing. */
  const completed = (keys: ReadonlyArray<ScriptKey>, named: ReadonlyArray<FoundHistory>) =>
    Effect.gen(function*() {
      const all: Array<FoundHistory> = []
      const pause = pauses()
      for (const [at, found] of named.entries()) {
        const key = keys[at]
        const isName = Either.isLeft(found) || found.right.confirmed.length > 0
        all.push(
          isName || key === undefined ? found : yield* Effect.either(Effect.map(find(key), wholeOf))
        )
        yield* pause
      }
      return all
    })

  return {
    all: either(names.all, wholeOf),
    known: (key) => {
      const found = names.known?.(key)
      // Without operations of a name, it may be the hash of another script.
      return found === undefined || found.confirmed.length === 0 ? undefined : found
    },
    several: (keys) => Effect.flatMap(names.several(keys), (named) => completed(keys, named)),
    confirmed: either(names.confirmed, ({ history }) => history.entries),
    unconfirmed: either(names.unconfirmed, ({ waiting }) => waiting.map(pooled)),
    unspent: either(names.unspent, (found): ReadonlyArray<UnspentOutput> => [
      ...coinsOf(found).filter((coin) => !found.isSpent(coin)),
      ...found.waitingCoins.map((coin) => ({ ...coin, height: 0 }))
    ]),
    balance: either(names.balance, (found): ScriptBalance => ({
      confirmed: sum(coinsOf(found)),
      unconfirmed: found.waiting.reduce((total, { change }) => total + change, 0)
    }))
  }
}
