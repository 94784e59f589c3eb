import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import { displayHash, fromHex } from "../protocol/bytes.ts"
import { decodedIf } from "../protocol/Reader.ts"
import { decodeTransaction, prevoutTxid } from "../protocol/transaction.ts"
import { NAME_SHOW } from "../rpc/contract/names/name.ts"
import { NAME_PENDING } from "../rpc/contract/names/pending.ts"
import { NAME_FIRSTUPDATE } from "../rpc/contract/wallet/nameWrite.ts"
import { GETTRANSACTION } from "../rpc/contract/wallet/walletTransaction.ts"
import type { Json } from "../rpc/json/json.ts"
import { RPC_CODE } from "../rpc/method/RpcError.ts"
import { type CallFailure, type DaemonRpc, refused } from "./DaemonRpc.ts"
import { type OperationFailure } from "./errors.ts"
import { operationFailure } from "./operationErrors.ts"
import type { OperationOptions } from "./options.ts"
import { blocksLeft, claimState, type RegistrationState } from "./registering.ts"
import { type Confirmed, confirmed, hashReply, list, reading, serializedReply, txidReply } from "./replies.ts"

/** Sends the second step of a registration, for a daemon that does not: the reference node. */

export const HEX = { nameEncoding: "hex", valueEncoding: "hex" } as const

export const withAddress = ({ address }: OperationOptions) =>
  address === undefined ? HEX : { ...HEX, destAddress: address }

export const transaction = (rpc: DaemonRpc, txHash: string): Effect.Effect<Confirmed, CallFailure> =>
  rpc.call(GETTRANSACTION, { txid: txHash }).pipe(
    // The caller's arguments are right: a different wallet answered.
    Effect.mapError((failure) => isUnknown(failure) ? refused(failure) : failure),
    Effect.flatMap((reply) => reading(GETTRANSACTION, reply, confirmed))
  )

const isUnknown = (failure: CallFailure): boolean =>
  failure._tag === "RpcFailure" && failure.code === RPC_CODE.invalidAddressOrKey

export interface Claim {
  readonly name: string
  readonly nameHex: string
  readonly valueHex: string
  readonly txHash: string
  readonly rand: string
  readonly options: OperationOptions
}

const spent = (reply: Json): ReadonlyArray<string> | undefined => {
  const bytes = fromHex(serializedReply(reply) ?? "")
  const transaction = bytes === undefined ? undefined : decodedIf(() => decodeTransaction(bytes))
  return transaction?.inputs.map(({ prevout }) => displayHash(prevoutTxid(prevout)))
}

/**
 * Polls a claim. If the answer to NAME_FIRSTUPDATE was lost, looks for a transaction that spends the NAME_NEW output.
 */
export const claiming = (rpc: DaemonRpc, claim: Claim): Effect.Effect<RegistrationState, OperationFailure> => {
  const { name, nameHex, options, rand, txHash, valueHex } = claim
  let unsure = false
  let claimTxid: string | undefined

  const pending = Effect.flatMap(
    rpc.call(NAME_PENDING, { name: nameHex, options: HEX }),
    (reply) => reading(NAME_PENDING, reply, list(txidReply))
  )

  const current = rpc.call(NAME_SHOW, { name: nameHex, options: HEX }).pipe(
    Effect.flatMap((reply) => reading(NAME_SHOW, reply, txidReply)),
    Effect.catchIf(
      (failure) => failure._tag === "RpcFailure" && failure.code === RPC_CODE.wallet,
      () => Effect.succeed(undefined)
    )
  )

  const isOurs = (txid: string): Effect.Effect<boolean, CallFailure> =>
    rpc.call(GETTRANSACTION, { txid }).pipe(
      Effect.flatMap((reply) => reading(GETTRANSACTION, reply, spent)),
      Effect.map((txids) => txids.includes(txHash)),
      Effect.catchIf(isUnknown, () => Effect.succeed(false))
    )

  const found = Effect.gen(function*() {
    // The claim may confirm between the two calls; the second answer then contains it.
    const shown = [...yield* pending, yield* current]
    for (const txid of shown) {
      if (txid !== undefined && (yield* isOurs(txid))) return txid
    }
    return undefined
  })

  const send = Effect.gen(function*() {
    const before = unsure ? yield* found : undefined
    if (before !== undefined) return before
    const outcome = yield* Effect.either(
      rpc.call(NAME_FIRSTUPDATE, { name: nameHex, rand, tx: txHash, value: valueHex, options: withAddress(options) })
    )
    if (Either.isRight(outcome)) {
      return yield* Effect.tapError(
        reading(NAME_FIRSTUPDATE, outcome.right, hashReply),
        () => Effect.sync(() => void (unsure = true))
      )
    }
    const failure = outcome.left
    if (failure._tag !== "RpcFailure") unsure = true
    // Our own claim may have taken the name, if an earlier call timed out.
    const taken = failure._tag === "RpcFailure" && failure.code === RPC_CODE.verifyError
    const ours = taken ? yield* found : undefined
    return ours ?? (yield* Effect.fail(failure))
  })

  /** Whether another owner has the name. The wallet keeps our claim, although no block can include it. */
  const isLost = (claimed: string) =>
    Effect.gen(function*() {
      const holder = yield* current
      if (holder === undefined || holder === claimed) return false
      return (yield* transaction(rpc, claimed)).confirmations === 0
    })

  return Effect.gen(function*() {
    if (claimTxid === undefined) {
      const first = yield* transaction(rpc, txHash)
      if (first.confirmations < 0) return { step: "failed", reason: "NAME_NEW cannot be confirmed" } as const
      if (first.confirmations === 0) return { step: "announced", txHash } as const
      const left = blocksLeft(first)
      if (left > 0) return { step: "waiting", txHash, blocksLeft: left } as const
      claimTxid = yield* send
    }
    const found = yield* transaction(rpc, claimTxid)
    const state = claimState(claimTxid, found)
    return state.step === "claimed" && (found.confirmations < 0 || (yield* isLost(claimTxid)))
      ? { step: "failed", reason: "another registration of the name was confirmed first" } as const
      : state
  }).pipe(
    Effect.mapError(operationFailure({ name, daemon: rpc.address })),
    Effect.catchTag("NameUnavailable", ({ reason }) => Effect.succeed({ step: "failed", reason } as const))
  )
}
