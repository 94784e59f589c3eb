import * as Effect from "effect/Effect"
import { displayHash, fromBinaryString } from "../../protocol/bytes.ts"
import { type OutpointKey, shownTxid, txidKeyOf } from "../../protocol/keys.ts"
import { outpoint, outpointKey, prevoutIndex, prevoutTxid } from "../../protocol/transaction.ts"
import type { StorageFailure } from "../../storage/errors.ts"
import { InvalidWalletRequest } from "../errors.ts"
import type { LockedCoin } from "../keys/WalletDocument.ts"
import { update, type WalletParts } from "../WalletParts.ts"
import type { WalletCoin, WalletLedger } from "./WalletLedger.ts"

const lockedCoin = (key: OutpointKey): LockedCoin => {
  const prevout = fromBinaryString(key)
  return { txid: displayHash(prevoutTxid(prevout)), vout: prevoutIndex(prevout) }
}

export const keyOfLocked = ({ txid, vout }: LockedCoin): OutpointKey | undefined => {
  const key = txidKeyOf(txid)
  return key === undefined ? undefined : outpointKey(outpoint(fromBinaryString(key), vout))
}

export const coinsOf = ({ ledger, locked }: Pick<WalletParts, "ledger" | "locked">): ReadonlyArray<WalletCoin> =>
  locked.size === 0
    ? ledger.coins()
    : ledger.coins().map((coin) => locked.has(coin.outpoint) ? { ...coin, locked: true } : coin)

const makeLockCoins = (parts: WalletParts): WalletLedger["lockCoins"] => (outpoints, lock) =>
  Effect.suspend(() => {
    const touched = new Set(outpoints)
    const isTouched = (coin: LockedCoin): boolean => {
      const key = keyOfLocked(coin)
      return key !== undefined && touched.has(key)
    }
    const kept = parts.file.document.lockedCoins.some(isTouched)
    const change = lock === "lock-persistently" || (lock === "unlock" && kept)
      ? update(parts, (document) => {
        const others = document.lockedCoins.filter((coin) => !isTouched(coin))
        return { ...document, lockedCoins: lock === "unlock" ? others : [...others, ...outpoints.map(lockedCoin)] }
      })
      : Effect.void
    return Effect.map(change, () => {
      for (const each of outpoints) {
        if (lock === "unlock") parts.locked.delete(each)
        else parts.locked.add(each)
      }
    })
  })

const makeRescan = ({ index, ledger }: WalletParts): WalletLedger["rescan"] => (from, to) =>
  Effect.suspend(() => {
    const { height } = ledger.tip
    const refuse = (reason: string) => new InvalidWalletRequest({ code: "range", reason })
    if (!Number.isInteger(from) || from < 0 || from > Math.max(0, height)) return refuse("Invalid start_height")
    if (to !== undefined && (!Number.isInteger(to) || to < 0 || to > height)) return refuse("Invalid stop_height")
    if (to !== undefined && to < from) return refuse("stop_height must be greater than start_height")
    return index.rescan(from, to)
  })

export const makeLedger = (parts: WalletParts): WalletLedger => {
  const { index, ledger } = parts
  return {
    balances: Effect.sync(() => ledger.balances()),
    cleanBalances: Effect.sync(() => ledger.balances({ clean: true })),
    isReused: ({ own }) => ledger.isReused(own.script),
    coins: () => coinsOf(parts),
    transactions: () => ledger.transactions(),
    transaction: (txid) => ledger.get(txid),
    conflictsOf: (txid) => ledger.conflictsOf(txid),
    lockCoins: makeLockCoins(parts),
    lastBlock: () => ledger.tip,
    scanning: index.scanning,
    abortRescan: index.abortRescan,
    insert: index.insert,
    concerns: (transaction) => ledger.concerns(transaction),
    remove: (txid) =>
      Effect.suspend((): Effect.Effect<void, InvalidWalletRequest | StorageFailure> => {
        const entry = ledger.entry(txid)
        if (entry !== undefined) return index.remove(entry.transaction)
        const reason = `Transaction ${shownTxid(txid)} does not belong to this wallet`
        return new InvalidWalletRequest({ code: "not-eligible", reason })
      }),
    rescan: makeRescan(parts)
  }
}
