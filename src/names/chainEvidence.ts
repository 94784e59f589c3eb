import * as Effect from "effect/Effect"
import { turnOfEventLoop } from "../base/turns.ts"
import type { Chain } from "../chain/Chain.ts"
import { type HeaderTree, NO_HEADER } from "../chain/index/HeaderTree.ts"
import type { Cursor } from "../chain/write/Follower.ts"
import { encodeBlockHeader } from "../protocol/block.ts"
import { type Bytes, equal } from "../protocol/bytes.ts"
import type { HeaderId, Height } from "../protocol/keys.ts"
import { merkleBranches } from "../protocol/merkle.ts"
import type { StorageFailure } from "../storage/errors.ts"
import { MOST_OPERATIONS } from "../verify/nameProof.ts"
import { NamesIncomplete, type ProofUnavailable, unprovable } from "./errors.ts"
import type { NameDb } from "./NameDb.ts"
import type { NameEntry } from "./NameEntry.ts"
import {
  EvidenceList,
  type NameEvidence,
  newestLife,
  type OperationEvidence,
  tipCoinbase,
  type TipEvidence,
  type WantedEvidence
} from "./nameEvidence.ts"

interface Stores {
  readonly chain: Pick<typeof Chain.Service, "block" | "fullHeaders" | "tree">
  readonly names: Pick<typeof NameDb.Service, "cursor" | "historyPage" | "beginning">
}

type Failure = NamesIncomplete | ProofUnavailable | StorageFailure

/** Bytes of a block for one turn of the event loop. A block of usual size takes one turn. */
const BYTES_A_TURN = 64_000

/** Lets other work run, the longer the larger the block is that is read. */
const turnsFor = (bytes: number): Effect.Effect<void> =>
  Effect.repeatN(turnOfEventLoop, Math.floor(bytes / BYTES_A_TURN))

/** How often a proof is begun again because a block arrived. */
const ATTEMPTS = 5

/** The headers at heights `from` to `to`, as far as the chain that ends with `tip` has them. */
const headersOf = (
  { chain: { fullHeaders, tree } }: Stores,
  { from, tip, to }: { readonly tip: HeaderId; readonly from: Height; readonly to: Height }
) => {
  const last = Math.min(to, tree.height(tip))
  const ids = Array.from({ length: Math.max(0, last - from + 1) }, (_, i) => tree.ancestor(tip, from + i))
  return Effect.map(fullHeaders(ids), (headers) => headers.map(encodeBlockHeader))
}

const unavailable = (tree: HeaderTree, id: HeaderId): ProofUnavailable =>
  unprovable(tree.height(id), tree.isPruned(id) ? "pruned" : "missing")

interface Place {
  /** The last block of the chain. */
  readonly tip: HeaderId
  readonly following: number
}

const evidenceOf = (
  stores: Stores,
  { height, txid, vout }: NameEntry,
  { following, tip }: Place
): Effect.Effect<OperationEvidence, Failure> =>
  Effect.gen(function*() {
    const { chain } = stores
    const id = chain.tree.ancestor(tip, height)
    const block = yield* Effect.catchTags(chain.block(chain.tree.hash(id)), {
      BlockNotFound: () => unavailable(chain.tree, id),
      BlockUnavailable: () => unavailable(chain.tree, id)
    })
    yield* turnsFor(block.size)
    const { transactions } = block
    const pos = transactions.findIndex((transaction) => equal(transaction.txid, txid))
    const [coinbase] = transactions
    const transaction = transactions[pos]
    // names.db and the blocks differ: it is being rebuilt.
    if (transaction === undefined || coinbase === undefined) return yield* new NamesIncomplete()
    const branchAt = merkleBranches(transactions.map((each) => each.txid))
    const after = yield* headersOf(stores, { tip, from: height + 1, to: height + following })
    const headers = [encodeBlockHeader(block), ...after]
    return {
      height,
      tx: transaction.bytes,
      vout,
      pos,
      branch: branchAt(pos),
      coinbase: { tx: coinbase.strippedBytes(), branch: branchAt(0) },
      headers
    }
  })

/** What shows the last block of the chain, without its coinbase where the block is missing. */
const tipEvidence = (
  { chain }: Pick<Stores, "chain">,
  { hash, height }: Cursor,
  end: HeaderId
): Effect.Effect<TipEvidence, Failure> =>
  Effect.gen(function*() {
    const [header] = yield* chain.fullHeaders([end])
    if (header === undefined) return yield* unavailable(chain.tree, end)
    const leaf = yield* chain.block(hash).pipe(
      Effect.tap(({ size }) => turnsFor(size)),
      Effect.map(({ transactions }) => {
        const [coinbase] = transactions
        if (coinbase === undefined) return undefined
        return { tx: coinbase.strippedBytes(), branch: merkleBranches(transactions.map(({ txid }) => txid))(0) }
      }),
      Effect.catchTags({
        BlockNotFound: () => Effect.succeed(undefined),
        BlockUnavailable: () => Effect.succeed(undefined)
      })
    )
    return { height, hash, header: encodeBlockHeader(header), coinbase: tipCoinbase(leaf) }
  })

/** The newest operations on a name, and the tip of the names that they are of. */
const entriesNow = (names: Stores["names"], name: Bytes, wanted: WantedEvidence) =>
  Effect.gen(function*() {
    for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
      const tip = yield* names.cursor
      if (tip === undefined) break
      const { entries } = yield* names.historyPage(name, { skip: 0, count: MOST_OPERATIONS }).pipe(
        Effect.catchTag("NameNotFound", () => Effect.succeed({ entries: [] }))
      )
      const after = yield* names.cursor
      if (after !== undefined && equal(tip.hash, after.hash)) {
        return { tip, ...newestLife<NameEntry>(entries, wanted) }
      }
    }
    return yield* new NamesIncomplete()
  })

/**
 * Adds the evidence of operations, the newest first, up to the first that is not stored or too much for a proof. Fails if
 * that is the newest one.
 */
const collected = (
  stores: Stores,
  entries: ReadonlyArray<NameEntry>,
  { following, tip }: Place
): Effect.Effect<EvidenceList["operations"], Failure> =>
  Effect.gen(function*() {
    const evidence = new EvidenceList()
    for (const entry of entries) {
      const isNewest = evidence.operations.length === 0
      const found = evidenceOf(stores, entry, { tip, following: isNewest ? following : 0 })
      const operation = isNewest
        ? yield* found
        : yield* Effect.catchTag(found, "ProofUnavailable", () => Effect.succeed(undefined))
      if (operation === undefined) break
      if (!evidence.add(operation)) {
        if (isNewest) return yield* unprovable(entry.height, "long")
        break
      }
    }
    return evidence.operations
  })

/** Proves a name from names.db and the block files. Reads at most one block a turn of the event loop. */
export const evidenceInChain = (
  stores: Stores,
  name: Bytes,
  wanted: WantedEvidence
): Effect.Effect<NameEvidence, Failure> =>
  Effect.gen(function*() {
    const { chain: { tree }, names } = stores
    const { since, tip, wanted: entries } = yield* entriesNow(names, name, wanted)
    const end = tree.find(tip.hash)
    // The chain is being repaired, and names.db is ahead of it.
    if (end === NO_HEADER) return yield* new NamesIncomplete()
    const operations = yield* collected(stores, entries, { tip: end, following: wanted.headers })
    const shown = yield* tipEvidence(stores, tip, end)
    return { tip: shown, from: (yield* names.beginning) ?? 0, since, operations }
  })
