import * as Effect from "effect/Effect"
import { unixTime } from "../../base/clock.ts"
import { outlookColumn } from "../../base/outlookWords.ts"
import { dayText, grouped, quantityOf } from "../../base/quantities.ts"
import { UNSEEN_WORDS } from "../../base/recoveryWords.ts"
import { toHex } from "../../protocol/bytes.ts"
import type { Json } from "../../rpc/json/json.ts"
import type { RpcClientError } from "../../rpc/RpcClient.ts"
import { NAME_STATES } from "../../rpc/words.ts"
import { namesMeant } from "../../values/readName.ts"
import { ask, BLOCK_SECONDS } from "./ask.ts"
import type { Daemon } from "./daemon.ts"
import { at, indented, objectOf, textAt } from "./jsonText.ts"
import { ofWallet, type Screen } from "./outcome.ts"
import { alertLine, type NameAlert, needsOwner, outlookCell, toldOutlook } from "./outlooks.ts"
import {
  entryJson,
  IN_HEX,
  isAlive,
  nameWithDomain,
  type OwnedName,
  ownedNames,
  type OwnNameEntry,
  ownNamesOf,
  renewalOf,
  RENEWALS_IN_HEX,
  renewsAll,
  type Shown,
  shownBytes,
  switchedOff,
  waitingWords
} from "./ownNames.ts"
import { isNews, isRecent, registrationJson, registrationTable } from "./registrations.ts"
import { renewNow, renewSoon } from "./status.ts"
import { type Colour, painted, table, type TableCell } from "./table.ts"

export interface NamesCommandOptions {
  readonly prefix: string
  /** Includes expired and transferred names, and old failed registrations. */
  readonly all: boolean
  readonly expiring: number | undefined
  readonly json: boolean
}

export interface OwnNames extends Pick<Daemon, "cli"> {
  readonly names: ReadonlyArray<OwnedName>
  /** Not shown. */
  readonly expired: ReadonlyArray<OwnedName>
  readonly alerts: ReadonlyArray<NameAlert>
  readonly given: number
  readonly pending: ReadonlyArray<OwnNameEntry>
  readonly registrations: ReadonlyArray<OwnNameEntry>
  /** Requested renewals not sent: waiting, or given up. */
  readonly unsent: ReadonlyArray<OwnNameEntry>
  /** `undefined` if the daemon does not say. */
  readonly renews: ((name: Shown) => boolean) | undefined
  /** Except those that the owner excluded. */
  readonly renewsAll: boolean
  readonly someOff: boolean
  /** The seed phrase was never shown; `false` on regtest, where nothing is worth a backup. */
  readonly wordsUnseen: boolean
  readonly dated: boolean
  /** Unix time in seconds. */
  readonly now: number
}

/** Waiting, or skipped recently without a renewal since. Sent ones are among the pending operations. */
const isUnsent = (entry: OwnNameEntry, { all, now }: { readonly all: boolean; readonly now: number }): boolean => {
  const state = textAt(entry.said, "state")
  return state === "waiting" ||
    (state === "skipped" && (all || at(entry.said, "settled") !== true && isRecent(entry, now)))
}

/** The lost ones, then the first to expire first. */
const alertsIn = (names: ReadonlyArray<OwnedName>): ReadonlyArray<NameAlert> =>
  names.flatMap((each) => {
    const outlook = toldOutlook(each)
    return needsOwner(outlook) ? [{ name: each.name, wallet: undefined, outlook }] : []
  })

/** In hex: as typed, and what it may mean, such as `d/foo` for `foo` and `foo.bit`. */
const beginsOf = (prefix: string): ReadonlyArray<string> =>
  [new TextEncoder().encode(prefix), ...prefix === "" ? [] : namesMeant(prefix)].map(toHex)

export const select = (
  answers: {
    readonly list: Json
    readonly pending: Json | undefined
    readonly registrations: Json | undefined
    readonly renewals: Json | undefined
    readonly requested: Json | undefined
    readonly wallet: Json | undefined
  },
  { all, expiring, prefix }: NamesCommandOptions,
  { cli, dated, now }: Pick<OwnNames, "cli" | "dated" | "now">
): OwnNames => {
  const begins = beginsOf(prefix)
  const fits = ({ name }: OwnNameEntry): boolean => begins.some((begin) => name.hex.startsWith(begin))
  const owned = ownedNames(answers.list).filter(fits)
  const shown = owned.filter((name) =>
    expiring === undefined ? all || isAlive(name) : isAlive(name) && name.expiresIn <= expiring
  )
  const isShown = (entry: OwnNameEntry): boolean =>
    fits(entry) && (all ? textAt(entry.said, "step") !== "done" : isNews(entry, now))
  const under = expiring === undefined
  const isOff = switchedOff(answers.renewals)
  return {
    cli,
    names: shown,
    expired: all || !under ? [] : owned.filter(({ expiresIn, mine }) => mine && expiresIn <= 0),
    // An unconfirmed operation and the others are in the tables below.
    alerts: under ? alertsIn(owned) : [],
    given: all || !under ? 0 : owned.filter(({ mine }) => !mine).length,
    pending: under ? ownNamesOf(answers.pending).filter((entry) => fits(entry) && entry.mine) : [],
    registrations: under ? ownNamesOf(answers.registrations).filter(isShown) : [],
    unsent: under ? ownNamesOf(answers.requested).filter((entry) => fits(entry) && isUnsent(entry, { all, now })) : [],
    renews: renewalOf(answers.renewals),
    renewsAll: renewsAll(answers.renewals),
    someOff: owned.some((name) => isAlive(name) && isOff(name.name)),
    wordsUnseen: under && dated && at(answers.wallet, "phrase_kept") === false,
    dated,
    now
  }
}

const gather = (daemon: Daemon, options: NamesCommandOptions): Effect.Effect<OwnNames, RpcClientError> =>
  Effect.gen(function*() {
    // Alone at first: the answer shows whether there is a wallet, and which one.
    const list = yield* daemon.ask("name_list", IN_HEX)
    const rest = yield* Effect.all({
      pending: ask(daemon, "name_pending", IN_HEX),
      registrations: ask(daemon, "name_registrations", IN_HEX),
      renewals: ask(daemon, "name_autorenew", RENEWALS_IN_HEX),
      requested: ask(daemon, "name_renewals", RENEWALS_IN_HEX),
      wallet: ask(daemon, "getwalletinfo"),
      chain: ask(daemon, "getblockchaininfo")
    }, { concurrency: "unbounded" })
    const now = yield* unixTime
    return select({ list, ...rest }, options, {
      cli: daemon.cli,
      now,
      dated: textAt(rest.chain, "chain") !== "regtest"
    })
  })

const urgency = ({ expiresIn, mine }: OwnedName, dated: boolean): Colour | undefined => {
  if (!mine || expiresIn <= 0) return "dim"
  return expiresIn <= renewNow(!dated) ? "red" : expiresIn <= renewSoon(!dated) ? "yellow" : undefined
}

const expiryText = ({ expiresIn, mine }: OwnedName): string =>
  expiresIn <= 0 ? NAME_STATES.expired : mine ? quantityOf(expiresIn, "block") : "given away"

const NAME = { title: "NAME", atLeast: 16 }
const VALUE = { title: "VALUE", atLeast: 8 }

const valueCell = ({ value }: OwnNameEntry): TableCell => ({ text: value === undefined ? "" : shownBytes(value) })

/** Without the daemon's judgement, only the setting is known. */
const renewalCell = (name: OwnedName, renews: (name: Shown) => boolean): TableCell => {
  const outlook = toldOutlook(name)
  if (outlook !== undefined) return outlookCell(outlook)
  return !isAlive(name)
    ? { text: "" }
    : renews(name.name)
    ? { text: "on" }
    : { text: outlookColumn("by-hand"), colour: "yellow" }
}

const nameTable = ({ dated, names, now, renews }: OwnNames, screen: Screen): ReadonlyArray<string> =>
  names.length === 0 ? [] : table(
    [
      NAME,
      { title: "EXPIRES IN", align: "right" },
      ...(dated ? [{ title: "ABOUT" }] : []),
      ...(renews === undefined ? [] : [{ title: "RENEWAL" }]),
      VALUE
    ],
    names.map((name) => [
      { text: nameWithDomain(name.name), colour: urgency(name, dated) },
      { text: expiryText(name), colour: urgency(name, dated) },
      ...(dated ? [{ text: name.expiresIn <= 0 ? "" : dayText(now + name.expiresIn * BLOCK_SECONDS) }] : []),
      ...(renews === undefined ? [] : [renewalCell(name, renews)]),
      valueCell(name)
    ]),
    screen
  )

const pendingTable = ({ names, pending }: OwnNames, screen: Screen): ReadonlyArray<string> => {
  const words = waitingWords(pending, names)
  return pending.length === 0 ? [] : [
    "",
    painted("Pending", "bold", screen),
    ...table(
      [NAME, { title: "OPERATION" }, { title: "TRANSACTION", atLeast: 12 }, VALUE],
      pending.map((entry, index) => [
        { text: nameWithDomain(entry.name) },
        { text: words[index] ?? "" },
        { text: textAt(entry.said, "txid") ?? "" },
        valueCell(entry)
      ]),
      screen
    )
  ]
}

const registrationLines = ({ cli, dated, registrations }: OwnNames, screen: Screen): ReadonlyArray<string> =>
  registrations.length === 0
    ? []
    : ["", painted("Registrations", "bold", screen), ...registrationTable(registrations, { cli, dated, screen })]

const renewalTable = ({ unsent }: OwnNames, screen: Screen): ReadonlyArray<string> =>
  unsent.length === 0 ? [] : [
    "",
    painted("Unsent renewals", "bold", screen),
    ...table(
      [NAME, { title: "STATE" }, { title: "NOTE", atLeast: 20 }],
      unsent.map(({ name, said }) => {
        const state = textAt(said, "state") ?? ""
        return [
          { text: nameWithDomain(name) },
          { text: state, colour: state === "skipped" ? "yellow" as const : undefined },
          { text: textAt(said, "note") ?? "is sent after one of the next blocks" }
        ]
      }),
      screen
    )
  ]

/** Alerts, and hidden names, written out. */
const MOST_SHOWN = 10
const MOST_NAMED = 3

const namesOf = (names: ReadonlyArray<OwnedName>): string => {
  const others = names.length - MOST_NAMED
  const shown = names.slice(0, MOST_NAMED).map(({ name }) => nameWithDomain(name)).join(", ")
  return others > 0 ? `${shown} and ${quantityOf(others, "other", "others")}` : shown
}

const remarks = (
  { alerts, cli, dated, expired, given, names, pending, renews, renewsAll, someOff, wordsUnseen }: OwnNames
): ReadonlyArray<string> => {
  const renewed = new Set(pending.map(({ name }) => name.hex))
  const byHand = (name: OwnedName): boolean => isAlive(name) && renews?.(name.name) !== true
  const soon = names.filter((name) =>
    byHand(name) && name.expiresIn <= renewSoon(!dated) && !renewed.has(name.name.hex)
  )
  const hidden = [
    ...(expired.length === 0 ? [] : [`${namesOf(expired)} (expired)`]),
    ...(given === 0 ? [] : [`${grouped(given)} given away`])
  ]
  return [
    ...alerts.slice(0, MOST_SHOWN).map((alert) => `Warning: ${alertLine(alert, cli)}`),
    ...(alerts.length > MOST_SHOWN
      ? [`Warning: ${quantityOf(alerts.length - MOST_SHOWN, "more name needs you", "more names need you")}.`]
      : []),
    ...(soon.length === 0
      ? []
      : [
        `${quantityOf(soon.length, "name expires", "names expire")} within ${
          dated ? "four weeks" : quantityOf(renewSoon(true), "block")
        }; "${cli} renew NAME" renews one.`
      ]),
    ...(renews === undefined || !names.some(byHand)
      ? []
      : renewsAll
      ? [`"${cli} autorenew NAME on" turns the renewal of a name back on.`]
      : [
        `"${cli} autorenew NAME on" renews a name automatically, ` +
        `"${cli} autorenew -all on" all names of the wallet${someOff ? ", including those you turned off" : ""}.`
      ]),
    ...(hidden.length === 0 ? [] : [`Not shown: ${hidden.join(", ")}; -all shows them.`]),
    ...(wordsUnseen ? [`Warning: ${ofWallet(UNSEEN_WORDS, { cli })}`] : [])
  ]
}

const emptyText = ({ expiring, prefix }: NamesCommandOptions, { cli, expired, renews }: OwnNames): string => {
  if (expiring !== undefined) return `No name expires within ${quantityOf(expiring, "block")}.`
  // The lines below say what became of them.
  if (expired.length > 0) return "No name of the wallet is alive."
  // Namecoin Core has neither renewals nor registrations in one call.
  const how = renews === undefined
    ? `"${cli} name_new NAME" begins a registration.`
    : `"${cli} register NAME" registers one.`
  return prefix === ""
    ? `The wallet has no names. ${how}`
    : "The wallet has no names with this prefix."
}

export const namesText = (own: OwnNames, options: NamesCommandOptions, screen: Screen): string => {
  const main = nameTable(own, screen)
  const below = remarks(own)
  return [
    ...(main.length === 0 ? [emptyText(options, own)] : main),
    ...pendingTable(own, screen),
    ...renewalTable(own, screen),
    ...registrationLines(own, screen),
    ...(below.length === 0 ? [] : ["", ...below]),
    ""
  ].join("\n")
}

export const namesJson = ({ dated, names, now, pending, registrations, renews, unsent }: OwnNames): Json =>
  objectOf({
    names: names.map((entry) =>
      objectOf({
        ...entryJson(entry, "expires_in", "expired", "ismine", "height", "txid", "vout", "address"),
        expires_about: dated ? now + entry.expiresIn * BLOCK_SECONDS : undefined,
        autorenew: renews === undefined ? undefined : isAlive(entry) && renews(entry.name),
        outlook: at(entry.said, "outlook")
      })
    ),
    pending: pending.map((entry) => objectOf(entryJson(entry, "op", "txid", "vout", "address"))),
    renewals: unsent.map((entry) => objectOf(entryJson(entry, "state", "note", "time"))),
    registrations: registrations.map(registrationJson)
  })

export const namesCommand = (
  daemon: Daemon,
  screen: Screen,
  options: NamesCommandOptions
): Effect.Effect<string, RpcClientError> =>
  Effect.map(
    gather(daemon, options),
    (own) => options.json ? `${indented(namesJson(own))}\n` : namesText(own, options, screen)
  )
