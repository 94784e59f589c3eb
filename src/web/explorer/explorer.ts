import * as Effect from "effect/Effect"
import { grouped } from "../../base/quantities.ts"
import type { Chain } from "../../chain/Chain.ts"
import type { ChainCoins } from "../../chain/ChainCoins.ts"
import type { Indexes } from "../../chain/indexes/Indexes.ts"
import type { SyncStatus } from "../../chain/SyncStatus.ts"
import type { TxIndex } from "../../chain/TxIndex.ts"
import type { NameAnswers } from "../../light/NameAnswers.ts"
import type { Mempool } from "../../mempool/Mempool.ts"
import type { WrongQuery } from "../../names/errors.ts"
import type { NameDb } from "../../names/NameDb.ts"
import { displayHash } from "../../protocol/bytes.ts"
import type { StorageFailure } from "../../storage/errors.ts"
import { makeDeeds } from "../deeds.ts"
import { html } from "../html.ts"
import type { PageContent } from "../layout.ts"
import { addressLink, blockLink, blocksLink, namesLink, poolLink, transactionLink } from "../links.ts"
import { onceEach } from "../onceEach.ts"
import type { Wanted } from "../routes.ts"
import { visible } from "../visible.ts"
import { makeBlockPageReader } from "./blockData.ts"
import { blockPage, unknownBlock } from "./blockPage.ts"
import { makeBlockLister } from "./blocksData.ts"
import { blocksPage } from "./blocksPage.ts"
import { makePoolLister, type PoolListed, type PoolListerOptions } from "./mempoolData.ts"
import { mempoolPage } from "./mempoolPage.ts"
import { makeNameLister } from "./namesData.ts"
import { addressPage, namesPage } from "./namesPage.ts"
import { makeTransactionReader, type TransactionReader } from "./transactionData.ts"
import { missingTransaction, transactionPage } from "./transactionPage.ts"

/** The pages about blocks, transactions, waiting ones too, addresses and lists of names. */

export type Explored = Extract<
  Wanted,
  { readonly _tag: "Block" | "Blocks" | "Transaction" | "Pool" | "Address" | "Names" }
>

/** A page without the parts that all pages have. The same object is the same page. */
export type Explanation = Omit<PageContent, "network">

export interface Explorer {
  /** `undefined` for a page behind the last. */
  readonly page: (wanted: Explored) => Effect.Effect<Explanation | undefined, StorageFailure | WrongQuery>
  readonly isTransaction: TransactionReader["isKnown"]
}

type Services = Chain | ChainCoins | Indexes | Mempool | NameAnswers | NameDb | SyncStatus | TxIndex

/** Light pages that are made at the same time; further requests wait. */
const LIGHT_PAGES = 4

export const makeExplorer = (options: PoolListerOptions): Effect.Effect<Explorer, never, Services> =>
  Effect.gen(function*() {
    const deeds = yield* makeDeeds
    const blockReader = yield* makeBlockPageReader(deeds)
    const lister = yield* makeBlockLister
    const transactions = yield* makeTransactionReader(deeds)
    const names = yield* makeNameLister
    const waiting = yield* makePoolLister(deeds, options)
    const few = yield* Effect.makeSemaphore(LIGHT_PAGES)
    // A page of a large block takes as long as all others together.
    const one = yield* Effect.makeSemaphore(1)

    const block = (wanted: Extract<Explored, { readonly _tag: "Block" }>) =>
      Effect.map(blockReader(wanted), (found): Explanation | undefined => {
        if (found === undefined) return undefined
        const at = blockLink(wanted.place, wanted)
        return "info" in found
          ? { status: 200, title: `Block ${grouped(found.info.height)}`, at, now: found.now, main: blockPage(found) }
          : { status: 404, title: "Unknown block", at, now: found.now, main: unknownBlock(found) }
      })

    const transaction = (wanted: Extract<Explored, { readonly _tag: "Transaction" }>) =>
      Effect.map(transactions.transaction(wanted), (found): Explanation | undefined => {
        if (found === undefined) return undefined
        const { now } = found
        const at = transactionLink(wanted.txid, wanted)
        if (!("_tag" in found)) {
          const title = `Transaction ${displayHash(wanted.txid).slice(0, 12)}…`
          return { status: 200, title, at, now, main: transactionPage(found) }
        }
        return {
          status: found._tag === "Unknown" ? 404 : 200,
          title: "Unknown transaction",
          at,
          now,
          main: missingTransaction(wanted.txid, found)
        }
      })

    const address = (wanted: Extract<Explored, { readonly _tag: "Address" }>) =>
      Effect.map(names.address(wanted), (found): Explanation => {
        const { now } = found
        const at = addressLink(wanted.text, wanted)
        if (!("error" in found)) return { status: 200, title: "Address", at, now, main: addressPage(found) }
        const main = html`<section class="card"><h1>Not an address</h1><p>${visible(found.error)}</p></section>`
        return { status: 404, title: "Not an address", at, now, main }
      })

    const list = ({ list }: Extract<Explored, { readonly _tag: "Names" }>) =>
      Effect.map(
        names.names(list),
        (found): Explanation => ({
          status: 200,
          title: "Names",
          at: namesLink(list),
          now: found.now,
          main: namesPage(found)
        })
      )

    const blocks = ({ from }: Extract<Explored, { readonly _tag: "Blocks" }>) =>
      Effect.map(
        lister(from),
        (found): Explanation => ({
          status: 200,
          title: "Blocks",
          at: blocksLink({ from }),
          now: found.now,
          main: blocksPage(found)
        })
      )

    const explained = onceEach((found: PoolListed): Explanation => ({
      status: 200,
      title: "Mempool",
      at: poolLink(found.list),
      now: found.now,
      main: mempoolPage(found)
    }))

    const pool = ({ list }: Extract<Explored, { readonly _tag: "Pool" }>) =>
      Effect.map(waiting(list), (found) => found === undefined ? undefined : explained(found))

    return {
      isTransaction: transactions.isKnown,
      page: (wanted) => {
        switch (wanted._tag) {
          case "Block":
            return one.withPermits(1)(block(wanted))
          case "Transaction":
            return one.withPermits(1)(transaction(wanted))
          case "Pool":
            return few.withPermits(1)(pool(wanted))
          case "Address":
            return few.withPermits(1)(address(wanted))
          case "Names":
            return few.withPermits(1)(list(wanted))
          case "Blocks":
            return few.withPermits(1)(blocks(wanted))
        }
      }
    }
  })
