import * as Either from "effect/Either"
import { parseExtendedKey } from "../../protocol/extendedKey.ts"
import { type Network, networks } from "../../protocol/networks.ts"
import { type Descriptor, descriptorText, privatePositions } from "./descriptors.ts"
import { storedEnd } from "./hardenedKeys.ts"
import { accountPath, TYPE_OF } from "./hd.ts"
import { KeyChain } from "./KeyChain.ts"
import { type KeyExpression, KeyFault } from "./keyExpression.ts"
import { parseDescriptor } from "./parseDescriptor.ts"
import type { Account, Import, WalletDocument } from "./WalletDocument.ts"
import type { AddressType } from "./WalletKeys.ts"

/** Throws a `KeyFault` for invalid keys. */

const accountDescriptor = (type: AddressType, key: KeyExpression): Descriptor => {
  switch (type) {
    case "legacy":
      return { name: "pkh", key }
    case "p2sh-segwit":
      return { name: "sh", inner: { name: "wpkh", key } }
    case "bech32":
      return { name: "wpkh", key }
    case "bech32m":
      return { name: "tr", key, leaves: [] }
  }
}

const accountChain = (
  document: WalletDocument,
  account: Account,
  { change, gaps }: { readonly change: boolean; readonly gaps: Gaps }
): KeyChain => {
  const network = networks[document.network]
  const { purpose } = account
  const parsed = parseExtendedKey(network, account.xpub)
  if ("error" in parsed || parsed.extendedKey.kind === "private") {
    throw new KeyFault(`the key of account ${purpose}h is invalid`)
  }
  const descriptor = accountDescriptor(TYPE_OF[purpose], {
    kind: "extended",
    origin: document.seed && { fingerprint: document.seed.fingerprint, path: accountPath(network, purpose) },
    apostrophe: false,
    position: 0,
    key: parsed.extendedKey,
    path: [change ? 1 : 0],
    wildcard: "plain"
  })
  return new KeyChain({
    source: { kind: "account", purpose, change },
    descriptor,
    text: descriptorText(network, descriptor),
    change,
    active: true,
    privateKeys: new Set(document.privateKeys && document.seed !== undefined ? [0] : []),
    timestamp: document.birthday,
    start: 0,
    end: 0,
    next: change ? account.change : account.receive,
    lookahead: gaps.seed,
    keypool: gaps.keypool,
    reach: gaps.reach
  })
}

export const importChain = (network: Network, entry: Import, lookahead: number): KeyChain => {
  const parsed = parseDescriptor(network, entry.descriptor)
  if (Either.isLeft(parsed)) throw new KeyFault(`an imported descriptor is invalid: ${parsed.left.reason}`)
  const descriptor = parsed.right
  if (privatePositions(descriptor).length > 0) throw new KeyFault("an imported descriptor shows its private key")
  return new KeyChain({
    source: { kind: "import", text: entry.descriptor },
    descriptor,
    text: entry.descriptor,
    change: entry.internal,
    active: entry.active,
    privateKeys: new Set(entry.secret === undefined ? [] : entry.privateKeys),
    timestamp: entry.timestamp,
    start: entry.range?.[0] ?? 0,
    end: entry.range?.[1] ?? 0,
    next: entry.next,
    lookahead,
    hardened: entry.hardened
  })
}

export interface Gaps {
  /** The gap of imports, and the size of the keypool. */
  readonly keypool: number
  readonly seed: number
  /** Unpaid addresses of the seed's accounts that may be given out in a row. */
  readonly reach: number
}

export const documentChains = (document: WalletDocument, gaps: Gaps): ReadonlyArray<KeyChain> => [
  ...document.accounts.flatMap((account) =>
    [false, true].map((change) => accountChain(document, account, { change, gaps }))
  ),
  ...document.imports.map((entry) => importChain(networks[document.network], entry, gaps.keypool))
]

export const withProgress = (entry: Import, { hardened, use }: KeyChain): Import => {
  const next = Math.max(entry.next, use.next)
  const more = hardened === undefined || hardened.end <= storedEnd(entry) ? {} : { hardened: hardened.keys() }
  return next === entry.next && !("hardened" in more) ? entry : { ...entry, next, ...more }
}
