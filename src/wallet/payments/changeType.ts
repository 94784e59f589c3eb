import type { ConsensusParams } from "../../consensus/params.ts"
import { destinationOf } from "../../protocol/address.ts"
import { addressScript } from "../../protocol/nameOperation.ts"
import type { TransactionOutput } from "../../protocol/transaction.ts"
import { typeProblem } from "../keys/addresses.ts"
import type { KeyRing } from "../keys/KeyRing.ts"
import type { AddressType } from "../keys/WalletKeys.ts"
import type { WalletRules } from "../WalletRules.ts"

/** `undefined` for outputs that wallets do not make as change. */
const typeOf = ({ script }: TransactionOutput): AddressType | undefined => {
  const destination = destinationOf(addressScript(script))
  switch (destination?.kind) {
    case "pubkeyhash":
      return "legacy"
    case "scripthash":
      return "p2sh-segwit"
    case "witness":
      if (destination.version === 1 && destination.program.length === 32) return "bech32m"
      return destination.version === 0 && destination.program.length === 20 ? "bech32" : undefined
    default:
      return undefined
  }
}

/** In order of precedence. */
const TYPES: ReadonlyArray<AddressType> = ["bech32m", "bech32", "p2sh-segwit", "legacy"]

/**
 * The operator's type, else that of an output, so that change does not stand out. Upstream
 * `CWallet::TransactionChangeType`; unlike there, a wallet without keys of the default type falls back to one that it
 * has.
 */
export const changeTypeOf = (
  { params, ring, rules }: {
    readonly params: ConsensusParams
    readonly ring: Pick<KeyRing, "gives">
    readonly rules: Pick<WalletRules, "addressType" | "changeType">
  },
  outputs: ReadonlyArray<TransactionOutput>
): AddressType => {
  const { addressType, changeType } = rules
  if (changeType !== undefined) return changeType
  const usable = TYPES.filter((type) => ring.gives(type, true) && typeProblem(params, type) === undefined)
  if (addressType === "legacy") return usable.includes("legacy") ? "legacy" : usable[0] ?? "legacy"
  const paid = new Set(outputs.map(typeOf))
  const alike = usable.find((type) => paid.has(type))
  if (alike !== undefined) return alike
  return usable.find((type) => type === "bech32m" || type === "bech32" || type === addressType) ?? usable[0] ??
    addressType
}
