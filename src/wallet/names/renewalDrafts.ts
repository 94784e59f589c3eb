import * as Effect from "effect/Effect"
import { fromHex, toHex } from "../../protocol/bytes.ts"
import { nameKey, type OutpointKey } from "../../protocol/keys.ts"
import { NAME_TX_VERSION, parseNameScript } from "../../protocol/nameOperation.ts"
import { withoutSignatures } from "../../protocol/psbt/Psbt.ts"
import {
  decodeTransaction,
  outpointKey,
  totalValue,
  type Transaction,
  type TransactionOutput
} from "../../protocol/transaction.ts"
import type { RenewalEntry } from "../keys/registrationEntry.ts"
import { draftName, type NameParts } from "./NameParts.ts"
import { preparedUpdate } from "./operations.ts"
import { RENEWAL_NOTES, requestedIn } from "./renewalVerdict.ts"
import type { NameFailure } from "./WalletNames.ts"

/**
 * Renewals that another machine signs. The unsigned transaction waits in wallet.json until it comes back, so that the
 * owner can fetch it days later and on another interface. Its coins are left to it by the drafts of other names. It is
 * made again only if one of its coins is spent, or if its fee has become far too low or too high. An older one stays
 * valid, and the wallet recognises its block by the name.
 */

/** Each has a coin of its own. The rest follows as these come back. */
const MOST_DRAFTS = 100

/** Factors of the draft's fee. Between them, the owner's file stays as it is while fee rates move. */
const STALE_BELOW = 1.25
const STALE_ABOVE = 0.5

/** Smallest units, for the same transaction. */
export const isStaleFee = ({ paid, today }: { readonly paid: number; readonly today: number }): boolean =>
  today > paid * STALE_BELOW || today < paid * STALE_ABOVE

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

const spentBy = ({ inputs }: Transaction): ReadonlyArray<OutpointKey> =>
  inputs.map(({ prevout }) => outpointKey(prevout))

const coinsOf = (entry: RenewalEntry): ReadonlyArray<OutpointKey> => {
  const draft = unsignedIn(entry)
  return draft === undefined ? [] : spentBy(draft)
}

/** What the same inputs and outputs would pay now; `undefined` if they cannot pay that. */
const feeToday = (
  { payments }: NameParts,
  { draft, except }: { readonly draft: Transaction; readonly except: ReadonlySet<OutpointKey> }
): Effect.Effect<number | undefined> => {
  const isName = ({ script }: TransactionOutput): boolean => parseNameScript(script) !== undefined
  const change = draft.outputs.find((output) => !isName(output))
  const funded = payments.fund({
    outputs: draft.outputs.filter(isName),
    version: NAME_TX_VERSION,
    inputs: spentBy(draft).map((outpoint) => ({ outpoint })),
    except,
    ...(change === undefined ? {} : { changeScript: change.script })
  })
  return Effect.match(funded, { onSuccess: ({ fee }) => fee, onFailure: () => undefined })
}

/** Whether all coins of the draft are there, and its fee is about what it would be now. */
const isCurrent = (
  parts: NameParts,
  asked: { readonly draft: Transaction; readonly except: ReadonlySet<OutpointKey> }
): Effect.Effect<boolean> => {
  const { draft } = asked
  const values = new Map(parts.ledger.coins().map(({ outpoint, output }) => [outpoint, output.value]))
  const spent = spentBy(draft).map((coin) => values.get(coin))
  if (spent.includes(undefined)) return Effect.succeed(false)
  const paid = spent.reduce<number>((sum, value = 0) => sum + value, 0) - totalValue(draft.outputs)
  return Effect.map(feeToday(parts, asked), (today) => today === undefined || !isStaleFee({ paid, today }))
}

/** Keeps the value and the owner's address, so that a draft that is never signed uses up no address. */
export const draftedRenewal = (
  parts: NameParts,
  entry: RenewalEntry
): Effect.Effect<Pick<RenewalEntry, "state" | "note" | "unsigned">, NameFailure> =>
  Effect.gen(function*() {
    const key = nameKey(entry.name)
    const others = requestedIn(parts.file.document).filter((each) =>
      each.unsigned !== undefined && nameKey(each.name) !== key
    )
    const except = new Set(others.flatMap(coinsOf))
    const waits = { state: "waiting", note: RENEWAL_NOTES.unsigned } as const
    const { unsigned } = entry
    const draft = unsignedIn(entry)
    if (draft !== undefined && unsigned !== undefined && (yield* isCurrent(parts, { draft, except }))) {
      return { ...waits, unsigned }
    }
    if (others.length >= MOST_DRAFTS) return { state: "waiting", note: RENEWAL_NOTES.manyUnsigned }
    const { coin, payment } = yield* preparedUpdate(parts, { name: entry.name, value: undefined }, Effect.void)
    const { transaction } = yield* draftName(parts, { ...payment, owner: coin.own.script, except })
    return { ...waits, unsigned: toHex(transaction.bytes) }
  })
