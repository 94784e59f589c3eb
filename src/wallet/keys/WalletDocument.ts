import * as Either from "effect/Either"
import * as ParseResult from "effect/ParseResult"
import * as Schema from "effect/Schema"
import { CHECKSUM_MISMATCH, checksummed, checkText } from "../../base/checksum.ts"
import { randomHex } from "../../base/entropy.ts"
import { escapeUnsafe } from "../../base/safeText.ts"
import type { NetworkName } from "../../protocol/networks.ts"
import { hexBytes, hexOf, ListOf, LONGEST_TEXT, omittable, Seconds, ShortText } from "./documentParts.ts"
import {
  AcknowledgedEntry,
  MAX_ACKNOWLEDGED,
  MAX_RENEWALS,
  RegistrationEntry,
  RenewalEntry,
  withFailure
} from "./registrationEntry.ts"

/**
 * The content of wallet.json. Unknown members are refused, because the next write would lose them. So a new member
 * needs a new version, or must be optional and declared here.
 */

export const WALLET_VERSION = 1

/** Fits a `multi_a` of 999 extended keys with origins. */
export const LONGEST_DESCRIPTOR = 160_000
const MAX_KEYS = 5_000
export const LONGEST_LABEL = 1_000
const LONGEST_TRANSACTION = 8_000_000
const MAX_IMPORTS = 100_000
const HARDENED = 0x80000000
/** Bounded because the file's writer chose the names of unknown members. */
const LONGEST_PLACE = 100
const ID_BYTES = 16

const DescriptorText = Schema.String.pipe(Schema.maxLength(LONGEST_DESCRIPTOR))
const Label = Schema.String.pipe(Schema.maxLength(LONGEST_LABEL))
const Index = Schema.Int.pipe(Schema.between(0, HARDENED))
const Txid = Schema.String.pipe(Schema.pattern(/^[0-9a-f]{64}$/))

/** Plain text, or sealed with the master key (`sealSecret`). */
export const Secret = Schema.Union(
  Schema.Struct({ plain: DescriptorText }),
  Schema.Struct({ sealed: hexOf(2 * LONGEST_DESCRIPTOR) })
)
export type Secret = typeof Secret.Type

/** These bounds keep a file from requesting too much memory or time. */
export const MAX_SCRYPT_LOG_N = 20
export const MAX_SCRYPT_R = 16
export const MAX_SCRYPT_P = 16

/** The passphrase opens the master key, which opens the other secrets. */
export const Encryption = Schema.Struct({
  kdf: Schema.Literal("scrypt"),
  /** log2 of scrypt's N. */
  logN: Schema.Int.pipe(Schema.between(10, MAX_SCRYPT_LOG_N)),
  r: Schema.Int.pipe(Schema.between(1, MAX_SCRYPT_R)),
  p: Schema.Int.pipe(Schema.between(1, MAX_SCRYPT_P)),
  salt: hexBytes(64),
  /** Sealed with the key that scrypt derives from the passphrase. */
  masterKey: hexBytes(256)
})
export type Encryption = typeof Encryption.Type

/** BIP 44, 49, 84 and 86: legacy, p2sh-segwit, bech32 and bech32m. */
export const PURPOSES = [44, 49, 84, 86] as const
export type Purpose = typeof PURPOSES[number]

/** At `m/purpose'/coin'/0'`. */
export const Account = Schema.Struct({
  purpose: Schema.Literal(...PURPOSES),
  xpub: ShortText,
  /** The first receive and change index neither given out nor used. */
  receive: Index,
  change: Index
})
export type Account = typeof Account.Type

export const MOST_HARDENED_KEYS = 100_000

/** The keys of one position, from the first index of the range on: 33 bytes each. */
export const HardenedKeys = Schema.Struct({
  position: Schema.NonNegativeInt,
  keys: hexOf(33 * MOST_HARDENED_KEYS)
})
export type HardenedKeys = typeof HardenedKeys.Type

/** Identified by its text without private keys and with checksum. */
export const Import = Schema.Struct({
  descriptor: DescriptorText,
  label: Label,
  timestamp: Seconds,
  active: Schema.Boolean,
  internal: Schema.Boolean,
  /** The requested range, end excluded; only for a ranged descriptor. */
  range: omittable(Schema.Tuple(Index, Index)),
  /** The first index neither given out nor used. */
  next: Index,
  /** Positions of the keys with a private key, in the order of the text. */
  privateKeys: ListOf(Schema.NonNegativeInt, MAX_KEYS),
  secret: omittable(Secret),
  /** Only for hardened ranges. */
  hardened: omittable(ListOf(HardenedKeys, MAX_KEYS))
})
export type Import = typeof Import.Type

export const LabelEntry = Schema.Struct({
  address: ShortText,
  label: Label,
  purpose: Schema.Literal("send", "receive")
})
export type LabelEntry = typeof LabelEntry.Type

/** A transaction that the blocks cannot restore: unconfirmed, or with the owner's notes. */
export const TransactionEntry = Schema.Struct({
  /** Display order. */
  txid: Txid,
  hex: hexOf(LONGEST_TRANSACTION / 2),
  time: Seconds,
  order: Schema.NonNegativeInt,
  comment: omittable(ShortText),
  commentTo: omittable(ShortText),
  /** Display order. */
  replaces: omittable(Txid),
  replacedBy: omittable(Txid),
  abandoned: Schema.Boolean,
  /** Whether it is abandoned only until a coin that it depends on is back. */
  lost: omittable(Schema.Boolean)
})
export type TransactionEntry = typeof TransactionEntry.Type

export const LockedCoin = Schema.Struct({
  /** Display order. */
  txid: Txid,
  vout: Schema.NonNegativeInt
})
export type LockedCoin = typeof LockedCoin.Type

export const WalletDocument = Schema.Struct({
  version: Schema.Literal(WALLET_VERSION),
  network: Schema.Literal("mainnet", "testnet", "regtest"),
  /** Random; ties a transaction index to the wallet, and survives a restore or encryption. */
  id: hexOf(ID_BYTES).pipe(Schema.length(2 * ID_BYTES)),
  /** Seconds since 1970. */
  createdAt: Seconds,
  /** Seconds since 1970: no much earlier block has a transaction of the wallet. 0 if unknown. */
  birthday: Seconds,
  /**
   * Set if keys were added without a running node (`svcd-wallet`): the node must rescan from this time (seconds since
   * 1970), even if it scanned the same descriptor before, and then removes the member.
   */
  rescanFrom: omittable(Seconds),
  /** Whether the wallet may hold private keys. */
  privateKeys: Schema.Boolean,
  /** Made without keys, and still has none. */
  blank: Schema.Boolean,
  /** Whether payments avoid coins of addresses that were spent from. */
  avoidReuse: omittable(Schema.Boolean),
  /** Whether the owner has seen the seed phrase or has a copy of the file; missing in files of 0.1.0. */
  phraseKept: omittable(Schema.Boolean),
  /** When the owner last verified words of the seed phrase, seconds since 1970. */
  phraseChecked: omittable(Seconds),
  encryption: omittable(Encryption),
  seed: omittable(Schema.Struct({
    mnemonic: omittable(Secret),
    /** 64 bytes in hexadecimal, including the BIP 39 passphrase. */
    seed: Secret,
    /** First four bytes of the HASH160 of the master key. */
    fingerprint: hexBytes(4, true),
    /** Whether the BIP 39 mnemonic has a passphrase. Missing without a mnemonic, and in files of 0.1.0. */
    mnemonicPassphrase: omittable(Schema.Boolean)
  })),
  accounts: ListOf(Account, PURPOSES.length),
  imports: ListOf(Import, MAX_IMPORTS),
  labels: ListOf(LabelEntry),
  registrations: ListOf(RegistrationEntry),
  transactions: ListOf(TransactionEntry),
  /** Hexadecimal, in queueing order. */
  queue: ListOf(hexOf(LONGEST_TRANSACTION / 2)),
  lockedCoins: ListOf(LockedCoin),
  renewals: Schema.Struct({
    all: Schema.Boolean,
    names: ListOf(hexBytes(LONGEST_TEXT)),
    /** Names the owner excluded from renewal; missing in files of 0.1.0. */
    except: omittable(ListOf(hexBytes(LONGEST_TEXT)))
  }),
  requestedRenewals: omittable(ListOf(RenewalEntry, MAX_RENEWALS)),
  /** `name_acknowledge`. */
  acknowledged: omittable(ListOf(AcknowledgedEntry, MAX_ACKNOWLEDGED))
})
export type WalletDocument = typeof WalletDocument.Type

export const emptyDocument = (options: {
  readonly network: NetworkName
  /** Seconds since 1970. */
  readonly createdAt: number
  readonly birthday?: number
  readonly privateKeys?: boolean
}): WalletDocument => ({
  version: WALLET_VERSION,
  network: options.network,
  id: randomHex(ID_BYTES),
  createdAt: options.createdAt,
  birthday: options.birthday ?? options.createdAt,
  privateKeys: options.privateKeys ?? true,
  blank: true,
  accounts: [],
  imports: [],
  labels: [],
  registrations: [],
  transactions: [],
  queue: [],
  lockedCoins: [],
  renewals: { all: false, names: [] }
})

/** Earliest time of the keys and scripts, seconds since 1970. */
export const birthtimeOf = ({ accounts, birthday, imports }: WalletDocument): number | undefined => {
  const times = [...accounts.length === 0 ? [] : [birthday], ...imports.map(({ timestamp }) => timestamp)]
  return times.length === 0 ? undefined : times.reduce((least, time) => Math.min(least, time))
}

/** `undefined` without a seed phrase. */
export const isPhraseKept = ({ phraseKept, seed }: WalletDocument): boolean | undefined =>
  seed?.mnemonic === undefined ? undefined : phraseKept === true

export const withPhraseKept = (document: WalletDocument): WalletDocument => ({ ...document, phraseKept: true })

export const withPhraseChecked = (document: WalletDocument, now: number): WalletDocument => ({
  ...withPhraseKept(document),
  phraseChecked: now
})

export const withAvoidReuse = (document: WalletDocument, on: boolean): WalletDocument => {
  const { avoidReuse: _, ...rest } = document
  return on ? { ...rest, avoidReuse: true } : rest
}

const decode = Schema.decodeUnknownEither(WalletDocument, { onExcessProperty: "error" })
const encode = Schema.encodeEither(WalletDocument)

/** The place of an error, never the content, which may be a secret. */
const placeOf = (error: ParseResult.ParseError): string => {
  const issue = ParseResult.ArrayFormatter.formatErrorSync(error)[0]
  if (issue === undefined || issue.path.length === 0) return "it is not the file of a wallet"
  const place = escapeUnsafe(issue.path.join(".").slice(0, LONGEST_PLACE))
  return issue._tag === "Unexpected" ? `${place} is unknown here` : `${place} is invalid`
}

const versionOf = (value: object): number | undefined =>
  "version" in value && typeof value.version === "number" && Number.isInteger(value.version) ? value.version : undefined

/** Upgrades by one format version, keyed by the version they start from. */
export type Upgrades = ReadonlyMap<number, (document: object) => object>

const UPGRADES: Upgrades = new Map()

export interface DecodedDocument {
  readonly document: WalletDocument
  /** If below `WALLET_VERSION`, the caller keeps the old text before writing. */
  readonly version: number
  readonly checksummed: boolean
}

const upgraded = (value: object, version: number, upgrades: Upgrades): object => {
  let document = value
  for (let at = version; at < WALLET_VERSION; at++) document = upgrades.get(at)?.(document) ?? document
  return document
}

/** For a file that another program changed. */
const MISMATCH =
  `${CHECKSUM_MISMATCH}: it was damaged, or edited by hand. If you edited it and want it as it is now, ` +
  "delete its member \"checksum\" (the second line): keys and transactions are still compared with each other then"

/** The error has none of the content. */
export const decodeDocument = (
  whole: string,
  upgrades: Upgrades = UPGRADES
): Either.Either<DecodedDocument, string> => {
  if (whole.trim() === "") return Either.left("it is empty")
  const { checksum, text } = checkText(whole)
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch {
    return Either.left("it is not whole, or not JSON")
  }
  if (typeof value !== "object" || value === null) return Either.left("it is not the file of a wallet")
  // Another program may have moved the checksum and changed the rest.
  if (checksum === "wrong" || "checksum" in value) return Either.left(MISMATCH)
  const version = versionOf(value)
  if (version === undefined) return Either.left("it is not the file of a wallet: it has no version")
  if (version > WALLET_VERSION) {
    const known = `this one reads version ${WALLET_VERSION}`
    return Either.left(`it is of format version ${version}, made by a newer svcd, and ${known}: use the newer one`)
  }
  return Either.mapBoth(decode(upgraded(value, version, upgrades)), {
    onLeft: placeOf,
    onRight: (document) => ({
      document: { ...document, registrations: document.registrations.map(withFailure) },
      version,
      checksummed: checksum === "right"
    })
  })
}

/** A change produced an invalid document. The message names the place, not the content. */
export class UnfitDocument extends Error {
  override readonly name = "UnfitDocument"
}

/** With a checksum. Throws `UnfitDocument`. */
export const encodeDocument = (document: WalletDocument): string => {
  const encoded = encode(document)
  if (Either.isLeft(encoded)) throw new UnfitDocument(placeOf(encoded.left))
  return checksummed(`${JSON.stringify(encoded.right, undefined, 2)}\n`)
}
