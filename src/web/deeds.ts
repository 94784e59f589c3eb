import * as Effect from "effect/Effect"
import type { HeaderInfo } from "../chain/index/headerInfo.ts"
import { NameAnswers } from "../light/NameAnswers.ts"
import { Mempool } from "../mempool/Mempool.ts"
import type { PoolEntry } from "../mempool/PoolEntry.ts"
import { NameDb } from "../names/NameDb.ts"
import { firstOperationAt } from "../names/NameEntry.ts"
import type { Block } from "../protocol/block.ts"
import { type Bytes, EMPTY, equal } from "../protocol/bytes.ts"
import { nameKey } from "../protocol/keys.ts"
import {
  NAME_TX_VERSION,
  type NameOperation,
  type NameScript,
  type NameSetting,
  parseNameScript
} from "../protocol/nameOperation.ts"
import { changeText, deedOfChange, type SetRecord, waitingChangeText } from "../protocol/operationWord.ts"
import type { Transaction } from "../protocol/transaction.ts"

/** What operations on names did, in words, compared with the record that they replace. */

export interface WordedOperation {
  readonly operation: NameOperation
  readonly word: string | undefined
}

export const nameScriptsOf = ({ outputs, version }: Transaction): ReadonlyArray<NameScript> =>
  version === NAME_TX_VERSION ? outputs.flatMap(({ script }) => parseNameScript(script) ?? []) : []

const settingsIn = (transactions: ReadonlyArray<Transaction>): number =>
  transactions.flatMap(nameScriptsOf).filter(({ operation }) => operation.op !== "name_new").length

/** `undefined` for a commitment, which sets none. */
const recordOf = ({ address, operation }: NameScript): SetRecord & { readonly name: Bytes } | undefined =>
  operation.op === "name_new"
    ? undefined
    : { op: operation.op, name: operation.name, value: operation.value, address }

/** A pending operation that sets a record. */
export interface WaitingSetting {
  readonly entry: PoolEntry
  readonly operation: NameSetting
  readonly word: string
}

export interface Deeds {
  /** In block order. */
  readonly ofBlock: (
    placed: { readonly block: Block; readonly info: Pick<HeaderInfo, "confirmations" | "height"> },
    range: { readonly from: number; readonly to: number }
  ) => Effect.Effect<ReadonlyArray<ReadonlyArray<WordedOperation>>>
  readonly waiting: (entry: PoolEntry) => Effect.Effect<WordedOperation | undefined>
  readonly settings: (entries: ReadonlyArray<PoolEntry>) => Effect.Effect<ReadonlyArray<WaitingSetting>>
}

/** Where names are behind the chain or unreadable, the words lack the comparison. */
export const makeDeeds: Effect.Effect<Deeds, never, Mempool | NameAnswers | NameDb> = Effect.gen(function*() {
  const names = yield* NameDb
  const pool = yield* Mempool
  const answers = yield* NameAnswers

  const ofBlock: Deeds["ofBlock"] = ({ block: { transactions }, info: { confirmations, height } }, { from, to }) =>
    Effect.gen(function*() {
      const shown = transactions.slice(from, to)
      const limit = settingsIn(shown)
      let id = firstOperationAt(height) + settingsIn(transactions.slice(0, from))
      const range = { from: id, to: id + limit }
      // Names know only the operations of the best chain.
      const logged = limit === 0 || confirmations <= 0
        ? []
        : yield* Effect.orElseSucceed(names.readLog((log) => log.operations(range, { limit, before: true })), () => [])
      const known = new Map(logged.map((each) => [each.id, each]))
      return shown.map((transaction) =>
        nameScriptsOf(transaction).map(({ operation }): WordedOperation => {
          if (operation.op === "name_new") return { operation, word: undefined }
          const { before, record } = known.get(id++) ?? {}
          const isThis = record !== undefined && equal(record.txid, transaction.txid)
          const { address, op, value } = { address: EMPTY, ...operation }
          const change = isThis ? { record, before } : { record: { op, value, address }, before: undefined }
          return { operation, word: changeText(deedOfChange(change)) }
        })
      )
    })

  /** The record before a pending operation is confirmed. */
  const before = (name: Bytes, entry: PoolEntry) =>
    Effect.gen(function*() {
      const queue = pool.pending(nameKey(name))
      const place = queue.indexOf(entry)
      const earlier = place > 0 ? queue[place - 1]?.name : undefined
      if (earlier !== undefined) return recordOf(earlier.script)
      return (yield* Effect.orElseSucceed(answers.resolve(name), () => undefined))?.record
    })

  const waiting: Deeds["waiting"] = (entry) =>
    Effect.gen(function*() {
      const script = entry.name?.script
      if (script === undefined) return undefined
      const { operation } = script
      const record = recordOf(script)
      if (record === undefined) return { operation, word: undefined }
      const change = deedOfChange({ record, before: yield* before(record.name, entry) })
      return { operation, word: waitingChangeText(change) }
    })

  const settings: Deeds["settings"] = (entries) =>
    Effect.map(
      Effect.forEach(entries, (entry) => Effect.map(waiting(entry), (worded) => ({ entry, ...worded }))),
      (all) =>
        all.flatMap(({ entry, operation, word }) =>
          operation === undefined || operation.op === "name_new" || word === undefined
            ? []
            : [{ entry, operation, word }]
        )
    )

  return { ofBlock, settings, waiting }
})
