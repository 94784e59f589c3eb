import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Fiber from "effect/Fiber"
import * as Option from "effect/Option"
import type * as Scope from "effect/Scope"
import * as Stream from "effect/Stream"
import { type Bytes, toHex } from "../protocol/bytes.ts"
import { NAME_NEW, NAME_UPDATE } from "../rpc/contract/wallet/nameWrite.ts"
import { NAME_AUTOREGISTER, NAME_REGISTRATIONS } from "../rpc/contract/wallet/registration.ts"
import type { Json } from "../rpc/json/json.ts"
import { RPC_CODE } from "../rpc/method/RpcError.ts"
import { UNSENT_TXID } from "../rpc/shapes/name.ts"
import { claiming, HEX, transaction, withAddress } from "./claiming.ts"
import type { CallFailure, DaemonRpc } from "./DaemonRpc.ts"
import { NameUnavailable, type OperationFailure } from "./errors.ts"
import type { Lifespan } from "./Lifespan.ts"
import { operationFailure } from "./operationErrors.ts"
import type { OperationOptions, RegisterOptions, UpdateOptions } from "./options.ts"
import { OperationResult } from "./records.ts"
import {
  confirmation,
  type FirstState,
  firstState,
  followRegistration,
  type RegistrationState,
  registrationState,
  type WalletRegistration
} from "./registering.ts"
import { hashReply, list, reading, registrationReply, textReply } from "./replies.ts"

/**
 * svcd runs both steps of a registration itself. For the reference node, this client sends each step, and keeps the
 * salt and the first transaction while it is open.
 */

export interface DaemonOperationsParts {
  readonly rpc: DaemonRpc
  readonly lifespan: Lifespan
  readonly scope: Scope.Scope
  /** Milliseconds between two polls of a transaction. */
  readonly interval: number
}

interface Listed extends WalletRegistration {
  readonly name: string
}

const listed = (json: Json): Listed | undefined => {
  const found = registrationReply(json)
  if (found?.name === undefined) return undefined
  const { firstupdate_txid: claim, name, note = "", step, txid } = found
  return { name, txHash: txid === UNSENT_TXID ? undefined : txid, step, claim, note }
}

interface NameAndValue {
  readonly name: string
  readonly nameBytes: Bytes
  readonly value: Bytes
}

const PASSING: ReadonlySet<OperationFailure["_tag"]> = new Set([
  "DaemonUnreachable",
  "DaemonNotReady",
  "Unauthorized",
  "WalletDisabled",
  "WalletLocked",
  "InsufficientFunds"
])

/**
 * Whether the next poll may succeed: the daemon restarted with another cookie, a proxy answered in its place, or the
 * operator has to load or unlock the wallet. Such a failure does not end a registration.
 */
const isPassing = (failure: OperationFailure): boolean =>
  PASSING.has(failure._tag) || failure._tag === "DaemonRefused" &&
    (failure.code === undefined || failure.code === RPC_CODE.invalidAddressOrKey)

export const make = ({ interval, lifespan, rpc, scope }: DaemonOperationsParts) => {
  const underWay = new Set<string>()

  const watched = <A>(look: Effect.Effect<A, OperationFailure>): Stream.Stream<A, OperationFailure> => {
    let said: string | undefined
    const patient = look.pipe(
      Effect.asSome,
      Effect.tap(() => Effect.sync(() => void (said = undefined))),
      Effect.catchIf(isPassing, (failure) =>
        Effect.suspend(() => {
          if (said === failure.message) return Effect.succeedNone
          said = failure.message
          return Effect.as(Effect.logWarning("name operation waits", { reason: said }), Option.none())
        }))
    )
    return Stream.filterMap(
      Stream.repeatEffect(Effect.zipLeft(patient, Effect.sleep(interval))),
      (found) => found
    )
  }

  const carriedByDaemon = (
    { name, nameHex }: { readonly name: string; readonly nameHex: string }
  ): Stream.Stream<RegistrationState, OperationFailure> =>
    watched(
      Effect.gen(function*() {
        const reply = yield* rpc.call(NAME_REGISTRATIONS, { options: HEX })
        const all = yield* reading(NAME_REGISTRATIONS, reply, list(listed))
        const entry = all.findLast((each) => each.name === nameHex)
        if (entry === undefined) {
          return { step: "failed", reason: "the daemon's wallet has no registration of this name" } as const
        }
        return yield* registrationState(entry, (txHash) => transaction(rpc, txHash))
      }).pipe(Effect.mapError(operationFailure({ name, daemon: rpc.address })))
    )

  interface Begun {
    /** With the salt, if this client has to keep it. */
    readonly first: FirstState
    readonly states: Stream.Stream<RegistrationState, OperationFailure>
  }

  const begin = (
    { name, nameBytes, value }: NameAndValue,
    options: OperationOptions
  ) =>
    Effect.gen(function*() {
      const [nameHex, valueHex] = [toHex(nameBytes), toHex(value)]
      const automatic = yield* Effect.either(
        rpc.call(NAME_AUTOREGISTER, { name: nameHex, value: valueHex, options: withAddress(options) })
      )
      if (Either.isRight(automatic)) {
        const first = firstState(yield* reading(NAME_AUTOREGISTER, automatic.right, listed))
        return { first, states: carriedByDaemon({ name, nameHex }) } satisfies Begun
      }
      if (!isUnknownMethod(automatic.left)) return yield* Effect.fail(automatic.left)
      // The second step names the recipient. The output of the first one has to belong to the wallet.
      const reply = yield* rpc.call(NAME_NEW, { name: nameHex, options: { nameEncoding: "hex" } })
      const [txHash, rand] = yield* reading(NAME_NEW, reply, (json) => {
        const parts = list(textReply)(json)
        return parts?.length === 2 && parts[0] !== undefined && parts[1] !== undefined
          ? [parts[0], parts[1]]
          : undefined
      })
      if (txHash === undefined || rand === undefined) return yield* Effect.dieMessage("two parts are there")
      const states = watched(claiming(rpc, { name, nameHex, valueHex, txHash, rand, options }))
      return { first: { step: "announced", txHash, rand }, states } satisfies Begun
    })

  /** Refuses a name under registration: the reference node would send the first step, and pay its fee, twice. */
  const alone = <A, E, R>(name: string, use: (end: Effect.Effect<void>) => Effect.Effect<A, E, R>) =>
    Effect.suspend((): Effect.Effect<A, E | NameUnavailable, R> => {
      if (underWay.has(name)) {
        return new NameUnavailable({ requested: name, reason: "this name is already being registered" })
      }
      underWay.add(name)
      return use(Effect.sync(() => void underWay.delete(name)))
    })

  const register = (
    { name, nameBytes, value }: NameAndValue,
    options: RegisterOptions
  ): Effect.Effect<OperationResult, OperationFailure> =>
    alone(name, (end) =>
      begin({ name, nameBytes, value }, options).pipe(
        Effect.mapError(operationFailure({ name, daemon: rpc.address })),
        Effect.onError(() => end),
        Effect.flatMap(({ states, ...begun }) =>
          followRegistration({ ...begun, name, options, states: Stream.ensuring(states, end), lifespan, scope })
        )
      )).pipe(
        // A sent transaction cannot be cancelled. An interrupted caller does not end the registration or lose the salt.
        Effect.forkIn(scope),
        Effect.flatMap(Fiber.join),
        lifespan.during
      )

  const update = (
    { name, nameBytes, value }: NameAndValue,
    options: UpdateOptions
  ): Effect.Effect<OperationResult, OperationFailure> =>
    Effect.gen(function*() {
      // Sends or fails: what a wallet without private keys would answer is not sent.
      const given = { name: toHex(nameBytes), value: toHex(value), options: { ...withAddress(options), psbt: false } }
      const reply = yield* Effect.mapError(
        rpc.call(NAME_UPDATE, given),
        operationFailure({ name, daemon: rpc.address })
      )
      const txHash = yield* reading(NAME_UPDATE, reply, hashReply)
      if (options.waitFor === "confirmed") {
        yield* confirmation(
          watched(Effect.mapError(transaction(rpc, txHash), operationFailure({ name, daemon: rpc.address })))
        )
      }
      return new OperationResult({ txHash })
    }).pipe(lifespan.during)

  return { register, update }
}

const isUnknownMethod = (failure: CallFailure): boolean =>
  failure._tag === "RpcFailure" && failure.code === RPC_CODE.methodNotFound
