import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Redacted from "effect/Redacted"
import type * as Scope from "effect/Scope"
import { unixTime } from "../../base/clock.ts"
import { withoutSpan } from "../../base/spans.ts"
import type { Transaction } from "../../protocol/transaction.ts"
import type { StorageFailure } from "../../storage/errors.ts"
import { InvalidWalletRequest, KeysLocked, WalletDamaged, WalletWatchOnly, type WrongPassphrase } from "../errors.ts"
import { renewalProblem, type RenewalRules } from "../signing/renewalRule.ts"
import type { SpentOutput } from "../signing/SigningContext.ts"
import { encryption } from "./makeDocument.ts"
import { changePassphrase, openMasterKey } from "./seal.ts"
import { Secrets } from "./Secrets.ts"
import { checkSecrets } from "./secretsCheck.ts"
import type { WalletFile } from "./WalletFile.ts"

/** The passphrase of a wallet, and the state of its lock. */
export interface WalletVault {
  /** Whether the secrets are encrypted, and whether the wallet signs anything now. For renewals only it counts as locked. */
  readonly encryption: () => "none" | "locked" | "unlocked"
  /** Whether the wallet signs renewals now: not encrypted, unlocked, or unlocked for them. */
  readonly signsRenewals: () => boolean
  /** Seconds since 1970 until which the wallet signs what it signs now; 0 while the wallet is locked. */
  readonly unlockedUntil: () => number
  /** Seconds since 1970 until which the wallet was unlocked for renewals only; 0 if it was not, or if that time is over. */
  readonly renewalsUntil: () => number
  /** Encrypts the secrets of a wallet without a passphrase, and locks it. */
  readonly encrypt: (
    passphrase: Redacted.Redacted<string>
  ) => Effect.Effect<void, InvalidWalletRequest | StorageFailure>
  /**
   * Unlocks the wallet for a number of seconds; with `renewalsOnly`, for signatures of renewals alone. It replaces what is left of
   * an earlier time, with one exception: at the end of a full unlock, a longer time for renewals goes on. Otherwise a payment
   * would end the renewals of all names without a word.
   */
  readonly unlock: (
    passphrase: Redacted.Redacted<string>,
    seconds: number,
    options?: { readonly renewalsOnly?: boolean }
  ) => Effect.Effect<void, WrongPassphrase | InvalidWalletRequest | WalletDamaged>
  /** Locks the wallet at once, including for renewals. */
  readonly lock: Effect.Effect<void, InvalidWalletRequest>
  /** Replaces the passphrase; the lock stays as it is. */
  readonly changePassphrase: (
    old: Redacted.Redacted<string>,
    next: Redacted.Redacted<string>
  ) => Effect.Effect<void, WrongPassphrase | InvalidWalletRequest | StorageFailure>
}

/** The secrets of a wallet: the interface for callers, and what only the wallet's own parts may use. */
export interface Vault extends WalletVault {
  readonly secrets: Effect.Effect<Secrets, KeysLocked | WalletWatchOnly>
  /**
   * The secrets to sign this transaction. While the wallet is unlocked for renewals only, this is the one way to them, and it
   * fails for every transaction that is not a renewal.
   */
  readonly secretsFor: (
    transaction: Transaction,
    spent: ReadonlyArray<SpentOutput | undefined>
  ) => Effect.Effect<Secrets, KeysLocked | WalletWatchOnly>
  /** The secrets, if the wallet has them now: to derive public keys of hardened ranges, never to sign. */
  readonly opened: () => Secrets | undefined
  /** The key that seals new secrets; `undefined` while the wallet is locked or not encrypted. */
  readonly sealingKey: () => Uint8Array | undefined
}

/** Longest unlock time in seconds. Upstream `wallet/rpc/encrypt.cpp`, `MAX_SLEEP_TIME`. */
const LONGEST_UNLOCK = 100_000_000

/** Longest time of one timer in seconds: the platform's timers count milliseconds in 31 bits. */
const LONGEST_TIMER = 86_400

/** What a wallet is unlocked for. */
type Unlock = "all" | "renewals"

const notEncrypted = () => new InvalidWalletRequest({ code: "not-encrypted", reason: "the wallet is not encrypted" })

/** Waits for a number of seconds by the timer: `setmocktime` must not keep a wallet unlocked. */
const wait = (seconds: number): Effect.Effect<void> =>
  seconds <= LONGEST_TIMER
    ? Effect.sleep(1000 * seconds)
    : Effect.zipRight(Effect.sleep(1000 * LONGEST_TIMER), Effect.suspend(() => wait(seconds - LONGEST_TIMER)))

export const makeVault = (file: WalletFile, rules: RenewalRules): Effect.Effect<Vault, never, Scope.Scope> =>
  Effect.gen(function*() {
    const scope = yield* Effect.scope
    const document = () => file.document
    let open = file.document.encryption === undefined ? new Secrets(document, undefined) : undefined
    /**
     * Each unlock that goes on, with its end in seconds since 1970. A timer ends it, never a clock that a caller can set. A timer
     * that has fired can still run after its unlock was replaced, so each one ends only the object that it was started for.
     */
    const until = new Map<Unlock, { readonly time: number }>()
    const timers = new Map<Unlock, Fiber.Fiber<void>>()
    let ended = false
    /** Whether the secrets were checked against the file. Unencrypted secrets were checked when the file was opened. */
    let compared = file.document.encryption === undefined
    /** Of two concurrent calls that change the encryption, the second has to see the result of the first. */
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

    /** Whether the wallet is open for renewals alone. */
    const renewalsOnly = (): boolean => until.has("renewals") && !until.has("all")

    /** Ends one unlock. The other one goes on, with other secrets: a caller that holds those of the full unlock cannot use them longer. */
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
        const problem = renewalProblem(transaction, spent, rules)
        return problem === undefined ? Effect.succeed(open) : Effect.fail(new KeysLocked({ renewalsOnly: problem }))
      })

    const encrypt: Vault["encrypt"] = (passphrase) =>
      Effect.gen(function*() {
        const change = yield* encryption(file.document, passphrase)
        yield* Effect.uninterruptible(Effect.zipRight(file.update(change), Effect.sync(close)))
      }).pipe(Effect.scoped, alone)

    /** Refuses secrets that contradict the file: signatures made with them would be wrong. One check is enough. */
    const compare = (secrets: Secrets): Effect.Effect<void, WalletDamaged> =>
      Effect.gen(function*() {
        if (compared) return
        const { problem } = yield* checkSecrets(document(), secrets)
        if (problem !== undefined) return yield* new WalletDamaged({ file: file.path, found: problem })
        compared = true
      })

    /**
     * Keeps the wallet unlocked for a number of seconds. A full unlock leaves the time for renewals as it is, which goes on beside
     * it; one for renewals ends a full unlock. A wallet that was unloaded meanwhile stays locked.
     */
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
        // It outlives the call that unlocks.
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
