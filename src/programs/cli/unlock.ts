import * as Effect from "effect/Effect"
import { dayText, quantityOf, spanText } from "../../base/quantities.ts"
import { LONGEST_UNLOCK } from "../../base/unlockTime.ts"
import { MIN_FIRSTUPDATE_DEPTH } from "../../consensus/names.ts"
import type { Json } from "../../rpc/json/json.ts"
import type { RpcClientError } from "../../rpc/RpcClient.ts"
import { ask, BLOCK_SECONDS } from "./ask.ts"
import type { OwnContext } from "./commandContext.ts"
import type { Daemon } from "./daemon.ts"
import { at, indented, numberAt, objectOf, textAt } from "./jsonText.ts"
import { type CliOutcome, CommandFailed, quotedArgument, success } from "./outcome.ts"
import { IN_HEX, type OwnNameEntry, ownNamesOf, shownBytes } from "./ownNames.ts"
import { withPassphrase } from "./passphrase.ts"

/** `svcd-cli unlock` and `svcd-cli lock`. */

const DAY = 86_400

/** Seconds. */
const UNITS: Readonly<Record<string, number>> = { m: 60, h: 3_600, d: DAY, w: 7 * DAY }

/** Long enough for a payment. */
const FOR_ANYTHING = 600

/** The next renewal of a name is at most 250 days away. */
const FOR_RENEWALS = 365 * DAY

/** From here on, an unlock for anything is worth a warning. */
const LONG = DAY

/** `10m`, `12h`, `30d` or `4w` in seconds. */
export const secondsOf = (text: string): number | undefined => {
  const [, count = "", unit = ""] = /^(\d{1,7})([mhdw])$/.exec(text) ?? []
  const seconds = Number(count) * (UNITS[unit] ?? 0)
  return seconds < 1 || seconds > LONGEST_UNLOCK ? undefined : seconds
}

const durationIn = (text: string | undefined, renewals: boolean): Effect.Effect<number, CommandFailed> => {
  if (text === undefined) return Effect.succeed(renewals ? FOR_RENEWALS : FOR_ANYTHING)
  const seconds = secondsOf(text)
  return seconds === undefined
    ? new CommandFailed({
      message: `-for: ${quotedArgument(text)} is not a duration such as 10m, 12h, 30d or 4w, up to ` +
        `${Math.floor(LONGEST_UNLOCK / DAY)} days`
    })
    : Effect.succeed(seconds)
}

export const notEncrypted = ({ cli }: Pick<Daemon, "cli">): CommandFailed =>
  new CommandFailed({
    message:
      "the wallet is not encrypted: it needs no passphrase, and any reader of its file can take its coins and names",
    remedy: `"${cli} encrypt" encrypts it`
  })

const isEncrypted = (wallet: Json): boolean => numberAt(wallet, "unlocked_until") !== undefined

/** Registrations with a step that still needs the passphrase. */
const waitingIn = (registrations: Json | undefined): ReadonlyArray<OwnNameEntry> =>
  ownNamesOf(registrations).filter(({ said, value }) =>
    // Without a value, the wallet does not continue it automatically.
    value !== undefined && ["committed", "maturing"].includes(textAt(said, "step") ?? "")
  )

/** Blocks until the wallet signs the second transaction. `blocks_left` of a commitment counts only to its own block. */
const blocksLeft = ({ said }: OwnNameEntry): number =>
  (numberAt(said, "blocks_left") ?? 0) + (textAt(said, "step") === "committed" ? MIN_FIRSTUPDATE_DEPTH - 1 : 0)

interface Unlocked extends Pick<Daemon, "cli"> {
  readonly renewals: boolean
  readonly seconds: number
  /** Blocks come at a steady rate. */
  readonly dated: boolean
}

const registrationLines = (
  waiting: ReadonlyArray<OwnNameEntry>,
  { cli, dated, renewals, seconds }: Unlocked
): ReadonlyArray<string> => {
  const [first] = waiting
  if (first === undefined) return []
  const which = waiting.length === 1
    ? `The registration of ${shownBytes(first.name)}`
    : `${quantityOf(waiting.length, "registration")}, such as that of ${shownBytes(first.name)},`
  const blocks = Math.max(...waiting.map(blocksLeft))
  const left = dated ? blocks * BLOCK_SECONDS : 0
  const when = blocks === 0
    ? " now"
    : `, in ${quantityOf(blocks, "block")}${dated ? ` (about ${spanText(left)})` : ""}`
  if (!renewals && left <= seconds) {
    return [
      `${which} continue${waiting.length === 1 ? "s" : ""} automatically${when}.`
    ]
  }
  const time = left < FOR_ANYTHING ? "" : ` -for ${Math.ceil(left / 3_600) + 1}h`
  return [
    `${which} need${waiting.length === 1 ? "s" : ""} the wallet unlocked for everything${when}: "${cli} unlock${time}"`
  ]
}

const untilText = ({ seconds, until }: { readonly seconds: number; readonly until: number }): string =>
  seconds < LONG
    ? `for ${spanText(seconds)}`
    : `for ${quantityOf(Math.round(seconds / DAY), "day")}, until ${dayText(until)}`

const unlockedLines = (
  wallet: Json,
  { cli, renewals, seconds }: Unlocked
): ReadonlyArray<string> => {
  const until = numberAt(wallet, "unlocked_until") ?? 0
  if (renewals) {
    return [
      `The wallet is unlocked for renewals ${untilText({ seconds, until })}. It signs nothing else.`,
      `Unlock it again after each restart of svcd. "${cli} lock" ends it.`
    ]
  }
  const renewsUntil = numberAt(wallet, "renewals_until") ?? 0
  return [
    `The wallet is unlocked ${untilText({ seconds, until })}. "${cli} lock" locks it earlier.`,
    ...renewsUntil > until ? [`After that, it renews its names until ${dayText(renewsUntil)}.`] : [],
    ...seconds > LONG
      ? [
        `Until then, any program that may call the node can spend its coins. "${cli} unlock -renewals" is safer: ` +
        "the wallet then signs renewals only."
      ]
      : []
  ]
}

export const unlockCommand = (
  { daemon, input, line }: OwnContext
): Effect.Effect<CliOutcome, RpcClientError | CommandFailed> =>
  Effect.gen(function*() {
    const renewals = line.wants("renewals")
    const seconds = yield* durationIn(line.text("for"), renewals)
    if (!isEncrypted(yield* daemon.ask("getwalletinfo"))) return yield* notEncrypted(daemon)
    yield* withPassphrase(input, (passphrase) => daemon.call("walletpassphrase", [passphrase, seconds, renewals]))
    const wallet = yield* daemon.ask("getwalletinfo")
    if (line.wants("json")) {
      return success(`${
        indented(objectOf({
          unlocked_until: at(wallet, "unlocked_until"),
          renewals_only: at(wallet, "renewals_only") === true,
          renewals_until: at(wallet, "renewals_until")
        }))
      }\n`)
    }
    const waiting = waitingIn(yield* ask(daemon, "name_registrations", IN_HEX))
    const dated = waiting.length > 0 && textAt(yield* ask(daemon, "getblockchaininfo"), "chain") !== "regtest"
    const what = { cli: daemon.cli, renewals, seconds, dated }
    return success([...unlockedLines(wallet, what), ...registrationLines(waiting, what), ""].join("\n"))
  })

export const lockCommand = ({ daemon, line }: OwnContext): Effect.Effect<CliOutcome, RpcClientError | CommandFailed> =>
  Effect.gen(function*() {
    if (!isEncrypted(yield* daemon.ask("getwalletinfo"))) return yield* notEncrypted(daemon)
    yield* daemon.call("walletlock")
    if (line.wants("json")) return success(`${indented(objectOf({ unlocked_until: 0 }))}\n`)
    return success(`The wallet is locked. It renews no names until it is unlocked: "${daemon.cli} unlock -renewals"\n`)
  })
