import type { Ledger } from "./Ledger.ts"
import type { LedgerEntry } from "./LedgerEntry.ts"

/** Whether a transaction spends a block reward that a reorg orphaned: it can never be valid in another block. */
export const spendsOrphan = (ledger: Pick<Ledger, "coin">, { inputs }: LedgerEntry): boolean =>
  inputs.some((input) => {
    const coin = ledger.coin(input)
    return coin !== undefined && coin.coinbase && coin.height === undefined
  })

/**
 * The unconfirmed transactions that depend on disconnected block rewards. They are abandoned, so that the other coins
 * that they spend are free (upstream `CWallet::blockDisconnected`).
 */
export const dependentsOf = (
  ledger: Pick<Ledger, "withDescendants">,
  rewards: ReadonlyArray<LedgerEntry>
): ReadonlyArray<LedgerEntry> => {
  const found = new Set(rewards.flatMap(({ key }) => ledger.withDescendants(key)))
  return [...found].filter(({ coinbase, state }) =>
    !coinbase && (state.type === "pending" || state.type === "inactive")
  )
}
