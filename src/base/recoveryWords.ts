/**
 * Sentences about a wallet's seed phrase, for its log, RPC, the desk and `svcd-cli`, which does not load the wallet.
 */

/** For a seed phrase that was never shown, in a file that was never copied. */
export const UNSEEN_WORDS =
  "the seed phrase of the wallet was never shown: without it or a backup, a disk failure loses its coins and names. " +
  "Run \"svcd-wallet export --phrase\" or \"svcd-cli backup FILE\""

/** From this number on, few addresses are left. */
export const FEW_LEFT = 100

const addresses = (count: number, kind = ""): string => `${count} ${kind}${count === 1 ? "address" : "addresses"}`

export const beyondText = (
  { beyond, lost }: { readonly beyond: number; readonly lost: number }
): string | undefined => {
  if (lost > 0) {
    return `the seed phrase does not recover ${
      addresses(lost, "paid ")
    }, because more than 1,000 unpaid ones come before`
  }
  return beyond > 0
    ? `the seed phrase does not recover ${addresses(beyond)} that the wallet issued, unless an earlier one is paid`
    : undefined
}

export const BEYOND_REMEDY =
  "keep a copy of the file (\"svcd-cli backup FILE\"), which has them all; after a recovery from the " +
  "seed phrase, -keypool makes the wallet search further"

export const fewLeftText = (left: number): string | undefined =>
  left > FEW_LEFT
    ? undefined
    : `${addresses(left)} of a type can still be issued, because a recovery finds at most 1,000 unpaid ones in a row`

export const FEW_REMEDY = "reuse issued but unpaid addresses (listreceivedbyaddress 0 true), or set -keypool"

/** The reason why no more addresses are issued. `knows`: all blocks of the chain have been scanned. */
export const refusalText = (
  { knows, reach, type }: { readonly type: string; readonly reach: number; readonly knows: boolean }
): string =>
  (knows
    ? `the last ${reach} ${type} addresses were not paid, and the seed phrase would not recover a payment to another one. `
    : `in the blocks scanned so far, the last ${reach} ${type} addresses were not paid, and the seed phrase might not ` +
      "recover a payment to another one. Wait until svcd has scanned the chain (getwalletinfo). ") +
  "Reuse an issued one (listreceivedbyaddress 0 true), or set -keypool higher, also wherever you later restore the " +
  "seed phrase"
