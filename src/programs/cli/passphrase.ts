import * as Effect from "effect/Effect"
import * as Redacted from "effect/Redacted"
import { unixTime } from "../../base/clock.ts"
import { RPC_CODE } from "../../rpc/method/RpcError.ts"
import type { RpcClientError } from "../../rpc/RpcClient.ts"
import { MOST_TRIES, NoPassphrase, typedTwice, unanswered } from "../tool/newPassphrase.ts"
import { ask } from "./ask.ts"
import type { Daemon } from "./daemon.ts"
import { at, numberAt } from "./jsonText.ts"
import { type CliInput, CommandFailed } from "./outcome.ts"

/** Asks for passphrases, and unlocks the wallet for one command. */

/** The terminal, and the passphrases that `-stdin` gave in its place. */
export type PassphraseSource = Pick<CliInput, "prompt" | "passphrases">

const failedBy = ({ message, reason }: NoPassphrase): CommandFailed =>
  reason === "no-terminal"
    ? new CommandFailed({
      message: "the passphrase of the wallet is needed, and there is no terminal to ask for it; nothing was done",
      remedy: "-stdin reads it from standard input"
    })
    : new CommandFailed({ message: `${message}; nothing was done` })

const isWrong = (error: { readonly _tag: string; readonly code?: unknown }): boolean =>
  error._tag === "RpcFailure" && error.code === RPC_CODE.walletPassphraseIncorrect

/** Uses the passphrase of the wallet. If it is wrong, asks again. */
export const withPassphrase = <A>(
  { passphrases, prompt }: PassphraseSource,
  use: (passphrase: string) => Effect.Effect<A, RpcClientError>
): Effect.Effect<A, RpcClientError | CommandFailed> =>
  Effect.gen(function*() {
    const [given] = passphrases ?? []
    const tries = given === undefined ? MOST_TRIES : 1
    for (let before = "", left = tries; left > 0; left--) {
      const passphrase = given ?? (yield* prompt.secret(`${before}Passphrase of the wallet: `))
      if (passphrase === undefined) return yield* failedBy(unanswered(prompt))
      if (passphrase === "") return yield* failedBy(new NoPassphrase({ reason: "left" }))
      const done = yield* Effect.catchIf(Effect.asSome(use(passphrase)), isWrong, () => Effect.succeedNone)
      if (done._tag === "Some") return done.value
      before = "The passphrase is wrong. "
    }
    return yield* new CommandFailed({ message: "the passphrase is wrong; nothing was done" })
  })

/** The last passphrase that `-stdin` gave, else one that is typed twice. */
export const chosenPassphrase = ({ passphrases, prompt }: PassphraseSource): Effect.Effect<string, CommandFailed> => {
  const given = passphrases?.at(-1)
  if (given === "") return failedBy(new NoPassphrase({ reason: "left" }))
  return given === undefined
    ? Effect.mapBoth(typedTwice(prompt), { onSuccess: Redacted.value, onFailure: failedBy })
    : Effect.succeed(given)
}

/** Seconds; a command takes less. */
const UNLOCKED = 60

interface LockState {
  readonly locked: boolean
  /** Unix time in seconds until which the wallet renews names only. */
  readonly renewsUntil: number | undefined
}

const lockStateOf = (daemon: Daemon): Effect.Effect<LockState, RpcClientError> =>
  Effect.gen(function*() {
    const wallet = yield* ask(daemon, "getwalletinfo")
    const until = numberAt(wallet, "unlocked_until")
    const now = yield* unixTime
    const isOpen = until === undefined || until > now
    const renewsOnly = isOpen && at(wallet, "renewals_only") === true
    return { locked: !isOpen || renewsOnly, renewsUntil: renewsOnly ? until : undefined }
  })

/** Restores renewal-only unlocking, if there was one. */
const lockAgain = (
  daemon: Daemon,
  { passphrase, renewsUntil }: { readonly passphrase: string; readonly renewsUntil: number | undefined }
): Effect.Effect<void> =>
  Effect.gen(function*() {
    const left = renewsUntil === undefined ? 0 : renewsUntil - (yield* unixTime)
    yield* left > 0
      ? daemon.call("walletpassphrase", [passphrase, left, true])
      : daemon.call("walletlock")
  }).pipe(Effect.ignore)

export interface KeysWanted {
  readonly daemon: Daemon
  readonly input: PassphraseSource
  readonly purpose?: "renewals"
}

/** Asks for the passphrase of a locked wallet, and locks it again afterwards. */
export const withKeys = <A, E>(
  { daemon, input, purpose }: KeysWanted,
  work: Effect.Effect<A, E>
): Effect.Effect<A, E | RpcClientError | CommandFailed> =>
  Effect.gen(function*() {
    const { locked, renewsUntil } = yield* lockStateOf(daemon)
    if (!locked || (purpose === "renewals" && renewsUntil !== undefined)) return yield* work
    const passphrase = yield* withPassphrase(
      input,
      (typed) => Effect.as(daemon.call("walletpassphrase", [typed, UNLOCKED]), typed)
    )
    return yield* Effect.ensuring(work, lockAgain(daemon, { passphrase, renewsUntil }))
  })
