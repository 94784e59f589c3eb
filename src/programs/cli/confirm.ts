import * as Effect from "effect/Effect"
import { unixTime } from "../../base/clock.ts"
import type { Json } from "../../rpc/json/json.ts"
import { RPC_CODE } from "../../rpc/method/RpcError.ts"
import type { CallParams, RpcClientError } from "../../rpc/RpcClient.ts"
import type { Prompt } from "../tool/prompt.ts"
import { ask } from "./ask.ts"
import type { Daemon } from "./daemon.ts"
import { at, numberAt } from "./jsonText.ts"
import { CommandFailed, NAME, type Screen } from "./outcome.ts"

const YES = /^y(?:es)?$/i

/** Previews are never cut: a part of an address or a name would mislead. */
export const wholeOn = (screen: Screen): Screen => ({ ...screen, columns: undefined })

/** Returns the text to print with the outcome, empty if already shown. Fails without a yes or a terminal. */
export const agreed = (
  prompt: Prompt,
  { preview, question, yes }: { readonly preview: string; readonly question: string; readonly yes: boolean }
): Effect.Effect<string, CommandFailed> =>
  yes
    ? Effect.succeed(preview)
    : Effect.flatMap(prompt.line(`${preview}\n${question} [y/N] `), (answer) => {
      if (answer !== undefined && YES.test(answer.trim())) return Effect.succeed("")
      return new CommandFailed({
        message: answer === undefined
          ? `nothing was done, because there was no answer (-yes does not ask). This would be done:\n${preview}`
          : "nothing was done"
      })
    })

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

const LOCKED = `the wallet is locked: unlock it with "${NAME} -stdin walletpassphrase" and two lines: the ` +
  "passphrase, and the number of seconds"

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
  readonly prompt: Prompt
  readonly purpose?: "renewals"
}

/** Asks for the passphrase of a locked wallet, and locks it again afterwards. */
export const withKeys = <A, E>(
  { daemon, prompt, purpose }: KeysWanted,
  work: Effect.Effect<A, E>
): Effect.Effect<A, E | RpcClientError | CommandFailed> =>
  Effect.gen(function*() {
    const { locked, renewsUntil } = yield* lockStateOf(daemon)
    if (!locked || (purpose === "renewals" && renewsUntil !== undefined)) return yield* work
    const passphrase = yield* prompt.secret("Passphrase of the wallet: ")
    if (passphrase === undefined || passphrase === "") return yield* new CommandFailed({ message: LOCKED })
    yield* Effect.catchIf(
      daemon.call("walletpassphrase", [passphrase, UNLOCKED]),
      (error) => error._tag === "RpcFailure" && error.code === RPC_CODE.walletPassphraseIncorrect,
      () => new CommandFailed({ message: "the passphrase is wrong; nothing was done" })
    )
    return yield* Effect.ensuring(work, lockAgain(daemon, { passphrase, renewsUntil }))
  })

/** Sent once: a repetition could pay twice. Without an answer, the failure says that the payment may be done. */
export const spend = (
  daemon: Daemon,
  method: string,
  params: CallParams
): Effect.Effect<Json, RpcClientError | CommandFailed> =>
  Effect.catchIf(
    daemon.call(method, params),
    (error) => error._tag === "RpcUnreachable" && error.wasSent,
    (error) =>
      new CommandFailed({
        message: `${error.message}. The daemon may have executed the call: check with "${NAME} listtransactions" and ` +
          `"${NAME} names" before you retry`
      })
  )
