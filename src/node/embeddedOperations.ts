import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Schedule from "effect/Schedule"
import type * as Scope from "effect/Scope"
import * as Stream from "effect/Stream"
import { Chain } from "../chain/Chain.ts"
import {
  InsufficientFunds,
  InvalidRequest,
  NameUnavailable,
  NotSynced,
  type OperationFailure,
  OperationRejected,
  WalletDisabled,
  WalletLocked
} from "../client/errors.ts"
import type { Lifespan } from "../client/Lifespan.ts"
import type { OperationOptions, RegisterOptions, UpdateOptions } from "../client/options.ts"
import { OperationResult } from "../client/records.ts"
import {
  confirmation,
  firstState,
  followRegistration,
  REGISTER_WAITS,
  type RegistrationState,
  registrationState,
  UPDATE_WAITS,
  type WalletRegistration
} from "../client/registering.ts"
import type { Confirmed } from "../client/replies.ts"
import { operationBytes, registrationBytes } from "../client/text.ts"
import { rejectionText } from "../mempool/errors.ts"
import type { CompleteNames } from "../names/completeNames.ts"
import { NameDb } from "../names/NameDb.ts"
import { decodeAddress, scriptOf } from "../protocol/address.ts"
import { type Bytes, displayHash, equal } from "../protocol/bytes.ts"
import { txidKeyOf } from "../protocol/keys.ts"
import { isUnsent } from "../wallet/names/entries.ts"
import type { NameFailure, NameOptions, Registration } from "../wallet/names/WalletNames.ts"
import type { Wallet } from "../wallet/Wallet.ts"
import { Wallets } from "../wallet/Wallets.ts"

/** Registers and updates names with a wallet of the node, which continues registrations automatically. */

/** Interval of checks without an event: a step can happen between a check and the subscription. */
const LOOK_EVERY = "1 second"

const operationFailure = (name: string) => (failure: NameFailure): OperationFailure => {
  switch (failure._tag) {
    case "KeysLocked":
      return new WalletLocked()
    case "WalletWatchOnly":
      return new WalletDisabled({ reason: failure.message })
    case "FundsMissing":
      return new InsufficientFunds({ reason: failure.message })
    case "NameOperationRefused":
      return new NameUnavailable({ requested: name, reason: failure.reason })
    case "TransactionRejected":
      return new OperationRejected({ reason: rejectionText(failure) })
    case "InvalidWalletRequest":
      return failure.code === "no-keys" || failure.code === "used-up" || failure.code === "beyond-words" ||
          failure.code === "no-change"
        ? new WalletDisabled({ reason: failure.reason })
        : new OperationRejected({ reason: failure.reason })
    case "StorageCorrupted":
    case "StorageUnavailable":
      return failure
  }
}

const shown = (registration: Registration): WalletRegistration => {
  const { firstUpdateTxid, newTxid, note, step } = registration
  return {
    step,
    txHash: isUnsent(registration) ? undefined : displayHash(newTxid),
    claim: firstUpdateTxid === undefined ? undefined : displayHash(firstUpdateTxid),
    note
  }
}

export interface EmbeddedOperationsParts {
  readonly walletName: string | undefined
  readonly names: CompleteNames
  readonly lifespan: Lifespan
  readonly scope: Scope.Scope
}

export const make = ({ lifespan, names, scope, walletName = "" }: EmbeddedOperationsParts) =>
  Effect.gen(function*() {
    const chain = yield* Chain
    const db = yield* NameDb
    const wallets = yield* Wallets
    const { network } = chain.params

    const notSynced = Effect.flatMap(db.cursor, (at) => Effect.fail(new NotSynced({ height: at?.height ?? 0 })))

    /** A name is certainly missing only while names are at the tip. */
    const judged = (name: string) => (failure: NameFailure): Effect.Effect<never, OperationFailure> =>
      failure._tag === "NameOperationRefused" && failure.code === "unknown"
        ? Effect.flatMap(names.complete, (told) => told ? Effect.fail(operationFailure(name)(failure)) : notSynced)
        : Effect.fail(operationFailure(name)(failure))

    const wallet: Effect.Effect<Wallet, WalletDisabled> = Effect.suspend(() => {
      const found = wallets.get(walletName)
      if (found !== undefined) return Effect.succeed(found)
      const reason = wallets.enabled ? "the wallet is not loaded" : "the client runs without a wallet (disableWallet)"
      return new WalletDisabled({ reason })
    })

    const readOptions = ({ address }: OperationOptions): Effect.Effect<NameOptions, InvalidRequest> =>
      Effect.suspend(() => {
        if (address === undefined) return Effect.succeed({})
        const parsed = decodeAddress(network, address)
        return "destination" in parsed
          ? Effect.succeed({ destination: scriptOf(parsed.destination) })
          : new InvalidRequest({ field: "address", reason: "is not an address of the network" })
      })

    const confirmed = (wallet: Wallet, txHash: string): Effect.Effect<Confirmed> =>
      Effect.sync(() => {
        const key = txidKeyOf(txHash)
        const state = key === undefined ? undefined : wallet.ledger.transaction(key)?.state
        return state?.type === "confirmed"
          ? { confirmations: wallet.ledger.lastBlock().height - state.height + 1, height: state.height }
          : { confirmations: state?.type === "conflicted" ? -1 : 0, height: undefined }
      })

    const moments = (wallet: Wallet): Stream.Stream<unknown> =>
      Stream.merge(
        Stream.merge(wallet.changes, chain.events),
        Stream.concat(Stream.succeed(undefined), Stream.fromSchedule(Schedule.spaced(LOOK_EVERY)))
      )

    const states = (wallet: Wallet, name: Bytes): Stream.Stream<RegistrationState> =>
      Stream.mapEffect(moments(wallet), () => {
        const entry = wallet.names.registrations().findLast((each) =>
          each.value !== undefined && equal(each.name, name)
        )
        return entry === undefined
          ? Effect.succeed<RegistrationState>({ step: "failed", reason: "the wallet does not know it any longer" })
          : registrationState(shown(entry), (txHash) => confirmed(wallet, txHash))
      })

    // positional: public API, as in NameClient
    const registerName = (
      name: string,
      value: string,
      options: RegisterOptions = {}
    ): Effect.Effect<OperationResult, OperationFailure> =>
      Effect.gen(function*() {
        const { anyName, waitFor } = options
        const given = yield* registrationBytes({ name, value, waitFor, anyName }, REGISTER_WAITS)
        const own = yield* wallet
        const begun = yield* Effect.mapError(
          own.names.register(given.name, given.value, yield* readOptions(options)),
          operationFailure(name)
        )
        const first = firstState(shown(begun))
        return yield* followRegistration({ name, first, options, states: states(own, given.name), lifespan, scope })
      }).pipe(
        // A caller that stops waiting does not withdraw a sent transaction.
        Effect.forkIn(scope),
        Effect.flatMap(Fiber.join),
        lifespan.during
      )

    // positional: public API, as in NameClient
    const updateName = (
      name: string,
      value: string,
      options: UpdateOptions = {}
    ): Effect.Effect<OperationResult, OperationFailure> =>
      Effect.gen(function*() {
        const given = yield* operationBytes({ name, value, waitFor: options.waitFor }, UPDATE_WAITS)
        const own = yield* wallet
        const sending = Effect.map(
          own.names.nameUpdate({ ...yield* readOptions(options), ...given }),
          ({ txid }) => displayHash(txid)
        )
        const txHash = yield* Effect.catchAll(sending, judged(name))
        if (options.waitFor === "confirmed") {
          yield* confirmation(Stream.mapEffect(moments(own), () => confirmed(own, txHash)))
        }
        return new OperationResult({ txHash })
      }).pipe(lifespan.during)

    return { registerName, updateName }
  })
