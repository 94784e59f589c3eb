import * as Effect from "effect/Effect"
import { isExpired } from "../../consensus/expiry.ts"
import { MAX_NAME_LENGTH, MAX_SPENDABLE_VALUE, MIN_NAME_AMOUNT } from "../../consensus/names.ts"
import type { NameEntry } from "../../names/NameDb.ts"
import type { Bytes } from "../../protocol/bytes.ts"
import { type NameKey, nameKey, type OutpointKey } from "../../protocol/keys.ts"
import { NAME_TX_VERSION, type NameOperation, nameScript } from "../../protocol/nameOperation.ts"
import type { Transaction, TransactionOutput } from "../../protocol/transaction.ts"
import type { StorageFailure } from "../../storage/errors.ts"
import { FundsMissing, KeysLocked, NameOperationRefused } from "../errors.ts"
import { deterministicSalt } from "../keys/salt.ts"
import type { WalletVault } from "../keys/Vault.ts"
import type { WalletFile } from "../keys/WalletFile.ts"
import type { AddressType, WalletKeys } from "../keys/WalletKeys.ts"
import type { Ledger } from "../ledger/Ledger.ts"
import type { WalletIndex } from "../ledger/WalletIndex.ts"
import type { FeeChoice, WalletPayments } from "../payments/WalletPayments.ts"
import type { WalletParts } from "../WalletParts.ts"
import type { NameFailure, Registration } from "./WalletNames.ts"

/** How a wallet makes its name operations. */
export interface NameSettings {
  /** Maximum number of unconfirmed operations on one name (upstream `-limitnamechains`). */
  readonly limitNameChains: number
  /** Type of the addresses that own the names. */
  readonly addressType: AddressType
  /** Requested renewals that are made at one time: the others follow after the next block, or a minute later. */
  readonly renewalsAtOnce: number
  /** Whether names that `register` registers for the wallet itself are renewed, unless the caller says otherwise. */
  readonly autoRenew: boolean
  /** Cryptographically random bytes. */
  readonly randomBytes: (size: number) => Bytes
}

/** The parts and interfaces of a wallet that its name operations use: they pay and get addresses like other callers. */
export interface WalletOfNames extends
  Pick<
    WalletParts,
    "askNames" | "chain" | "chainCoins" | "mempool" | "status" | "nameDb" | "privateKey" | "publish"
  >
{
  readonly index: Pick<WalletIndex, "complete">
  readonly file: Pick<WalletFile, "document" | "update">
  readonly ledger: Pick<Ledger, "coins" | "get" | "names" | "tip" | "transactions">
  readonly vault: Pick<WalletVault, "encryption" | "signsRenewals">
  readonly keys: Pick<WalletKeys, "own" | "reserveAddress">
  readonly payments: Pick<WalletPayments, "fund" | "pay">
}

/** The same with the settings and the state of the name operations. */
export interface NameParts extends WalletOfNames, NameSettings {
  /** Requested renewals that failed for a reason of their own, the one that was tried longest ago first. */
  readonly failedRenewals: Set<NameKey>
}

/** Publishes the change of a registration. */
export const tell = ({ publish }: NameParts, registration: Registration): Effect.Effect<void> =>
  publish({ _tag: "RegistrationMoved", registration })

export const unavailable = (code: NameOperationRefused["code"], reason: string): NameOperationRefused =>
  new NameOperationRefused({ code, reason })

/** Fails for names and values that are too long. */
export const checkLengths = (name: Bytes, value?: Bytes): Effect.Effect<void, NameOperationRefused> => {
  if (name.length > MAX_NAME_LENGTH) return unavailable("too-long", "the name is too long")
  return value !== undefined && value.length > MAX_SPENDABLE_VALUE
    ? unavailable("too-long", "the value is too long")
    : Effect.void
}

/** Fails on a locked wallet, before anything is taken from it. */
export const ensureKeysOpen = ({ vault }: NameParts): Effect.Effect<void, KeysLocked> =>
  Effect.suspend(() => {
    if (vault.encryption() !== "locked") return Effect.void
    return new KeysLocked(vault.signsRenewals() ? { renewalsOnly: "" } : {})
  })

/** The same for an operation that may be a renewal: the vault decides when it sees the transaction. */
export const ensureRenewalsOpen = ({ vault }: NameParts): Effect.Effect<void, KeysLocked> =>
  Effect.suspend(() => vault.signsRenewals() ? Effect.void : new KeysLocked({}))

/** The latest record of a name, expired or not. */
export const latestEntry = (
  { nameDb }: NameParts,
  name: Bytes
): Effect.Effect<NameEntry | undefined, StorageFailure> =>
  Effect.catchTag(nameDb.resolve(name), "NameNotFound", () => Effect.succeed(undefined))

/** The record of a registered name, as of `ahead` blocks after the tip. */
export const activeRecord = (
  parts: NameParts,
  name: Bytes,
  ahead: number
): Effect.Effect<NameEntry | undefined, StorageFailure> =>
  Effect.gen(function*() {
    const record = yield* latestEntry(parts, name)
    const { height } = yield* parts.chain.tip
    const { params } = parts.chain
    return record === undefined || isExpired(record, height + ahead, params) ? undefined : record
  })

/** Whether the mempool has a registration of a name. */
export const isBeingRegistered = ({ mempool }: NameParts, name: Bytes): boolean =>
  mempool.pending(nameKey(name)).some((entry) => entry.name?.script.operation.op === "name_firstupdate")

/**
 * Runs an operation with the script of the name's owner: the requested one, or an unused one of the wallet, which stays
 * unused if the operation is not sent. Retries at every block must not use up the addresses that the words find.
 */
export const withOwner = <A>(
  { addressType, keys }: NameParts,
  asked: Bytes | undefined,
  use: (owner: Bytes) => Effect.Effect<A, NameFailure>
): Effect.Effect<A, NameFailure> =>
  asked !== undefined
    ? use(asked)
    : Effect.flatMap(keys.reserveAddress(addressType), ({ own, release }) =>
      Effect.onError(use(own.script), () => Effect.sync(release)))

/** The salt from the key of a script and a name; `undefined` if the wallet does not have the key. */
export const saltOf = (
  { privateKey }: NameParts,
  script: Bytes,
  name: Bytes
): Effect.Effect<Bytes | undefined, KeysLocked> =>
  Effect.map(privateKey(script), (key) => key === undefined ? undefined : deterministicSalt(key, name))

/** A name operation to fund and send. */
export interface NamePayment {
  readonly operation: NameOperation
  readonly owner: Bytes
  /** The coin of the name or of its commitment, by `outpointKey`. */
  readonly input: OutpointKey | undefined
  readonly fees: FeeChoice
  readonly sendCoins?: ReadonlyArray<TransactionOutput> | undefined
}

/** The fee options of a request. */
export const feesOf = ({ conservative, feeRate, target }: FeeChoice): FeeChoice => ({
  ...(feeRate === undefined ? {} : { feeRate }),
  ...(target === undefined ? {} : { target }),
  ...(conservative === undefined ? {} : { conservative })
})

/** Fails if the wallet does not have a coin. */
export const ensureOwned = ({ ledger }: NameParts, outpoint: OutpointKey): Effect.Effect<void, FundsMissing> =>
  Effect.suspend(() =>
    ledger.coins().some((coin) => coin.outpoint === outpoint)
      ? Effect.void
      : new FundsMissing({ needed: MIN_NAME_AMOUNT, available: 0, missing: outpoint })
  )

/** Whether an operation has to wait for a block, because the mempool takes no more payments that depend on each other. */
export const isQueueFull = (failure: NameFailure): boolean =>
  failure._tag === "InvalidWalletRequest" && failure.code === "long-chain"

/** Sends a name operation with its locked amount and the additional outputs. */
export const payName = (parts: NameParts, payment: NamePayment): Effect.Effect<Transaction, NameFailure> =>
  Effect.suspend(() => {
    const { fees, input, operation, owner, sendCoins = [] } = payment
    const paid = parts.payments.pay({
      ...feesOf(fees),
      outputs: [{ value: MIN_NAME_AMOUNT, script: nameScript(operation, owner) }, ...sendCoins],
      version: NAME_TX_VERSION,
      ...(input === undefined ? {} : { inputs: [{ outpoint: input }] })
    })
    return Effect.map(paid, ({ transaction }) => transaction)
  })
