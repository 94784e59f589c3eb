import * as Effect from "effect/Effect"
import type { WrongQuery } from "../../names/errors.ts"
import type { StorageFailure } from "../../storage/errors.ts"
import { makeDeeds } from "../deeds.ts"
import type { PageBody } from "../layout.ts"
import type { Wanted } from "../routes.ts"
import { makeBlockPage } from "./blockPage.ts"
import { makeBlocksPage } from "./blocksPage.ts"
import { makeMempoolPage, type MempoolPageOptions } from "./mempoolPage.ts"
import { makeNamesPages } from "./namesPage.ts"
import { makeTransactionReader } from "./transactionData.ts"
import { makeTransactionPage } from "./transactionPage.ts"

/** The pages about blocks, transactions, the mempool, addresses and lists of names. */

type Explored = Extract<
  Wanted,
  { readonly _tag: "Block" | "Blocks" | "Transaction" | "Pool" | "Address" | "Names" }
>

/** Concurrent light pages; further requests wait. */
const LIGHT_PAGES = 4

export const makeExplorer = (options: MempoolPageOptions) =>
  Effect.gen(function*() {
    const deeds = yield* makeDeeds
    const transactions = yield* makeTransactionReader(deeds)
    const transaction = makeTransactionPage(transactions)
    const block = yield* makeBlockPage(deeds)
    const blocks = yield* makeBlocksPage
    const names = yield* makeNamesPages
    const pool = yield* makeMempoolPage(deeds, options)
    const few = (yield* Effect.makeSemaphore(LIGHT_PAGES)).withPermits(1)
    // The page of a large block takes as long as all others together.
    const one = (yield* Effect.makeSemaphore(1)).withPermits(1)

    const page = (wanted: Explored): Effect.Effect<PageBody | undefined, StorageFailure | WrongQuery> => {
      switch (wanted._tag) {
        case "Block":
          return one(block(wanted))
        case "Transaction":
          return one(transaction(wanted))
        case "Pool":
          return few(pool(wanted))
        case "Address":
          // Its histories, which may take thousands of blocks, wait for each other alone.
          return names.address(wanted)
        case "Names":
          return few(names.list(wanted))
        case "Blocks":
          return few(blocks(wanted))
      }
    }

    return { page, isTransaction: transactions.isKnown }
  })
