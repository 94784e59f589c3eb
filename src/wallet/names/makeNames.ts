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

/** What a wallet does with names. */
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
   * Carries registrations on and renews names. To be run after each block, once wallet and names have seen it, and at the
   * start. Never fails: what stands in the way is noted or logged, and tried again the next time.
   */
  readonly step: Effect.Effect<void>
  readonly changes: Stream.Stream<WalletEvent>
}

export interface NamesOptions {
  /** Operations on one name that may wait for a block (upstream `-limitnamechains`); 1 where it is left out. */
  readonly limitNameChains?: number
  /** Of the addresses that names are put to; legacy where it is left out. */
  readonly addressType?: AddressType
  /** Bytes that nobody can guess. */
  readonly randomBytes?: (size: number) => Bytes
}

const LIMIT_NAME_CHAINS = 1

/** Events that a slow listener may be behind by; it then misses the oldest. */
const EVENT_BACKLOG = 1_024

/** Makes the names part of a wallet. One thing is done at a time, so that nothing is sent twice. */
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
      (failure) => Effect.logError("registrations could not be continued", { reason: failure.message })
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
