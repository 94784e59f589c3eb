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
import type { WalletCoin } from "../ledger/WalletLedger.ts"
import type { FeeChoice, Funded, PaymentRequest, WalletPayments } from "../payments/WalletPayments.ts"
import type { WalletParts } from "../WalletParts.ts"
import type { NameFailure, Registration } from "./WalletNames.ts"

export interface NameSettings {
  /** Maximum number of unconfirmed operations per name (upstream `-limitnamechains`). */
  readonly limitNameChains: number
  readonly addressType: AddressType
  /** Requested renewals sent at once; the rest follows after the next block, or a minute later. */
  readonly renewalsAtOnce: number
  /** Default for renewing names that `register` registers for the wallet itself. */
  readonly autoRenew: boolean
  /** Whether the wallet sends its transactions (upstream `-walletbroadcast`). */
  readonly broadcasts: boolean
  /** Cryptographically secure. */
  readonly randomBytes: (size: number) => Bytes
}

/** Name operations pay and get addresses like other callers. */
export interface WalletOfNames extends
  Pick<
    WalletParts,
    "askNames" | "chain" | "chainCoins" | "mempool" | "status" | "nameDb" | "privateKey" | "publish"
  >
{
  readonly index: Pick<WalletIndex, "complete">
  readonly file: Pick<WalletFile, "document" | "update">
  readonly ledger: Pick<Ledger, "balances" | "coins" | "get" | "names" | "tip" | "transactions">
  readonly vault: Pick<WalletVault, "encryption" | "renewalsUntil" | "signsRenewals" | "unlockedUntil">
  readonly keys: Pick<WalletKeys, "draftAddress" | "own" | "reserveAddress">
  readonly payments: Pick<WalletPayments, "feeRate" | "fund" | "pay">
}

export interface RenewalFailure {
  readonly reason: string
  /** Whether the wallet lacks coins. */
  readonly isFunds: boolean
}

export interface NameParts extends WalletOfNames, NameSettings {
  /** Requested renewals that failed for their own reasons, the least recently tried first. */
  readonly failedRenewals: Set<NameKey>
  /** Why the last attempt to renew a name failed, until one succeeds. */
  readonly lastFailures: Map<NameKey, RenewalFailure>
}

export const noteFailure = ({ lastFailures }: NameParts, name: Bytes, failure: NameFailure): void => {
  // The lock is a state of the wallet of its own.
  if (failure._tag === "KeysLocked" && failure.renewalsOnly === undefined) return
  lastFailures.set(nameKey(name), {
    reason: failure.message,
    isFunds: failure._tag === "FundsMissing" && failure.missing === undefined
  })
}

export const tell = ({ publish }: NameParts, registration: Registration): Effect.Effect<void> =>
  publish({ _tag: "RegistrationMoved", registration })

export const unavailable = (code: NameOperationRefused["code"], reason: string): NameOperationRefused =>
  new NameOperationRefused({ code, reason })

export const checkLengths = (name: Bytes, value?: Bytes): Effect.Effect<void, NameOperationRefused> => {
  if (name.length > MAX_NAME_LENGTH) return unavailable("too-long", "the name is too long")
  return value !== undefined && value.length > MAX_SPENDABLE_VALUE
    ? unavailable("too-long", "the value is too long")
    : Effect.void
}

/** Fails on a locked wallet before any change. */
export const ensureKeysOpen = ({ vault }: NameParts): Effect.Effect<void, KeysLocked> =>
  Effect.suspend(() => {
    if (vault.encryption() !== "locked") return Effect.void
    return new KeysLocked(vault.signsRenewals() ? { renewalsOnly: "" } : {})
  })

/** For a possible renewal: the vault decides when it sees the transaction. */
export const ensureRenewalsOpen = ({ vault }: NameParts): Effect.Effect<void, KeysLocked> =>
  Effect.suspend(() => vault.signsRenewals() ? Effect.void : new KeysLocked({}))

/** Expired or not. */
export const latestEntry = (
  { nameDb }: NameParts,
  name: Bytes
): Effect.Effect<NameEntry | undefined, StorageFailure> =>
  Effect.catchTag(nameDb.resolve(name), "NameNotFound", () => Effect.succeed(undefined))

/** As of `ahead` blocks after the tip. */
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

export const isBeingRegistered = ({ mempool }: NameParts, name: Bytes): boolean =>
  mempool.pending(nameKey(name)).some((entry) => entry.name?.script.operation.op === "name_firstupdate")

/**
 * Runs with the requested owner script, or an unused one of the wallet that stays unused if nothing is sent. Retries at
 * every block must not use up the addresses within reach of the seed phrase.
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

/** `undefined` if the wallet lacks the key of the script. */
export const saltOf = (
  { privateKey }: NameParts,
  script: Bytes,
  name: Bytes
): Effect.Effect<Bytes | undefined, KeysLocked> =>
  Effect.map(privateKey(script), (key) => key === undefined ? undefined : deterministicSalt(key, name))

export interface NamePayment {
  readonly operation: NameOperation
  readonly owner: Bytes
  readonly input: OutpointKey | undefined
  readonly fees: FeeChoice
  readonly sendCoins?: ReadonlyArray<TransactionOutput> | undefined
  /** Coins that other drafts spend. */
  readonly except?: ReadonlySet<OutpointKey>
}

export const feesOf = ({ conservative, feeRate, target }: FeeChoice): FeeChoice => ({
  ...(feeRate === undefined ? {} : { feeRate }),
  ...(target === undefined ? {} : { target }),
  ...(conservative === undefined ? {} : { conservative })
})

export const ownedCoin = ({ ledger }: NameParts, outpoint: OutpointKey): Effect.Effect<WalletCoin, FundsMissing> =>
  Effect.suspend(() => {
    const found = ledger.coins().find((coin) => coin.outpoint === outpoint)
    return found === undefined
      ? new FundsMissing({ needed: MIN_NAME_AMOUNT, available: 0, missing: outpoint })
      : Effect.succeed(found)
  })

/** Whether to wait for a block, because the mempool takes no more dependent payments. */
export const isQueueFull = (failure: NameFailure): boolean =>
  failure._tag === "InvalidWalletRequest" && failure.code === "long-chain"

/** Adds the locked amount and the additional outputs. */
const requestOf = ({ except, fees, input, operation, owner, sendCoins = [] }: NamePayment): PaymentRequest => ({
  ...feesOf(fees),
  ...(except === undefined ? {} : { except }),
  outputs: [{ value: MIN_NAME_AMOUNT, script: nameScript(operation, owner) }, ...sendCoins],
  version: NAME_TX_VERSION,
  ...(input === undefined ? {} : { inputs: [{ outpoint: input }] })
})

export const payName = (parts: NameParts, payment: NamePayment): Effect.Effect<Transaction, NameFailure> =>
  Effect.suspend(() => Effect.map(parts.payments.pay(requestOf(payment)), ({ transaction }) => transaction))

/** Stores and sends nothing. */
export const draftName = (parts: NameParts, payment: NamePayment): Effect.Effect<Funded, NameFailure> =>
  Effect.suspend(() => parts.payments.fund(requestOf(payment)))
