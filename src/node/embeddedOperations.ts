import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Schedule from "effect/Schedule"
import type * as Scope from "effect/Scope"
import * as Stream from "effect/Stream"
import { Chain } from "../chain/Chain.ts"
import type { EmbeddedConfig } from "../client/config.ts"
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
import type { OperationOptions, OperationResult, RegisterOptions, UpdateOptions } from "../client/NameClient.ts"
import { followRegistration, REGISTER_WAITS, type RegistrationState, UPDATE_WAITS } from "../client/registering.ts"
import { choiceOf, nameBytes, valueBytes } from "../client/text.ts"
import type { CompleteNames } from "../names/completeNames.ts"
import { NameDb } from "../names/NameDb.ts"
import { decodeAddress, scriptOf } from "../protocol/address.ts"
import { binaryString, type Bytes, displayHash, equal, parseDisplayHash } from "../protocol/bytes.ts"
import type { WalletTxState } from "../wallet/ledger/WalletLedger.ts"
import type { NameFailure, NameOptions, Registration } from "../wallet/names/WalletNames.ts"
import type { Wallet } from "../wallet/Wallet.ts"
import { Wallets } from "../wallet/Wallets.ts"

/** Registers and updates names with a wallet of the node in this process, which carries on registrations by itself. */

/** Confirmations of NAME_NEW after which the next block can hold the claim (consensus). */
const MATURITY = 12

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
      return new NameUnavailable({ name, reason: failure.reason })
    case "TransactionRejected":
      return new OperationRejected({
        reason: failure.detail === undefined ? failure.reason : `${failure.reason}, ${failure.detail}`
      })
    case "InvalidWalletRequest":
      return failure.code === "no-keys"
        ? new WalletDisabled({ reason: failure.reason })
        : new OperationRejected({ reason: failure.reason })
    case "StorageCorrupted":
    case "StorageUnavailable":
      return failure
  }
}

export const make = (config: EmbeddedConfig, names: CompleteNames, lifespan: Lifespan, scope: Scope.Scope) =>
  Effect.gen(function*() {
    const chain = yield* Chain
    const db = yield* NameDb
    const wallets = yield* Wallets
    const { network } = chain.params

    const notSynced = Effect.flatMap(db.cursor, (at) => Effect.fail(new NotSynced({ height: at?.height ?? 0 })))

    /** Converts a failure. That a name does not exist is certain only while names are at the tip. */
    const judged = (name: string) => (failure: NameFailure): Effect.Effect<never, OperationFailure> =>
      failure._tag === "NameOperationRefused" && failure.code === "unknown"
        ? Effect.flatMap(names.complete, (told) => told ? Effect.fail(operationFailure(name)(failure)) : notSynced)
        : Effect.fail(operationFailure(name)(failure))

    const wallet: Effect.Effect<Wallet, WalletDisabled> = Effect.suspend(() => {
      const found = wallets.get(config.wallet ?? "")
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

    const stateOf = (wallet: Wallet, txid: Bytes): WalletTxState | undefined =>
      wallet.ledger.transaction(binaryString(txid))?.state

    const blocksLeft = (wallet: Wallet, txid: Bytes): number => {
      const state = stateOf(wallet, txid)
      const confirmations = state?.type === "confirmed" ? wallet.ledger.lastBlock().height - state.height + 1 : 0
      return Math.max(0, MATURITY - confirmations)
    }

    const registrationState = (wallet: Wallet, registration: Registration): RegistrationState => {
      const { firstUpdateTxid, newTxid, note, step } = registration
      const txHash = displayHash(newTxid)
      switch (step) {
        case "committed":
          return { step: "announced", txHash }
        case "maturing":
          return { step: "waiting", txHash, blocksLeft: blocksLeft(wallet, newTxid) }
        case "failed":
          return { step: "failed", reason: note }
        case "revealed":
        case "done": {
          if (firstUpdateTxid === undefined) return { step: "announced", txHash }
          const claim = displayHash(firstUpdateTxid)
          const state = stateOf(wallet, firstUpdateTxid)
          return step === "done" && state?.type === "confirmed"
            ? { step: "registered", txHash: claim, height: state.height }
            : { step: "claimed", txHash: claim }
        }
      }
    }

    /** Emits whenever a wallet may have progressed. */
    const moments = (wallet: Wallet): Stream.Stream<unknown> =>
      Stream.merge(
        Stream.merge(wallet.changes, chain.events),
        Stream.concat(Stream.succeed(undefined), Stream.fromSchedule(Schedule.spaced(LOOK_EVERY)))
      )

    const states = (wallet: Wallet, name: Bytes): Stream.Stream<RegistrationState> =>
      Stream.map(moments(wallet), (): RegistrationState => {
        const entry = wallet.names.registrations().findLast((each) =>
          each.value !== undefined && equal(each.name, name)
        )
        return entry === undefined
          ? { step: "failed", reason: "the wallet does not know it any longer" }
          : registrationState(wallet, entry)
      })

    /** A transaction that the wallet keeps counts as sent, even if the mempool refuses it now. */
    const kept = (wallet: Wallet, failure: NameFailure): Effect.Effect<string, NameFailure> =>
      Effect.suspend((): Effect.Effect<string, NameFailure> => {
        if (failure._tag !== "TransactionRejected") return Effect.fail(failure)
        const txid = parseDisplayHash(failure.txid)
        if (txid === undefined || stateOf(wallet, txid) === undefined) return Effect.fail(failure)
        return Effect.as(
          Effect.logWarning("the mempool refuses a transaction of the wallet", {
            txid: failure.txid,
            reason: failure.reason
          }),
          failure.txid
        )
      })

    const confirmation = (wallet: Wallet, txHash: string): Effect.Effect<void, OperationRejected> => {
      const txid = parseDisplayHash(txHash)
      if (txid === undefined) return Effect.void
      return moments(wallet).pipe(
        Stream.map(() => stateOf(wallet, txid)),
        Stream.takeUntil((state) => state?.type === "confirmed" || state?.type === "conflicted"),
        Stream.runLast,
        Effect.flatMap((last) =>
          last._tag === "Some" && last.value?.type === "conflicted"
            ? new OperationRejected({ reason: "a block has another transaction in its place" })
            : Effect.void
        )
      )
    }

    const registerName = (
      name: string,
      value: string,
      options: RegisterOptions = {}
    ): Effect.Effect<OperationResult, OperationFailure> =>
      Effect.gen(function*() {
        yield* choiceOf("waitFor", options.waitFor, REGISTER_WAITS)
        const own = yield* wallet
        const [bytes, given, more] = [yield* nameBytes(name), yield* valueBytes(value), yield* readOptions(options)]
        const { newTxid } = yield* Effect.mapError(own.names.register(bytes, given, more), operationFailure(name))
        const txHash = displayHash(newTxid)
        return yield* followRegistration({ name, txHash, options, states: states(own, bytes), lifespan, scope })
      }).pipe(
        // A caller that stops waiting does not withdraw what is sent.
        Effect.forkIn(scope),
        Effect.flatMap(Fiber.join),
        lifespan.during
      )

    const updateName = (
      name: string,
      value: string,
      options: UpdateOptions = {}
    ): Effect.Effect<OperationResult, OperationFailure> =>
      Effect.gen(function*() {
        yield* choiceOf("waitFor", options.waitFor, UPDATE_WAITS)
        const own = yield* wallet
        const [bytes, given, more] = [yield* nameBytes(name), yield* valueBytes(value), yield* readOptions(options)]
        const txHash = yield* own.names.nameUpdate({ ...more, name: bytes, value: given }).pipe(
          Effect.map(({ txid }) => displayHash(txid)),
          Effect.catchAll((failure) => kept(own, failure)),
          Effect.catchAll(judged(name))
        )
        if (options.waitFor === "confirmed") yield* confirmation(own, txHash)
        return { txHash }
      }).pipe(lifespan.during)

    return { registerName, updateName }
  })
