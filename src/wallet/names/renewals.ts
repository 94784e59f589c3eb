import { expirationDepth, isExpired } from "../../consensus/expiry.ts"
import type { ConsensusParams } from "../../consensus/params.ts"
import { blocksToExpiry } from "../../names/NameEntry.ts"
import type { Bytes } from "../../protocol/bytes.ts"
import { type NameKey, nameKey } from "../../protocol/keys.ts"
import type { WalletDocument } from "../keys/WalletDocument.ts"
import type { WalletCoin } from "../ledger/WalletLedger.ts"
import type { WalletName } from "./WalletNames.ts"

/** A name is renewed when this part of its life remains: about two weeks of 250 days. */
const SHARE_OF_LIFE = 18
const LEAST_WINDOW = 3

/** In blocks before the end of the name's life. */
export const renewalWindow = (height: number, params: ConsensusParams): number =>
  Math.max(LEAST_WINDOW, Math.floor(expirationDepth(height, params) / SHARE_OF_LIFE))

/** `undefined` for plain coins and commitments. */
const nameIn = ({ name }: WalletCoin): Bytes | undefined =>
  name === undefined || name.operation.op === "name_new" ? undefined : name.operation.name

interface SetNames {
  readonly names: ReadonlySet<NameKey>
  readonly except: ReadonlySet<NameKey>
}

/** By version of the setting, an immutable object. */
const known = new WeakMap<WalletDocument["renewals"], SetNames>()

/** Computed once per setting. */
const setNamesOf = ({ renewals }: WalletDocument): SetNames => {
  const found = known.get(renewals)
  if (found !== undefined) return found
  const made = { names: new Set(renewals.names.map(nameKey)), except: new Set(renewals.except?.map(nameKey)) }
  known.set(renewals, made)
  return made
}

/** By its own setting, or by that of all names with its exceptions. */
export const isRenewed = (document: WalletDocument, name: Bytes): boolean => {
  const { except, names } = setNamesOf(document)
  const key = nameKey(name)
  return names.has(key) || document.renewals.all && !except.has(key)
}

export const ownSetting = (document: WalletDocument, name: Bytes): boolean | undefined => {
  const { except, names } = setNamesOf(document)
  const key = nameKey(name)
  return names.has(key) ? true : except.has(key) ? false : undefined
}

/** Owned names with renewal on that are near their end, not expired and not pending, the first to expire first. */
export const dueRenewals = (
  coins: ReadonlyArray<WalletCoin>,
  document: WalletDocument,
  tip: { readonly height: number; readonly params: ConsensusParams; readonly isPending: (name: NameKey) => boolean }
): ReadonlyArray<Bytes> => {
  const { height, isPending, params } = tip
  const due: Array<{ readonly name: Bytes; readonly made: number }> = []
  for (const coin of coins) {
    const name = nameIn(coin)
    if (name === undefined || coin.height === undefined || !isRenewable(coin, document)) continue
    if (!isRenewed(document, name) || isPending(nameKey(name))) continue
    const left = blocksToExpiry({ height: coin.height }, { tipHeight: height, params })
    // The update must be in the next block at the latest, while the name is still active.
    if (left > renewalWindow(height, params) || isExpired({ height: coin.height }, height + 1, params)) continue
    due.push({ name, made: coin.height })
  }
  return due.sort((a, b) => a.made - b.made).map(({ name }) => name)
}

/** Whether the wallet can renew the name of the coin: it signs itself, or a watching wallet asks for the signature. */
export const isRenewable = (
  { expired, own }: Pick<WalletCoin, "expired" | "own">,
  { privateKeys }: Pick<WalletDocument, "privateKeys">
): boolean => !expired && (own.spendable || !privateKeys)

/** Names in renewable coins, including unconfirmed ones. */
export const heldNames = (
  coins: ReadonlyArray<WalletCoin>,
  document: Pick<WalletDocument, "privateKeys">
): ReadonlySet<NameKey> =>
  new Set(
    coins.flatMap((coin) => {
      const name = nameIn(coin)
      return name === undefined || !isRenewable(coin, document) ? [] : [nameKey(name)]
    })
  )

/** The file has no empty list of exceptions. */
const withLists = (
  document: WalletDocument,
  { except, names }: { readonly except: ReadonlyArray<Bytes>; readonly names: ReadonlyArray<Bytes> }
): WalletDocument => {
  const { all } = document.renewals
  return { ...document, renewals: { all, names, ...except.length > 0 ? { except } : {} } }
}

/** The setting of all names then applies. */
export const withoutRenewal = (forgotten: ReadonlySet<NameKey>) => (document: WalletDocument): WalletDocument => {
  const { except = [], names } = document.renewals
  const set = setNamesOf(document)
  if (![...forgotten].some((key) => set.names.has(key) || set.except.has(key))) return document
  const kept = (list: ReadonlyArray<Bytes>) => list.filter((name) => !forgotten.has(nameKey(name)))
  return withLists(document, { names: kept(names), except: kept(except) })
}

/** Excludes a name wherever all names are renewed. */
export const withException = (name: Bytes) => (document: WalletDocument): WalletDocument => {
  const rest = withoutRenewal(new Set([nameKey(name)]))(document)
  const { except = [], names } = rest.renewals
  return withLists(rest, { names, except: [...except, name] })
}

/** Without `name`, sets all names and ends the exceptions. While all are on, a name that is off is an exception. */
export const withRenewal = (name: Bytes | undefined, on: boolean) => (document: WalletDocument): WalletDocument => {
  const { all, names } = document.renewals
  if (name === undefined) return { ...document, renewals: { all: on, names } }
  if (!on && all) return withException(name)(document)
  const rest = withoutRenewal(new Set([nameKey(name)]))(document)
  const { except = [], names: others } = rest.renewals
  return on ? withLists(rest, { names: [...others, name], except }) : rest
}

/** Reorg depth after which a lost name does not come back. */
const GONE_FOR = 100

/** Names with their own setting that have another owner or have expired, each with the height of that event. */
export const lostNames = (
  document: WalletDocument,
  last: ReadonlyArray<WalletName>,
  { height, params }: { readonly height: number; readonly params: ConsensusParams }
): ReadonlyArray<{ readonly name: Bytes; readonly since: number }> =>
  last.flatMap((each) => {
    if (ownSetting(document, each.name) === undefined) return []
    if (!each.mine) return [{ name: each.name, since: each.height }]
    return isExpired(each, height, params)
      ? [{ name: each.name, since: each.height + expirationDepth(height, params) }]
      : []
  })

/** Those that no reorg brings back. */
export const forgottenNames = (
  lost: ReadonlyArray<{ readonly name: Bytes; readonly since: number }>,
  height: number
): ReadonlySet<NameKey> => new Set(lost.flatMap(({ name, since }) => height - since < GONE_FOR ? [] : [nameKey(name)]))
