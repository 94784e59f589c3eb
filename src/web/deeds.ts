import * as Effect from "effect/Effect"
import { Chain } from "../chain/Chain.ts"
import { NameAnswers } from "../light/NameAnswers.ts"
import { Mempool } from "../mempool/Mempool.ts"
import type { PoolEntry } from "../mempool/PoolEntry.ts"
import { NameDb } from "../names/NameDb.ts"
import { firstOperationAt } from "../names/NameEntry.ts"
import { type Bytes, equal } from "../protocol/bytes.ts"
import { type Height, nameKey } from "../protocol/keys.ts"
import {
  NAME_TX_VERSION,
  type NameOperation,
  type NameScript,
  type NameSetting,
  parseNameScript
} from "../protocol/nameOperation.ts"
import { operationWord, plainWord, type SetRecord, waitingWord } from "../protocol/operationWord.ts"
import type { Transaction } from "../protocol/transaction.ts"

/** What operations on names did, in words: each is compared with the record that it replaces. */

/** An operation of a block that set the record of a name. */
export interface SettingAt {
  readonly name: Bytes
  readonly op: NameSetting["op"]
  readonly height: Height
  /** Wire order. */
  readonly txid: Bytes
  /** Its place among the operations of its block that set records. */
  readonly index: number
}

/** An operation with its word; a commitment has none. */
export interface WordedOperation {
  readonly operation: NameOperation
  readonly word: string | undefined
}

/** The name outputs of a transaction. */
export const nameScriptsOf = ({ outputs, version }: Transaction): ReadonlyArray<NameScript> =>
  version === NAME_TX_VERSION ? outputs.flatMap(({ script }) => parseNameScript(script) ?? []) : []

const isSetting = ({ operation }: NameScript): boolean => operation.op !== "name_new"

/** Operations of some transactions that set records. */
export const settingsIn = (transactions: ReadonlyArray<Transaction>): number =>
  transactions.reduce((sum, each) => sum + nameScriptsOf(each).filter(isSetting).length, 0)

/** The record that a name output sets; `undefined` for a commitment, which sets none. */
const recordOf = ({ address, operation }: NameScript): SetRecord & { readonly name: Bytes } | undefined =>
  operation.op === "name_new"
    ? undefined
    : { op: operation.op, name: operation.name, value: operation.value, address }

/** A transaction of the best chain. */
export interface TransactionAt {
  readonly transaction: Transaction
  readonly height: Height
  /** Operations before it in its block that set records. */
  readonly settingsBefore: number
}

export interface Deeds {
  /** The words for operations of the best chain. */
  readonly words: (settings: ReadonlyArray<SettingAt>) => Effect.Effect<ReadonlyArray<string>>
  /** The operations of transactions of the best chain. */
  readonly ofTransactions: (
    placed: ReadonlyArray<TransactionAt>
  ) => Effect.Effect<ReadonlyArray<ReadonlyArray<WordedOperation>>>
  /** The operation of a waiting transaction; `undefined` for one without. */
  readonly waiting: (entry: PoolEntry) => Effect.Effect<WordedOperation | undefined>
}

/** The operations of a transaction that is in no block of the best chain, without a comparison. */
export const plainly = (transaction: Transaction): ReadonlyArray<WordedOperation> =>
  nameScriptsOf(transaction).map(({ operation }) => ({
    operation,
    word: operation.op === "name_new" ? undefined : plainWord(operation.op)
  }))

/** Makes the words. Where names are behind the chain, or cannot be read, they are those without a comparison. */
export const makeDeeds: Effect.Effect<Deeds, never, Chain | Mempool | NameAnswers | NameDb> = Effect.gen(function*() {
  const { network } = (yield* Chain).params
  const names = yield* NameDb
  const pool = yield* Mempool
  const answers = yield* NameAnswers

  const words: Deeds["words"] = (settings) =>
    settings.length === 0 ?
      Effect.succeed([]) :
      names.readLog((log) =>
        settings.map(({ height, index, name, op, txid }) => {
          const id = firstOperationAt(height) + index
          const record = log.recordBelow(name, id + 1)
          return record !== undefined && record.height === height && equal(record.txid, txid)
            ? operationWord(network, record, log.recordBelow(name, id))
            : plainWord(op)
        })
      ).pipe(Effect.orElseSucceed(() => settings.map(({ op }) => plainWord(op))))

  const ofTransactions: Deeds["ofTransactions"] = (placed) =>
    Effect.gen(function*() {
      const found = placed.map(({ height, settingsBefore, transaction }) => {
        let index = settingsBefore
        return nameScriptsOf(transaction).map(({ operation }) => ({
          operation,
          setting: operation.op === "name_new"
            ? undefined
            : { name: operation.name, op: operation.op, height, txid: transaction.txid, index: index++ }
        }))
      })
      const said = yield* words(found.flat().flatMap(({ setting }) => setting ?? []))
      let at = 0
      return found.map((operations) =>
        operations.map(({ operation, setting }) => ({
          operation,
          word: setting === undefined ? undefined : said[at++]
        }))
      )
    })

  /** The record that is there when a waiting operation on a name comes into a block. */
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
      return { operation, word: waitingWord(operationWord(network, record, yield* before(record.name, entry))) }
    })

  return { words, ofTransactions, waiting }
})
