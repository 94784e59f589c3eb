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

/** What the name operations of a wallet have in common. */
export interface NamesContext {
  readonly core: WalletCore
  readonly names: typeof NameDb.Service
  /** Operations on one name that may wait for a block (upstream `-limitnamechains`). */
  readonly limitNameChains: number
  /** Of the addresses that names are put to. */
  readonly addressType: AddressType
  /** Bytes that nobody can guess. */
  readonly randomBytes: (size: number) => Bytes
  /** An address that was taken for an operation which was not sent. */
  readonly spare: { script: Bytes | undefined }
  /** Tells that a registration moved. */
  readonly tell: (registration: Registration) => Effect.Effect<void>
}

/** Longest value that the wallet sends: more could never be spent again (reference/rpc.md 5.1). */
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

/** Fails before anything is taken from a wallet that cannot sign. */
export const ensureKeysOpen = ({ core }: NamesContext): Effect.Effect<void, KeysLocked> =>
  Effect.suspend(() => core.encryption() === "locked" ? new KeysLocked() : Effect.void)

/** The latest record of a name, expired or not. */
export const latestEntry = (
  { names }: NamesContext,
  name: Bytes
): Effect.Effect<NameEntry | undefined, StorageFailure> =>
  Effect.catchTag(names.resolve(name), "NameNotFound", () => Effect.succeed(undefined))

/** The record of a name that somebody holds, as seen `ahead` blocks after the tip. */
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

/** Whether a registration of a name waits in the mempool. */
export const isBeingRegistered = ({ core }: NamesContext, name: Bytes): boolean =>
  core.mempool.pending(binaryString(name)).some((entry) => entry.name?.script.operation.op === "name_firstupdate")

/** The script that is to own a name: the one asked for, or a fresh one of the wallet. */
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

/** The mempool's reason for a commitment that it has seen before (reference/protocol.md 5.6, M1). */
const COMMITMENT_KNOWN = "txn-mempool-name-error"

/**
 * Does something with the script that is to own a name. An address of the wallet that was taken in vain, for want of
 * money, serves the next operation: trying again with every block must not use up what is watched ahead. After a refusal
 * of the commitment it does not: the same address makes the same commitment, and gets the same answer.
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

/** The salt that the key of a script gives for a name; `undefined` where the wallet has no such key. */
export const saltOf = (
  { core }: NamesContext,
  script: Bytes,
  name: Bytes
): Effect.Effect<Bytes | undefined, KeysLocked> =>
  Effect.map(core.privateKey(script), (key) => key === undefined ? undefined : deterministicSalt(key, name))

/** A name operation that is to be paid for. */
export interface NamePayment {
  readonly operation: NameOperation
  readonly owner: Bytes
  /** The coin that holds the name, or its commitment, by `outpointKey`. */
  readonly input: string | undefined
  readonly fees: FeeChoice
  readonly sendCoins?: ReadonlyArray<TransactionOutput> | undefined
}

/** What of a request is about fees. */
export const feesOf = ({ conservative, feeRate, target }: FeeChoice): FeeChoice => ({
  ...(feeRate === undefined ? {} : { feeRate }),
  ...(target === undefined ? {} : { target }),
  ...(conservative === undefined ? {} : { conservative })
})

/** Fails for a coin that the wallet does not have. */
export const ensureOwned = ({ core }: NamesContext, outpoint: string): Effect.Effect<void, FundsMissing> =>
  Effect.suspend(() =>
    core.coins().some((coin) => coin.outpoint === outpoint)
      ? Effect.void
      : new FundsMissing({ needed: MIN_NAME_AMOUNT, available: 0, missing: outpoint })
  )

/** Sends a name operation: locks its amount, beside what else is to be paid. */
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
