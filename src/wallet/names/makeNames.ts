import * as Effect from "effect/Effect"
import * as PubSub from "effect/PubSub"
import type * as Scope from "effect/Scope"
import * as Stream from "effect/Stream"
import { randomBytes } from "node:crypto"
import type { NameDb } from "../../names/NameDb.ts"
import type { Bytes } from "../../protocol/bytes.ts"
import type { AddressType, Wallet, WalletEvent } from "../Wallet.ts"
import type { WalletCore } from "../WalletCore.ts"
import { registrationOf } from "./entries.ts"
import type { NamesContext } from "./NamesContext.ts"
import { nameFirstUpdate, nameNew, nameUpdate } from "./operations.ts"
import { cancelRegistration, register } from "./registering.ts"
import { withRenewal } from "./renewals.ts"
import { renewDue } from "./renewing.ts"
import { advanceAll, type Lost } from "./saga.ts"

/** The name operations of a wallet. */
export interface Names extends
  Pick<
    Wallet,
    | "nameNew"
    | "nameFirstUpdate"
    | "nameUpdate"
    | "register"
    | "registrations"
    | "cancelRegistration"
    | "setRenewal"
    | "renewal"
  >
{
  /**
   * Continues registrations and renews names. It has to run at the start, and after each block once wallet and names
   * have processed it. It never fails: an obstacle is noted or logged, and the next run retries.
   */
  readonly step: Effect.Effect<void>
  readonly changes: Stream.Stream<WalletEvent>
}

export interface NamesOptions {
  /** Maximum number of unconfirmed operations on one name (upstream `-limitnamechains`); 1 by default. */
  readonly limitNameChains?: number
  /** Type of the addresses that own the names; legacy by default. */
  readonly addressType?: AddressType
  /** Cryptographically random bytes. */
  readonly randomBytes?: (size: number) => Bytes
}

const LIMIT_NAME_CHAINS = 1

/** Maximum number of events that a subscriber may be behind; a slow subscriber misses the oldest. */
const EVENT_BACKLOG = 1_024

/** Makes the names part of a wallet. It runs one operation at a time, so that nothing is sent twice. */
export const makeNames = (
  core: WalletCore,
  names: typeof NameDb.Service,
  options: NamesOptions = {}
): Effect.Effect<Names, never, Scope.Scope> =>
  Effect.gen(function*() {
    const events = yield* Effect.acquireRelease(PubSub.sliding<WalletEvent>(EVENT_BACKLOG), PubSub.shutdown)
    const turn = (yield* Effect.makeSemaphore(1)).withPermits(1)
    const lost: Lost = new Map()
    const context: NamesContext = {
      core,
      names,
      limitNameChains: options.limitNameChains ?? LIMIT_NAME_CHAINS,
      addressType: options.addressType ?? "legacy",
      randomBytes: options.randomBytes ?? ((size) => new Uint8Array(randomBytes(size))),
      spare: { script: undefined },
      tell: (registration) => PubSub.publish(events, { _tag: "RegistrationMoved", registration })
    }
    const carryOn = Effect.catchAll(
      advanceAll(context, lost),
      (failure) => Effect.logError("registrations cannot continue", { reason: failure.message })
    )
    return {
      nameNew: (name, options) => turn(nameNew(context, name, options)),
      nameFirstUpdate: (request) => turn(nameFirstUpdate(context, request)),
      nameUpdate: (request) => turn(nameUpdate(context, request)),
      register: (name, value, options) => turn(register(context, name, value, options)),
      registrations: () => core.document().registrations.map(registrationOf),
      cancelRegistration: (name) => turn(cancelRegistration(context, name)),
      setRenewal: (name, on) => core.update(withRenewal(name, on)),
      renewal: () => core.document().renewals,
      step: turn(Effect.zipRight(carryOn, renewDue(context))),
      changes: Stream.fromPubSub(events)
    }
  })
