import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Redacted from "effect/Redacted"
import type * as Scope from "effect/Scope"
import { unixTime } from "../../base/clock.ts"
import { withoutSpan } from "../../base/spans.ts"
import { LONGEST_UNLOCK } from "../../base/unlockTime.ts"
import type { Transaction } from "../../protocol/transaction.ts"
import type { StorageFailure } from "../../storage/errors.ts"
import { InvalidWalletRequest, KeysLocked, WalletDamaged, WalletWatchOnly, type WrongPassphrase } from "../errors.ts"
import { MAX_RENEWAL_FEE, renewalProblem, type RenewalRules } from "../signing/renewalRule.ts"
import type { SpentOutput } from "../signing/SigningContext.ts"
import { encryption } from "./makeDocument.ts"
import { changePassphrase, openMasterKey } from "./seal.ts"
import { Secrets } from "./Secrets.ts"
import { checkSecrets } from "./secretsCheck.ts"
import type { WalletFile } from "./WalletFile.ts"

export interface WalletVault {
  /** Unlocked for renewals only counts as locked. */
  readonly encryption: () => "none" | "locked" | "unlocked"
  readonly signsRenewals: () => boolean
  /** Seconds since 1970 until which the current signing lasts; 0 while locked. */
  readonly unlockedUntil: () => number
  /** Seconds since 1970 until which renewals are unlocked; 0 if they are not. */
  readonly renewalsUntil: () => number
  /** Locks the wallet, too. */
  readonly encrypt: (
    passphrase: Redacted.Redacted<string>
  ) => Effect.Effect<void, InvalidWalletRequest | StorageFailure>
  /**
   * `renewalsOnly`: for signatures of renewals only. Replaces an earlier unlock, except that a longer unlock for
   * renewals survives a full one. Otherwise a payment would silently end the renewals of all names.
   */
  readonly unlock: (
    passphrase: Redacted.Redacted<string>,
    seconds: number,
    options?: { readonly renewalsOnly?: boolean }
  ) => Effect.Effect<void, WrongPassphrase | InvalidWalletRequest | WalletDamaged>
  /** Locks at once, including for renewals. */
  readonly lock: Effect.Effect<void, InvalidWalletRequest>
  /** The lock stays as it is. */
  readonly changePassphrase: (
    old: Redacted.Redacted<string>,
    next: Redacted.Redacted<string>
  ) => Effect.Effect<void, WrongPassphrase | InvalidWalletRequest | StorageFailure>
}

/** The vault as the wallet's own parts see it. */
export interface Vault extends WalletVault {
  readonly secrets: Effect.Effect<Secrets, KeysLocked | WalletWatchOnly>
  /** To sign this transaction. While unlocked for renewals only, this is the only way, and fails for others. */
  readonly secretsFor: (
    transaction: Transaction,
    spent: ReadonlyArray<SpentOutput | undefined>
  ) => Effect.Effect<Secrets, KeysLocked | WalletWatchOnly>
  /** For public keys of hardened ranges, never for signatures. */
  readonly opened: () => Secrets | undefined
  /** `undefined` while the wallet is locked or not encrypted. */
  readonly sealingKey: () => Uint8Array | undefined
}

/** Seconds. Platform timers count milliseconds in 31 bits. */
const LONGEST_TIMER = 86_400

type Unlock = "all" | "renewals"

const notEncrypted = () => new InvalidWalletRequest({ code: "not-encrypted", reason: "the wallet is not encrypted" })

/** By the timer: `setmocktime` must not keep a wallet unlocked. */
const wait = (seconds: number): Effect.Effect<void> =>
  seconds <= LONGEST_TIMER
    ? Effect.sleep(1000 * seconds)
    : Effect.zipRight(Effect.sleep(1000 * LONGEST_TIMER), Effect.suspend(() => wait(seconds - LONGEST_TIMER)))

export const makeVault = (file: WalletFile, rules: RenewalRules): Effect.Effect<Vault, never, Scope.Scope> =>
  Effect.gen(function*() {
    const scope = yield* Effect.scope
    const renewalRules = { ...rules, maxFee: Math.min(MAX_RENEWAL_FEE, rules.maxFee) }
    const document = () => file.document
    let open = file.document.encryption === undefined ? new Secrets(document, undefined) : undefined
    /**
     * Unlocks in effect, with their ends in seconds since 1970. Timers end them, not a clock that a caller can set. A
     * fired timer may run after its unlock was replaced, so each ends only its own object.
     */
    const until = new Map<Unlock, { readonly time: number }>()
    const timers = new Map<Unlock, Fiber.Fiber<void>>()
    let ended = false
    /** Whether the secrets were checked against the file; unencrypted ones were at opening. */
    let compared = file.document.encryption === undefined
    /** The second of two concurrent changes of the encryption must see the result of the first. */
    const alone = (yield* Effect.makeSemaphore(1)).withPermits(1)
    yield* Effect.addFinalizer(() =>
      Effect.sync(() => {
        ended = true
        close()
      })
    )

    const close = (): void => {
      open?.wipe()
      open = undefined
      until.clear()
    }

    const renewalsOnly = (): boolean => until.has("renewals") && !until.has("all")

    /** The other unlock continues with other secrets, so that a holder of the full unlock's cannot use them longer. */
    const end = (which: Unlock, own: { readonly time: number }): void => {
      if (until.get(which) !== own) return
      until.delete(which)
      if (until.size === 0) return close()
      if (which === "renewals" || open === undefined) return
      const full = open
      open = new Secrets(document, full.sealingKey?.slice())
      full.wipe()
    }

    const stopTimer = (which: Unlock): Effect.Effect<void> =>
      Effect.suspend(() => {
        const running = timers.get(which)
        timers.delete(which)
        return running === undefined ? Effect.void : Effect.asVoid(Fiber.interruptFork(running))
      })

    const stopTimers = Effect.zipRight(stopTimer("all"), stopTimer("renewals"))

    const secrets: Vault["secrets"] = Effect.suspend((): Vault["secrets"] => {
      if (!file.document.privateKeys) return Effect.fail(new WalletWatchOnly())
      if (renewalsOnly()) return Effect.fail(new KeysLocked({ renewalsOnly: "" }))
      return open === undefined ? Effect.fail(new KeysLocked({})) : Effect.succeed(open)
    })

    const secretsFor: Vault["secretsFor"] = (transaction, spent) =>
      Effect.suspend(() => {
        if (open === undefined || !renewalsOnly()) return secrets
        const problem = renewalProblem(transaction, spent, renewalRules)
        return problem === undefined ? Effect.succeed(open) : Effect.fail(new KeysLocked({ renewalsOnly: problem }))
      })

    const encrypt: Vault["encrypt"] = (passphrase) =>
      Effect.gen(function*() {
        const change = yield* encryption(file.document, passphrase)
        yield* Effect.uninterruptible(Effect.zipRight(file.update(change), Effect.sync(close)))
      }).pipe(Effect.scoped, alone)

    /** Signatures with secrets that contradict the file would be wrong. One check is enough. */
    const compare = (secrets: Secrets): Effect.Effect<void, WalletDamaged> =>
      Effect.gen(function*() {
        if (compared) return
        const { problem } = yield* checkSecrets(document(), secrets)
        if (problem !== undefined) return yield* new WalletDamaged({ file: file.path, found: problem })
        compared = true
      })

    /** A full unlock keeps the time for renewals; an unlock for renewals ends a full one. */
    const openFor = (secrets: Secrets, seconds: number, which: Unlock) =>
      Effect.gen(function*() {
        const now = yield* unixTime
        yield* which === "all" ? stopTimer("all") : stopTimers
        if (ended) return secrets.wipe()
        open?.wipe()
        open = secrets
        until.delete("all")
        const own = { time: now + Math.floor(seconds) }
        until.set(which, own)
        // Outlives the call that unlocks.
        const lock = Effect.zipRight(wait(seconds), Effect.sync(() => end(which, own)))
        timers.set(which, yield* Effect.forkIn(withoutSpan(Effect.interruptible(lock)), scope))
      })

    const unlock: Vault["unlock"] = (passphrase, seconds, options = {}) =>
      Effect.gen(function*() {
        const sealed = file.document.encryption
        if (sealed === undefined) return yield* notEncrypted()
        if (Redacted.value(passphrase) === "") {
          return yield* new InvalidWalletRequest({ code: "empty-passphrase", reason: "passphrase cannot be empty" })
        }
        if (!(seconds >= 0)) {
          return yield* new InvalidWalletRequest({ code: "range", reason: "Timeout cannot be negative." })
        }
        const time = Math.min(seconds, LONGEST_UNLOCK)
        const secrets = new Secrets(document, yield* openMasterKey(sealed, passphrase))
        yield* Effect.onError(compare(secrets), () => Effect.sync(() => secrets.wipe()))
        yield* Effect.uninterruptible(openFor(secrets, time, options.renewalsOnly === true ? "renewals" : "all"))
      }).pipe(alone)

    const lock: Vault["lock"] = Effect.suspend(() => {
      if (file.document.encryption === undefined) return Effect.fail(notEncrypted())
      close()
      return stopTimers
    })

    return {
      encryption: () => {
        if (file.document.encryption === undefined) return "none"
        return open === undefined || renewalsOnly() ? "locked" : "unlocked"
      },
      signsRenewals: () => open !== undefined,
      unlockedUntil: () => (until.get("all") ?? until.get("renewals"))?.time ?? 0,
      renewalsUntil: () => until.get("renewals")?.time ?? 0,
      encrypt,
      unlock,
      lock,
      changePassphrase: (old, next) =>
        Effect.gen(function*() {
          const sealed = file.document.encryption
          if (sealed === undefined) return yield* notEncrypted()
          const changed = yield* changePassphrase(sealed, old, next)
          yield* file.update((now) => ({ ...now, encryption: changed }))
        }).pipe(alone),
      secrets,
      secretsFor,
      opened: () => open,
      sealingKey: () => renewalsOnly() ? undefined : open?.sealingKey
    }
  })
