import * as Effect from "effect/Effect"
import { isExpired } from "../../consensus/expiry.ts"
import { MAX_NAME_LENGTH, MIN_NAME_AMOUNT } from "../../consensus/names.ts"
import type { NameDb, NameEntry } from "../../names/NameDb.ts"
import { binaryString, type Bytes } from "../../protocol/bytes.ts"
import { NAME_TX_VERSION, type NameOperation, nameScript } from "../../protocol/nameOperation.ts"
import type { Transaction, TransactionOutput } from "../../protocol/transaction.ts"
import type { StorageFailure } from "../../storage/errors.ts"
import { FundsMissing, type InvalidWalletRequest, KeysLocked, NameOperationRefused } from "../errors.ts"
import { deterministicSalt } from "../keys/salt.ts"
import type { AddressType, FeeChoice, NameFailure, Registration } from "../Wallet.ts"
import type { WalletCore } from "../WalletCore.ts"

/** The shared state of a wallet's name operations. */
export interface NamesContext {
  readonly core: WalletCore
  readonly names: typeof NameDb.Service
  /** Maximum number of unconfirmed operations on one name (upstream `-limitnamechains`). */
  readonly limitNameChains: number
  /** Type of the addresses that own the names. */
  readonly addressType: AddressType
  /** Cryptographically random bytes. */
  readonly randomBytes: (size: number) => Bytes
  /** An address that was taken for an operation which was not sent. */
  readonly spare: { script: Bytes | undefined }
  /** Publishes the change of a registration. */
  readonly tell: (registration: Registration) => Effect.Effect<void>
}

/** Maximum length of a value to send: the output of a longer one could not be spent (reference/rpc.md 5.1). */
const MAX_VALUE_LENGTH_SENT = 520

export const unavailable = (code: NameOperationRefused["code"], reason: string): NameOperationRefused =>
  new NameOperationRefused({ code, reason })

/** Fails for names and values that are too long. */
export const checkLengths = (name: Bytes, value?: Bytes): Effect.Effect<void, NameOperationRefused> => {
  if (name.length > MAX_NAME_LENGTH) return unavailable("too-long", "the name is too long")
  return value !== undefined && value.length > MAX_VALUE_LENGTH_SENT
    ? unavailable("too-long", "the value is too long")
    : Effect.void
}

/** Fails on a locked wallet, before anything is taken from it. */
export const ensureKeysOpen = ({ core }: NamesContext): Effect.Effect<void, KeysLocked> =>
  Effect.suspend(() => core.encryption() === "locked" ? new KeysLocked() : Effect.void)

/** The latest record of a name, expired or not. */
export const latestEntry = (
  { names }: NamesContext,
  name: Bytes
): Effect.Effect<NameEntry | undefined, StorageFailure> =>
  Effect.catchTag(names.resolve(name), "NameNotFound", () => Effect.succeed(undefined))

/** The record of a registered name, as of `ahead` blocks after the tip. */
export const activeRecord = (
  context: NamesContext,
  name: Bytes,
  ahead: number
): Effect.Effect<NameEntry | undefined, StorageFailure> =>
  Effect.gen(function*() {
    const record = yield* latestEntry(context, name)
    const { height } = yield* context.core.chain.tip
    const { params } = context.core.chain
    return record === undefined || isExpired(record.height, height + ahead, params) ? undefined : record
  })

/** Whether the mempool has a registration of a name. */
export const isBeingRegistered = ({ core }: NamesContext, name: Bytes): boolean =>
  core.mempool.pending(binaryString(name)).some((entry) => entry.name?.script.operation.op === "name_firstupdate")

/** The script of the name's owner: the requested one, or a new one of the wallet. */
export const ownerScript = (
  { addressType, core, spare }: NamesContext,
  asked: Bytes | undefined
): Effect.Effect<Bytes, InvalidWalletRequest | StorageFailure> =>
  Effect.suspend(() => {
    const script = asked ?? spare.script
    if (script === undefined) {
      return Effect.map(core.newAddress({ type: addressType, label: "" }), (own) => own.script)
    }
    if (asked === undefined) spare.script = undefined
    return Effect.succeed(script)
  })

/** The mempool's reject reason for a known commitment (reference/protocol.md 5.6, M1). */
const COMMITMENT_KNOWN = "txn-mempool-name-error"

/**
 * Runs an operation with the script of the name's owner. If it fails, for instance for lack of funds, the next
 * operation uses the same wallet address: retries at every block must not exhaust the keypool. After the reject reason
 * for a known commitment it does not, because the same address produces the same commitment and the same refusal.
 */
export const withOwner = <A>(
  context: NamesContext,
  asked: Bytes | undefined,
  use: (owner: Bytes) => Effect.Effect<A, NameFailure>
): Effect.Effect<A, NameFailure> =>
  Effect.flatMap(ownerScript(context, asked), (owner) =>
    Effect.tapError(use(owner), (failure) =>
      Effect.sync(() => {
        const repeats = failure._tag === "TransactionRejected" && failure.reason === COMMITMENT_KNOWN
        if (asked === undefined && !repeats) context.spare.script = owner
      })))

/** The salt from the key of a script and a name; `undefined` if the wallet does not have the key. */
export const saltOf = (
  { core }: NamesContext,
  script: Bytes,
  name: Bytes
): Effect.Effect<Bytes | undefined, KeysLocked> =>
  Effect.map(core.privateKey(script), (key) => key === undefined ? undefined : deterministicSalt(key, name))

/** A name operation to fund and send. */
export interface NamePayment {
  readonly operation: NameOperation
  readonly owner: Bytes
  /** The coin of the name or of its commitment, by `outpointKey`. */
  readonly input: string | undefined
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
export const ensureOwned = ({ core }: NamesContext, outpoint: string): Effect.Effect<void, FundsMissing> =>
  Effect.suspend(() =>
    core.coins().some((coin) => coin.outpoint === outpoint)
      ? Effect.void
      : new FundsMissing({ needed: MIN_NAME_AMOUNT, available: 0, missing: outpoint })
  )

/** Sends a name operation with its locked amount and the additional outputs. */
export const payName = (context: NamesContext, payment: NamePayment): Effect.Effect<Transaction, NameFailure> =>
  Effect.suspend(() => {
    const { fees, input, operation, owner, sendCoins = [] } = payment
    const paid = context.core.pay({
      ...feesOf(fees),
      outputs: [{ value: MIN_NAME_AMOUNT, script: nameScript(operation, owner) }, ...sendCoins],
      version: NAME_TX_VERSION,
      ...(input === undefined ? {} : { inputs: [{ outpoint: input }] })
    })
    return Effect.map(paid, ({ transaction }) => transaction)
  })
