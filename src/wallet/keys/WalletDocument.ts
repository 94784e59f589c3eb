import * as Either from "effect/Either"
import * as Option from "effect/Option"
import * as ParseResult from "effect/ParseResult"
import * as Schema from "effect/Schema"
import { randomBytes } from "node:crypto"
import { CHECKSUM_MISMATCH, checksummed, checkText } from "../../base/checksum.ts"
import { escapeUnsafe } from "../../base/safeText.ts"
import { type Bytes, fromHex, toHex } from "../../protocol/bytes.ts"
import type { NetworkName } from "../../protocol/networks.ts"

/**
 * What wallet.json holds. A member that this version does not know is refused, not dropped: dropping it would lose it
 * with the next write. So whatever is added later comes with a new version, or is optional and known here.
 */

/** The format that is written. */
export const WALLET_VERSION = 1

/** Characters of a text: a descriptor, a comment, a key. */
export const LONGEST_TEXT = 10_000
/** Characters of a label. */
export const LONGEST_LABEL = 1_000
const LONGEST_TRANSACTION = 8_000_000
const MAX_ITEMS = 1_000_000
const MAX_IMPORTS = 100_000
const HARDENED = 0x80000000
/** Characters of a place that a message shows: the names of unknown members are whoever's wrote the file. */
const LONGEST_PLACE = 100
const ID_BYTES = 16

const Text = Schema.String.pipe(Schema.maxLength(LONGEST_TEXT))
const Label = Schema.String.pipe(Schema.maxLength(LONGEST_LABEL))
const Seconds = Schema.NonNegativeInt
const Index = Schema.Int.pipe(Schema.between(0, HARDENED))
const ListOf = <A, I>(item: Schema.Schema<A, I>, most = MAX_ITEMS) => Schema.Array(item).pipe(Schema.maxItems(most))
const optional = <A, I>(schema: Schema.Schema<A, I>) => Schema.optionalWith(schema, { exact: true })

/** A member that may be left out in the file, and is `undefined` then. */
const orUndefined = <A, I>(schema: Schema.Schema<A, I>) =>
  Schema.optionalToRequired(schema, Schema.UndefinedOr(Schema.typeSchema(schema)), {
    decode: Option.getOrUndefined,
    encode: Option.fromNullable
  })

/** Bytes as hexadecimal digits. */
const bytesOf = (most: number, exactly = false): Schema.Schema<Bytes, string> =>
  Schema.transformOrFail(
    Schema.String.pipe(exactly ? Schema.length(2 * most) : Schema.maxLength(2 * most)),
    Schema.Uint8ArrayFromSelf,
    {
      strict: true,
      decode: (text, _, ast) => {
        const bytes = fromHex(text)
        return bytes === undefined
          ? ParseResult.fail(new ParseResult.Type(ast, "", "not hexadecimal"))
          : ParseResult.succeed(bytes)
      },
      encode: (bytes) => ParseResult.succeed(toHex(bytes))
    }
  )

/** Digits of bytes, kept as they are. */
const hexOf = (most: number) => Schema.String.pipe(Schema.maxLength(2 * most), Schema.pattern(/^(?:[0-9a-f]{2})*$/))

const Txid = Schema.String.pipe(Schema.pattern(/^[0-9a-f]{64}$/))

/** A secret as it is, or sealed by the master key (`sealSecret`). */
export const Secret = Schema.Union(
  Schema.Struct({ plain: Text }),
  Schema.Struct({ sealed: hexOf(2 * LONGEST_TEXT) })
)
export type Secret = typeof Secret.Type

/** Bounds keep a file from asking for more memory or time than there is. */
export const MAX_SCRYPT_LOG_N = 20
export const MAX_SCRYPT_R = 16
export const MAX_SCRYPT_P = 16

/** How the passphrase opens the master key, which opens the rest. */
export const Encryption = Schema.Struct({
  kdf: Schema.Literal("scrypt"),
  /** Of N, to base 2. */
  logN: Schema.Int.pipe(Schema.between(10, MAX_SCRYPT_LOG_N)),
  r: Schema.Int.pipe(Schema.between(1, MAX_SCRYPT_R)),
  p: Schema.Int.pipe(Schema.between(1, MAX_SCRYPT_P)),
  salt: bytesOf(64),
  /** The master key, sealed by the key that the passphrase gives. */
  masterKey: bytesOf(256)
})
export type Encryption = typeof Encryption.Type

/** The purposes of BIP 44, 49, 84 and 86: legacy, p2sh-segwit, bech32 and bech32m. */
export const PURPOSES = [44, 49, 84, 86] as const
export type Purpose = typeof PURPOSES[number]

/** An account of the wallet's seed, at `m/purpose'/coin'/0'`. */
export const Account = Schema.Struct({
  purpose: Schema.Literal(...PURPOSES),
  /** Extended public key of the account. */
  xpub: Text,
  /** The first index that is neither given out nor used, outside and for change. */
  receive: Index,
  change: Index
})
export type Account = typeof Account.Type

/** A descriptor that was imported; its text without secrets and with checksum names it. */
export const Import = Schema.Struct({
  descriptor: Text,
  label: Label,
  timestamp: Seconds,
  /** Whether addresses are given out of it. */
  active: Schema.Boolean,
  internal: Schema.Boolean,
  /** First index and the one behind the last that were asked for; only where it has a range. */
  range: optional(Schema.Tuple(Index, Index)),
  /** The first index that is neither given out nor used. */
  next: Index,
  /** Which of its keys the secret has, counted from 0 in the order of the text. */
  privateKeys: ListOf(Schema.NonNegativeInt, 100),
  /** The descriptor with its private keys. */
  secret: optional(Secret)
})
export type Import = typeof Import.Type

export const LabelEntry = Schema.Struct({
  address: Text,
  label: Label,
  purpose: Schema.Literal("send", "receive")
})
export type LabelEntry = typeof LabelEntry.Type

/** A registration that is under way, or was: `Registration` with what was asked for. Bytes are in hexadecimal. */
export const RegistrationEntry = Schema.Struct({
  name: bytesOf(LONGEST_TEXT),
  rand: bytesOf(LONGEST_TEXT),
  value: orUndefined(bytesOf(LONGEST_TEXT)),
  newTxid: bytesOf(32, true),
  newVout: Schema.NonNegativeInt,
  firstUpdateTxid: orUndefined(bytesOf(32, true)),
  step: Schema.Literal("committed", "maturing", "revealed", "done", "failed"),
  note: Text,
  createdAt: Seconds,
  /** The script that is to own the name; one of the wallet's where it is left out. */
  destination: optional(bytesOf(LONGEST_TEXT)),
  feeRate: optional(Schema.NonNegativeInt),
  target: optional(Schema.NonNegativeInt),
  conservative: optional(Schema.Boolean)
})
export type RegistrationEntry = typeof RegistrationEntry.Type

/** A transaction that the chain alone would not give back: not confirmed, or with notes of the owner. */
export const TransactionEntry = Schema.Struct({
  /** As people see it. */
  txid: Txid,
  /** With witnesses. */
  hex: hexOf(LONGEST_TRANSACTION / 2),
  time: Seconds,
  order: Schema.NonNegativeInt,
  comment: optional(Text),
  commentTo: optional(Text),
  /** Txids as people see them. */
  replaces: optional(Txid),
  replacedBy: optional(Txid),
  abandoned: Schema.Boolean
})
export type TransactionEntry = typeof TransactionEntry.Type

export const LockedCoin = Schema.Struct({
  /** As people see it. */
  txid: Txid,
  vout: Schema.NonNegativeInt
})
export type LockedCoin = typeof LockedCoin.Type

export const WalletDocument = Schema.Struct({
  version: Schema.Literal(WALLET_VERSION),
  network: Schema.Literal("mainnet", "testnet", "regtest"),
  /** Random: tells whether an index of transactions was made for this wallet. Stays when it is restored or encrypted. */
  id: hexOf(ID_BYTES).pipe(Schema.length(2 * ID_BYTES)),
  /** Seconds since 1970. */
  createdAt: Seconds,
  /** Seconds since 1970: nothing of the wallet is in blocks from long before. 0 where nobody knows. */
  birthday: Seconds,
  /**
   * Keys came while no node ran (`svcd-wallet`): the chain has to be looked at again for them from this time on,
   * seconds since 1970. That their descriptor was looked for before says nothing: it may have been from a later time
   * on. Taken out when it is done.
   */
  rescanFrom: optional(Seconds),
  /** Whether it may hold private keys at all. */
  privateKeys: Schema.Boolean,
  /** Whether it was made without keys and still has none. */
  blank: Schema.Boolean,
  encryption: optional(Encryption),
  seed: optional(Schema.Struct({
    /** The words of BIP 39, where it was made of them. */
    mnemonic: optional(Secret),
    /** 64 bytes in hexadecimal: of BIP 39, its passphrase included. */
    seed: Secret,
    /** First four bytes of the HASH160 of the master key. */
    fingerprint: bytesOf(4, true),
    /** Whether a passphrase was chosen along with the words (BIP 39). Left out without words, and in files of 0.1.0. */
    mnemonicPassphrase: optional(Schema.Boolean)
  })),
  accounts: ListOf(Account, PURPOSES.length),
  imports: ListOf(Import, MAX_IMPORTS),
  labels: ListOf(LabelEntry),
  registrations: ListOf(RegistrationEntry),
  transactions: ListOf(TransactionEntry),
  /** Raw transactions in hexadecimal, in the order in which they came. */
  queue: ListOf(hexOf(LONGEST_TRANSACTION / 2)),
  lockedCoins: ListOf(LockedCoin),
  renewals: Schema.Struct({ all: Schema.Boolean, names: ListOf(bytesOf(LONGEST_TEXT)) })
})
export type WalletDocument = typeof WalletDocument.Type

/** A document without keys and without history. */
export const emptyDocument = (options: {
  readonly network: NetworkName
  /** Seconds since 1970. */
  readonly createdAt: number
  readonly birthday?: number
  readonly privateKeys?: boolean
}): WalletDocument => ({
  version: WALLET_VERSION,
  network: options.network,
  id: randomBytes(ID_BYTES).toString("hex"),
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

const decode = Schema.decodeUnknownEither(WalletDocument, { onExcessProperty: "error" })
const encode = Schema.encodeEither(WalletDocument)

/** Says where a document is wrong, and nothing of what stands there: it may be a secret. */
const placeOf = (error: ParseResult.ParseError): string => {
  const issue = ParseResult.ArrayFormatter.formatErrorSync(error)[0]
  if (issue === undefined || issue.path.length === 0) return "it is not the file of a wallet"
  const place = escapeUnsafe(issue.path.join(".").slice(0, LONGEST_PLACE))
  return issue._tag === "Unexpected" ? `${place} is unknown here` : `${place} is not what it should be`
}

const versionOf = (value: object): number | undefined =>
  "version" in value && typeof value.version === "number" && Number.isInteger(value.version) ? value.version : undefined

/**
 * Brings a document of an older format one version on: by the version that it starts from. Before the first that is
 * here there was none.
 */
export type Upgrades = ReadonlyMap<number, (document: object) => object>

const UPGRADES: Upgrades = new Map()

/** What a file held. */
export interface DecodedDocument {
  readonly document: WalletDocument
  /** The version that the file has; below `WALLET_VERSION` it should be kept before the new one is written. */
  readonly version: number
  /** Whether a checksum says that all of it is what was written. */
  readonly checksummed: boolean
}

const upgraded = (value: object, version: number, upgrades: Upgrades): object => {
  let document = value
  for (let at = version; at < WALLET_VERSION; at++) document = upgrades.get(at)?.(document) ?? document
  return document
}

/** What is wrong with a file that was changed by anything but svcd, and how the operator takes it all the same. */
const MISMATCH =
  `${CHECKSUM_MISMATCH}: it was damaged, or edited by hand. If you edited it and want it as it is now, ` +
  "delete its member \"checksum\" (the second line): keys and transactions are still compared with each other then"

/** Reads the text of a wallet.json; on the left stands what is wrong with it, without any of its content. */
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
  // Another program may have put the member elsewhere, and with it the rest.
  if (checksum === "wrong" || "checksum" in value) return Either.left(MISMATCH)
  const version = versionOf(value)
  if (version === undefined) return Either.left("it is not the file of a wallet: it has no version")
  if (version > WALLET_VERSION) {
    const known = `this one reads version ${WALLET_VERSION}`
    return Either.left(`it is of format version ${version}, made by a newer svcd, and ${known}: use the newer one`)
  }
  return Either.mapBoth(decode(upgraded(value, version, upgrades)), {
    onLeft: placeOf,
    onRight: (document) => ({ document, version, checksummed: checksum === "right" })
  })
}

/** What a change made of a document cannot be written. The message has the place, and nothing of what stands there. */
export class UnfitDocument extends Error {
  override readonly name = "UnfitDocument"
}

/** The text of wallet.json, with its checksum. Throws `UnfitDocument`. */
export const encodeDocument = (document: WalletDocument): string => {
  const encoded = encode(document)
  if (Either.isLeft(encoded)) throw new UnfitDocument(placeOf(encoded.left))
  return checksummed(`${JSON.stringify(encoded.right, undefined, 2)}\n`)
}
