import * as Effect from "effect/Effect"
import { fromHex, toHex } from "../../protocol/bytes.ts"
import { nameKey, type OutpointKey } from "../../protocol/keys.ts"
import { withoutSignatures } from "../../protocol/psbt/Psbt.ts"
import { decodeTransaction, outpointKey, type Transaction } from "../../protocol/transaction.ts"
import type { RenewalEntry } from "../keys/registrationEntry.ts"
import { draftName, type NameParts } from "./NameParts.ts"
import { preparedUpdate } from "./operations.ts"
import { RENEWAL_NOTES, requestedIn } from "./renewalVerdict.ts"
import type { NameFailure } from "./WalletNames.ts"

/**
 * Renewals that another machine signs. The unsigned transaction waits in wallet.json until it comes back, so that the
 * owner can fetch it days later and on another interface. Its coins are left to it by the drafts of other names. It is
 * made again only if one of its coins is spent.
 */

/** Each has a coin of its own. The rest follows as these come back. */
const MOST_DRAFTS = 100

/** `undefined` unless the renewal waits for a signature. */
export const unsignedIn = ({ unsigned }: Pick<RenewalEntry, "unsigned">): Transaction | undefined => {
  const bytes = unsigned === undefined ? undefined : fromHex(unsigned)
  return bytes === undefined ? undefined : decodeTransaction(bytes)
}

export const isSignedDraft = (entry: RenewalEntry, transaction: Transaction | undefined): boolean => {
  const draft = unsignedIn(entry)
  return draft !== undefined && transaction !== undefined &&
    withoutSignatures(transaction).txidKey === draft.txidKey
}

const coinsOf = (entry: RenewalEntry): ReadonlyArray<OutpointKey> =>
  unsignedIn(entry)?.inputs.map(({ prevout }) => outpointKey(prevout)) ?? []

/** Keeps the value and the owner's address, so that a draft that is never signed uses up no address. */
export const draftedRenewal = (
  parts: NameParts,
  entry: RenewalEntry
): Effect.Effect<Pick<RenewalEntry, "state" | "note" | "unsigned">, NameFailure> =>
  Effect.gen(function*() {
    const coins = coinsOf(entry)
    const unspent = new Set(parts.ledger.coins().map(({ outpoint }) => outpoint))
    const waits = { state: "waiting", note: RENEWAL_NOTES.unsigned } as const
    const { unsigned } = entry
    if (unsigned !== undefined && coins.every((coin) => unspent.has(coin))) return { ...waits, unsigned }
    const key = nameKey(entry.name)
    const others = requestedIn(parts.file.document).filter((each) =>
      each.unsigned !== undefined && nameKey(each.name) !== key
    )
    if (others.length >= MOST_DRAFTS) return { state: "waiting", note: RENEWAL_NOTES.manyUnsigned }
    const { coin, payment } = yield* preparedUpdate(parts, { name: entry.name, value: undefined }, Effect.void)
    const { transaction } = yield* draftName(parts, {
      ...payment,
      owner: coin.own.script,
      except: new Set(others.flatMap(coinsOf))
    })
    return { ...waits, unsigned: toHex(transaction.bytes) }
  })
