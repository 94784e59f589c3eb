import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import type { PoolEntry } from "../../mempool/PoolEntry.ts"
import { displayHash } from "../../protocol/bytes.ts"
import type { StorageFailure } from "../../storage/errors.ts"
import { followPool } from "../payments/commit.ts"
import { update, type WalletParts } from "../WalletParts.ts"
import { documentEntry, withEntries } from "./entries.ts"
import type { LedgerEntry } from "./LedgerEntry.ts"
import { lateUpdates, settleLost } from "./orphans.ts"
import { markUsed } from "./scanBlocks.ts"

/** Persists whether an entry is abandoned; an abandoned transaction may be sent again. */
const keepAbandoned = (parts: WalletParts, entry: LedgerEntry): Effect.Effect<void, StorageFailure> =>
  Effect.suspend(() => {
    const txid = displayHash(entry.transaction.txid)
    const stored = parts.file.document.transactions.find((each) => each.txid === txid)
    return stored === undefined || stored.abandoned === entry.abandoned
      ? Effect.void
      : update(parts, (document) => withEntries(document, [documentEntry(entry)]))
  })

/** What the mempool dropped or replaced keeps no coins if its name expired, and frees those of an earlier transaction. */
const afterChange = (parts: WalletParts): Effect.Effect<void, StorageFailure> =>
  Effect.suspend(() => {
    const changed = settleLost(parts.ledger, lateUpdates(parts.ledger))
    if (changed.length === 0) return Effect.void
    return update(parts, (document) => withEntries(document, changed.map(documentEntry)))
  })

const follow = (parts: WalletParts, { time, transaction }: PoolEntry): Effect.Effect<void, StorageFailure> =>
  Effect.gen(function*() {
    const { ledger, mempool, ring } = parts
    const { txid, txidKey } = transaction
    const displaced = ledger.displace(transaction, mempool.get(txidKey) !== undefined)
    const known = ledger.entry(txidKey)
    if (known !== undefined) {
      followPool(parts, txidKey)
      yield* keepAbandoned(parts, known)
    }
    if (displaced || known !== undefined && mempool.get(txidKey) === undefined) yield* afterChange(parts)
    if (known !== undefined || mempool.get(txidKey) === undefined || !ledger.concerns(transaction)) return
    const entry = ledger.put({ transaction, time, state: { type: "pending" } })
    const grew = markUsed(ring, transaction)
    yield* update(parts, (document) => withEntries(grew ? ring.save(document) : document, [documentEntry(entry)]))
    yield* parts.publish({ _tag: "TransactionAdded", txid })
    if (grew) yield* lookAtPool(parts)
  })

/** For when the wallet watches more scripts. */
export const lookAtPool = (parts: WalletParts): Effect.Effect<void, StorageFailure> =>
  Effect.suspend(() => Effect.forEach([...parts.mempool.entries()], (entry) => follow(parts, entry), { discard: true }))

/** Incoming mempool transactions are stored like outgoing ones, so that a payment is still known after a restart. */
export const watchPool = (parts: WalletParts): Effect.Effect<void, never, Scope.Scope> =>
  Effect.gen(function*() {
    // Only a failed write of the chain or of a follower ends the node.
    const said = Effect.catchAll((failure: StorageFailure) =>
      Effect.logError("wallet transaction cannot be saved", { reason: failure.message })
    )
    yield* parts.mempool.listen(({ entry }) => said(follow(parts, entry)))
    yield* said(lookAtPool(parts))
  })
