import * as Effect from "effect/Effect"
import { fromHex } from "../../protocol/bytes.ts"
import { encodeText } from "../../protocol/nameText.ts"
import type { Json } from "../../rpc/json/json.ts"
import { RPC_CODE } from "../../rpc/method/RpcError.ts"
import type { RpcClientError } from "../../rpc/RpcClient.ts"
import type { HostBelow, Surprise } from "../../values/readName.ts"
import { ask } from "./ask.ts"
import type { Daemon } from "./daemon.ts"
import { at, numberAt, textAt } from "./jsonText.ts"
import { freeHint, readingSurprises, readWord } from "./nameHints.ts"
import { CommandFailed } from "./outcome.ts"
import type { Shown } from "./ownNames.ts"

export const ONE_NAME = { nameEncoding: "utf8", valueEncoding: "hex" } as const

/** Sends or fails: what a wallet without private keys would answer is not sent. */
export const SENT_NAME = { ...ONE_NAME, psbt: false } as const

export interface NameState {
  readonly said: Json
  readonly value: Shown
  /** Blocks; 0 or less if expired. */
  readonly expiresIn: number
  /** `undefined` if the daemon has no wallet, or several. */
  readonly mine: boolean | undefined
}

export const shownHex = (hex: string | undefined): Shown => {
  const bytes = fromHex(hex ?? "") ?? new Uint8Array()
  return { text: encodeText(bytes, "utf8"), hex: hex ?? "" }
}

/** Including an expired one; `undefined` if never registered. */
export const nameState = (daemon: Daemon, name: string): Effect.Effect<NameState | undefined, RpcClientError> =>
  Effect.catchIf(
    Effect.map(daemon.ask("name_show", [name, { ...ONE_NAME, allowExpired: true }]), (said): NameState => {
      const mine = at(said, "ismine")
      return {
        said,
        value: shownHex(textAt(said, "value")),
        expiresIn: numberAt(said, "expires_in") ?? 0,
        mine: typeof mine === "boolean" ? mine : undefined
      }
    }),
    (error) => error._tag === "RpcFailure" && error.code === RPC_CODE.wallet,
    () => Effect.succeed(undefined)
  )

export interface UsedName {
  readonly name: string
  readonly host: HostBelow | undefined
  /** What a person may not expect of the reading. */
  readonly surprises: ReadonlyArray<Surprise>
}

/** The name that a word means. Where the reading is in doubt, the text itself if it is the only one in use. */
export const usedName = (
  daemon: Daemon,
  word: string | undefined
): Effect.Effect<UsedName, RpcClientError | CommandFailed> =>
  Effect.gen(function*() {
    const reading = yield* readWord(word)
    const surprises = readingSurprises(reading)
    const meant = { name: reading.text, host: reading.host, surprises }
    const isCertain = surprises.every(({ code }) => code !== "assumed" && code !== "upper-case")
    if (isCertain || ((yield* nameState(daemon, reading.text))?.expiresIn ?? 0) > 0) return meant
    const exact = yield* nameState(daemon, reading.typed)
    return exact !== undefined && exact.expiresIn > 0 ? { name: reading.typed, host: undefined, surprises: [] } : meant
  })

const ownName = (daemon: Daemon, name: string): Effect.Effect<NameState, RpcClientError | CommandFailed> =>
  Effect.flatMap(nameState(daemon, name), (state) => {
    if (state === undefined) {
      return new CommandFailed({ message: `${name} is not registered; ${freeHint(daemon, name)}` })
    }
    if (state.expiresIn <= 0) {
      return new CommandFailed({
        message: `${name} has expired, and anyone can register it again: "${daemon.cli} register ${name}"`
      })
    }
    if (state.mine === false) {
      return new CommandFailed({ message: `${name} belongs to another owner; "${daemon.cli} name ${name}" shows it` })
    }
    return Effect.succeed(state)
  })

/** The network takes one operation per name at a time. */
const nothingPending = (daemon: Daemon, name: string): Effect.Effect<void, RpcClientError | CommandFailed> =>
  Effect.flatMap(
    ask(daemon, "name_pending", [name, ONE_NAME]),
    (pending) =>
      Array.isArray(pending) && pending.length > 0
        ? new CommandFailed({
          message: `an operation on ${name} waits for a block; "${daemon.cli} name ${name}" shows it`
        })
        : Effect.void
  )

export const updatableName = (daemon: Daemon, name: string): Effect.Effect<NameState, RpcClientError | CommandFailed> =>
  Effect.zipLeft(ownName(daemon, name), nothingPending(daemon, name))

/** Fails if the value has changed since it was shown: answering a question may take long. */
export const stillHas = (
  daemon: Daemon,
  { name, shown }: { readonly name: string; readonly shown: Shown }
): Effect.Effect<void, RpcClientError | CommandFailed> =>
  Effect.flatMap(updatableName(daemon, name), ({ value }) =>
    value.hex === shown.hex
      ? Effect.void
      : new CommandFailed({
        message: `nothing was done, because the value of ${name} has changed in the meantime; repeat the command`
      }))
