import * as Effect from "effect/Effect"
import type { Wallet } from "../../../wallet/Wallet.ts"
import { GETWALLETINFO } from "../../contract/wallet/walletInfo.ts"
import type { Method } from "../../method/methodTable.ts"
import { SHOWN_WALLET_VERSION, type walletMethod } from "./walletContext.ts"
import { lastBlockJson } from "./walletTransactions.ts"

/** reference/rpc.md 3.9. */

/** The earliest time of keys and transactions; `undefined` if unknown. */
const birthtimeOf = ({ keys, ledger }: Wallet): number | undefined => {
  const oldest = keys.birthtime()
  if (oldest === undefined || oldest === 0) return undefined
  return ledger.transactions().reduce((least, { time }) => Math.min(least, time), oldest)
}

const flagsOf = (wallet: Wallet): ReadonlyArray<string> => [
  "last_hardened_xpub_cached",
  ...(wallet.keys.hasPrivateKeys ? [] : ["disable_private_keys"]),
  ...(wallet.keys.isBlank() ? ["blank"] : []),
  "descriptor_wallet",
  ...(wallet.avoidsReuse() ? ["avoid_reuse"] : [])
]

const scanningJson = (wallet: Wallet): false | { readonly duration: number; readonly progress: number } => {
  const scan = wallet.ledger.scanning()
  return scan === undefined ? false : { duration: Math.floor(scan.duration), progress: scan.progress }
}

export const getwalletinfoMethod = (make: ReturnType<typeof walletMethod>): Method =>
  make(GETWALLETINFO, (_, wallet) =>
    Effect.map(wallet.keys.words, (words) => {
      const { change, receive } = wallet.keys.keypool()
      return {
        walletname: wallet.name,
        walletversion: SHOWN_WALLET_VERSION,
        format: "json",
        txcount: wallet.ledger.transactions().length,
        keypoolsize: receive,
        keypoolsize_hd_internal: change,
        unlocked_until: wallet.vault.encryption() === "none" ? undefined : wallet.vault.unlockedUntil(),
        renewals_only: wallet.vault.encryption() === "locked" && wallet.vault.signsRenewals() ? true : undefined,
        renewals_until: wallet.vault.renewalsUntil() || undefined,
        private_keys_enabled: wallet.keys.hasPrivateKeys,
        avoid_reuse: wallet.avoidsReuse(),
        scanning: scanningJson(wallet),
        descriptors: true,
        external_signer: false,
        blank: wallet.keys.isBlank(),
        phrase_kept: wallet.recovery.isPhraseKept(),
        phrase_checked: wallet.recovery.phraseChecked(),
        addresses_left: words?.left,
        addresses_beyond: words?.beyond,
        addresses_lost: words?.lost,
        birthtime: birthtimeOf(wallet),
        flags: flagsOf(wallet),
        lastprocessedblock: lastBlockJson(wallet)
      }
    }))
