/**
 * Sentences about a wallet's recovery words, for its log, RPC, the desk and `svcd-cli`, which does not load the wallet.
 */

/** For words that were never shown, in a file that was never copied. */
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
    return `the recovery words do not find ${addresses(lost, "paid ")}: more than 1,000 unpaid ones come before`
  }
  return beyond > 0
    ? `the recovery words do not find ${addresses(beyond)} that the wallet gave out, unless an earlier one is paid`
    : undefined
}

export const BEYOND_REMEDY =
  "keep a copy of the file (\"svcd-cli backup FILE\"), which has them all; after a recovery from the " +
  "words, -keypool makes the wallet look further"

export const fewLeftText = (left: number): string | undefined =>
  left > FEW_LEFT
    ? undefined
    : `${
      addresses(left)
    } of a type can still be given out: the recovery words do not look beyond 1,000 that were not paid`

export const FEW_REMEDY =
  "use addresses that were given out and not paid (listreceivedbyaddress 0 true), or set -keypool"

/** Why no more addresses are given out. `knows`: all blocks of the chain have been scanned. */
export const refusalText = (
  { knows, reach, type }: { readonly type: string; readonly reach: number; readonly knows: boolean }
): string =>
  (knows
    ? `the last ${reach} ${type} addresses were not paid, and the recovery words would not find a payment to another one. `
    : `in the blocks that were looked through so far, the last ${reach} ${type} addresses were not paid, and the recovery ` +
      "words might not find a payment to another one. Wait until svcd has looked through the chain (getwalletinfo). ") +
  "Use one that was given out before (listreceivedbyaddress 0 true), or set -keypool higher, even where the words " +
  "are used one day"
