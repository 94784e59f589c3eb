import * as Effect from "effect/Effect"
import { randomBytes } from "node:crypto"
import { update } from "../WalletParts.ts"
import { registrationOf } from "./entries.ts"
import type { NameParts, NameSettings, WalletOfNames } from "./NameParts.ts"
import { nameFirstUpdate, nameNew, nameUpdate } from "./operations.ts"
import { cancelRegistration, register } from "./registering.ts"
import { withRenewal } from "./renewals.ts"
import { renewDue } from "./renewing.ts"
import { advanceAll, type Lost } from "./saga.ts"
import type { WalletNames } from "./WalletNames.ts"

/** The name operations of a wallet. */
export interface Names extends WalletNames {
  /**
   * Continues registrations and renews names. It has to run at the start, and after each block once wallet and names
   * have processed it. It never fails: an obstacle is noted or logged, and the next run retries.
   */
  readonly step: Effect.Effect<void>
}

const DEFAULTS: NameSettings = {
  limitNameChains: 1,
  addressType: "legacy",
  randomBytes: (size) => new Uint8Array(randomBytes(size))
}

/** Makes the `names` door of a wallet. It runs one operation at a time, so that nothing is sent twice. */
export const makeNames = (wallet: WalletOfNames, settings: Partial<NameSettings> = {}): Effect.Effect<Names> =>
  Effect.gen(function*() {
    const turn = (yield* Effect.makeSemaphore(1)).withPermits(1)
    const lost: Lost = new Map()
    const parts: NameParts = { ...wallet, ...DEFAULTS, ...settings, spare: { script: undefined } }
    const { file } = parts
    const carryOn = Effect.catchAll(
      advanceAll(parts, lost),
      (failure) => Effect.logError("registrations cannot continue", { reason: failure.message })
    )
    return {
      nameNew: (name, options) => turn(nameNew(parts, name, options)).pipe(Effect.withSpan("svcd.wallet.nameNew")),
      nameFirstUpdate: (request) =>
        turn(nameFirstUpdate(parts, request)).pipe(Effect.withSpan("svcd.wallet.nameFirstUpdate")),
      nameUpdate: (request) => turn(nameUpdate(parts, request)).pipe(Effect.withSpan("svcd.wallet.nameUpdate")),
      register: (name, value, options) =>
        turn(register(parts, name, value, options)).pipe(Effect.withSpan("svcd.wallet.register")),
      registrations: () => file.document.registrations.map(registrationOf),
      cancelRegistration: (name) => turn(cancelRegistration(parts, name)),
      list: () => parts.ledger.names(),
      setRenewal: (name, on) => update(parts, withRenewal(name, on)),
      renewal: () => file.document.renewals,
      step: turn(Effect.zipRight(carryOn, renewDue(parts)))
    }
  })
