import { binaryString, type Bytes, compare } from "../../protocol/bytes.ts"
import { type NameKey, nameKey, type OutpointKey } from "../../protocol/keys.ts"
import type { WalletName } from "../names/WalletNames.ts"
import type { LedgerOutput } from "./LedgerEntry.ts"
import type { Balances, WalletCoin } from "./WalletLedger.ts"

/** Without coins that hold names. */
export const balancesOf = (
  coins: ReadonlyArray<WalletCoin>,
  isImmature: (coin: WalletCoin) => boolean
): Balances => {
  let [trusted, untrustedPending, immature] = [0, 0, 0]
  for (const coin of coins) {
    if (coin.name !== undefined) continue
    if (isImmature(coin)) immature += coin.output.value
    else if (coin.trusted) trusted += coin.output.value
    else untrustedPending += coin.output.value
  }
  return { trusted, untrustedPending, immature }
}

/** Scripts of spent outputs, as `binaryString`. */
export const reusedScripts = (
  outputs: Iterable<LedgerOutput>,
  isSpent: (outpoint: OutpointKey) => boolean
): ReadonlySet<string> => {
  const scripts = new Set<string>()
  for (const { outpoint, own } of outputs) if (isSpent(outpoint)) scripts.add(binaryString(own.script))
  return scripts
}

/** Sets the record of a name, of any owner. */
export type NamedOutput = Pick<LedgerOutput, "entry" | "vout" | "name">

/** Each name with its last confirmed operation, by the bytes of the name. */
export const lastOperations = (
  named: Iterable<NamedOutput>,
  isOwn: (script: Bytes) => boolean
): ReadonlyArray<WalletName> => {
  const latest = new Map<NameKey, WalletName & { readonly index: number }>()
  for (const { entry, name, vout } of named) {
    if (name === undefined || name.operation.op === "name_new" || entry.state.type !== "confirmed") continue
    const { height, index } = entry.state
    const key = nameKey(name.operation.name)
    const before = latest.get(key)
    if (before !== undefined && (before.height > height || (before.height === height && before.index > index))) {
      continue
    }
    latest.set(key, {
      name: name.operation.name,
      operation: name.operation,
      txid: entry.transaction.txid,
      vout,
      script: name.address,
      height,
      index,
      mine: isOwn(name.address)
    })
  }
  return [...latest.values()].map(({ index: _, ...name }) => name).sort((a, b) => compare(a.name, b.name))
}
