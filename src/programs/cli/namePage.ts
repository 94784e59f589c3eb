import * as Effect from "effect/Effect"
import { unixTime } from "../../base/clock.ts"
import { agoText } from "../../base/outlookWords.ts"
import { dayText, grouped, quantityOf } from "../../base/quantities.ts"
import { shellWord } from "../../base/safeText.ts"
import { fromHex } from "../../protocol/bytes.ts"
import { bitDomainOf } from "../../protocol/nameText.ts"
import type { Json } from "../../rpc/json/json.ts"
import type { RpcClientError } from "../../rpc/RpcClient.ts"
import { EXPIRED_SEES } from "../../values/lint.ts"
import { ask, BLOCK_SECONDS } from "./ask.ts"
import type { OwnContext } from "./commandContext.ts"
import type { Daemon } from "./daemon.ts"
import { at, indented, numberAt, objectOf, objectsOf, textAt } from "./jsonText.ts"
import { freeHint, noteLines } from "./nameHints.ts"
import { type NameState, nameState, ONE_NAME, shownHex, usedName } from "./nameRecord.ts"
import { type CliInput, type CliOutcome, type CommandFailed, type Screen } from "./outcome.ts"
import { dangerRemedy, isLostName, outlookColour, type ToldOutlook, toldOutlook } from "./outlooks.ts"
import {
  historyWords,
  type OwnNameEntry,
  ownNamesOf,
  renewalOf,
  RENEWALS_IN_HEX,
  type Shown,
  shownBytes,
  waitingWords
} from "./ownNames.ts"
import { registrationNote } from "./registrations.ts"
import { renewSoon } from "./status.ts"
import { type Colour, labelled, painted, table } from "./table.ts"
import { shownText } from "./textWidth.ts"
import { recordReport, reportJson, roomText, valueLines, type ValueReport } from "./valueReport.ts"

const UTF8 = new TextEncoder()

interface NamePage extends Pick<Daemon, "cli"> {
  readonly name: string
  readonly hex: string
  readonly domain: string | undefined
  readonly state: NameState | undefined
  readonly report: ValueReport | undefined
  readonly expiresAt: number | undefined
  /** `undefined` for a name that is not the wallet's. */
  readonly renews: boolean | undefined
  /** For a name that is or was the wallet's. */
  readonly outlook: ToldOutlook | undefined
  readonly pending: ReadonlyArray<OwnNameEntry>
  readonly registration: Json | undefined
  /** Oldest first; `undefined` if the daemon keeps none. */
  readonly history: ReadonlyArray<Json> | undefined
  readonly dated: boolean
  /** Unix time in seconds. */
  readonly now: number
}

const IN_HEX = { nameEncoding: "hex", valueEncoding: "hex" } as const

const gather = ({ daemon }: Pick<OwnContext, "daemon">, name: string): Effect.Effect<NamePage, RpcClientError> =>
  Effect.gen(function*() {
    const state = yield* nameState(daemon, name)
    const { chain, history, listed, pending, registrations, renewals } = yield* Effect.all({
      chain: ask(daemon, "getblockchaininfo"),
      history: ask(daemon, "name_history", [name, ONE_NAME]),
      pending: ask(daemon, "name_pending", { options: IN_HEX }),
      registrations: ask(daemon, "name_registrations", { options: IN_HEX }),
      renewals: ask(daemon, "name_autorenew", RENEWALS_IN_HEX),
      listed: ask(daemon, "name_list", [name, ONE_NAME])
    }, { concurrency: "unbounded" })
    const hex = Buffer.from(name, "utf8").toString("hex")
    const isThis = (entry: OwnNameEntry): boolean => entry.name.hex === hex
    const isMine = state?.mine === true && state.expiresIn > 0
    const blocks = numberAt(chain, "blocks")
    return {
      cli: daemon.cli,
      name,
      hex,
      domain: bitDomainOf(UTF8.encode(name)),
      state,
      report: state &&
        recordReport({ name, value: fromHex(state.value.hex) ?? new Uint8Array() }, { expired: state.expiresIn <= 0 }),
      expiresAt: state === undefined || blocks === undefined ? undefined : blocks + state.expiresIn,
      renews: isMine ? renewalOf(renewals)?.({ text: name, hex }) : undefined,
      outlook: objectsOf(listed).map((said) => toldOutlook({ said }))[0],
      pending: ownNamesOf(pending).filter(isThis),
      registration: ownNamesOf(registrations).filter(isThis).map(({ said }) => said)
        .findLast((said) => !["done", "failed"].includes(textAt(said, "step") ?? "")),
      history: history === undefined ? undefined : objectsOf(history),
      dated: textAt(chain, "chain") !== "regtest",
      now: yield* unixTime
    }
  })

const aboutOf = ({ dated, now }: NamePage, blocks: number): string =>
  dated ? ` (about ${dayText(now + blocks * BLOCK_SECONDS)})` : ""

type Row = readonly [label: string, value: string, colour?: Colour | undefined]

const expiryRow = (page: NamePage, { expiresIn }: NameState): Row => {
  const height = page.expiresAt === undefined ? "" : ` at block ${grouped(page.expiresAt)}`
  if (expiresIn <= 0) return ["Expired", `${agoText(-expiresIn)}${height}`, "red"]
  return [
    "Expires",
    `in ${quantityOf(expiresIn, "block")}${height}${aboutOf(page, expiresIn)}`,
    expiresIn <= renewSoon(!page.dated) ? "yellow" : undefined
  ]
}

const renewalRow = ({ cli, hex, name, outlook, renews }: NamePage): ReadonlyArray<Row> => {
  if (outlook !== undefined && outlook.state !== "given") {
    const text = outlook.urgency === "ok"
      ? outlook.text
      : `${outlook.text}; ${dangerRemedy({ name: { text: name, hex }, outlook }, cli)}`
    return [[isLostName(outlook) ? "Lost" : "Renewal", text, outlookColour(outlook)]]
  }
  if (renews === undefined) return []
  return [
    renews
      ? ["Renewal", "on"]
      : ["Renewal", `by hand; "${cli} autorenew ${shellWord(name)} on" turns automatic renewal on`, "yellow"]
  ]
}

const registrationRow = ({ cli, registration }: NamePage): ReadonlyArray<Row> =>
  registration === undefined
    ? []
    : [[
      "Under way",
      [textAt(registration, "step") ?? "", registrationNote({ cli }, registration)].join(", "),
      "yellow"
    ]]

const EMPTY = "(empty)"

const valueText = (value: Shown): string => value.hex === "" ? EMPTY : shownBytes(value)

const recordRows = (page: NamePage, state: NameState): ReadonlyArray<Row> => [
  expiryRow(page, state),
  ...(state.expiresIn > 0 ? [] : [["Programs", EXPIRED_SEES] as const]),
  [
    state.expiresIn > 0 ? "Owner" : "Last owner",
    `${textAt(state.said, "address") ?? ""}${state.mine === true ? " (this wallet)" : ""}`
  ],
  ...renewalRow(page),
  ...registrationRow(page),
  ...(page.report === undefined ? [] : [[state.expiresIn > 0 ? "Value" : "Last value", roomText(page.report)] as const])
]

const pendingLines = ({ pending, state }: NamePage, screen: Screen): ReadonlyArray<string> => {
  const [first] = pending
  const words = waitingWords(
    pending,
    first === undefined || state === undefined ? [] : [{ ...state, name: first.name }]
  )
  return pending.length === 0 ? [] : [
    "",
    painted("Pending", "bold", screen),
    ...table(
      [
        { title: "OPERATION" },
        { title: "ADDRESS", atLeast: 12 },
        { title: "TRANSACTION", atLeast: 12 },
        { title: "VALUE", atLeast: 8 }
      ],
      pending.map(({ said, value }, index) => [
        { text: words[index] ?? "" },
        { text: textAt(said, "address") ?? "" },
        { text: textAt(said, "txid") ?? "" },
        { text: value === undefined ? "" : valueText(value) }
      ]),
      screen
    )
  ]
}

const historyLines = ({ history }: NamePage, last: number, screen: Screen): ReadonlyArray<string> => {
  if (history === undefined || history.length === 0 || last === 0) return []
  const words = historyWords(history.map((said) => ({ said, value: shownHex(textAt(said, "value")) })))
  const rows = history.map((record, index) => [
    { text: grouped(numberAt(record, "height") ?? 0) },
    { text: words[index] ?? "" },
    { text: textAt(record, "address") ?? "" },
    { text: valueText(shownHex(textAt(record, "value"))) }
  ])
  const left = history.length - last
  return [
    "",
    painted(`History${left > 0 ? `, the last ${last} of ${grouped(history.length)}` : ""}`, "bold", screen),
    ...table(
      [
        { title: "BLOCK", align: "right" },
        { title: "CHANGE" },
        { title: "OWNER", atLeast: 12 },
        { title: "VALUE", atLeast: 20 }
      ],
      rows.slice(-last).toReversed(),
      screen
    )
  ]
}

const headText = ({ domain, name }: NamePage): string =>
  shownText(domain === undefined ? name : `${name}, the domain ${domain}`)

const freeText = (page: NamePage, screen: Screen): string => {
  const { name, registration } = page
  if (registration !== undefined) {
    return [headText(page), "", ...labelled(registrationRow(page), screen), ""].join("\n")
  }
  const shown = shownText(name)
  return `${shown} is not registered; ${shownText(freeHint(page, name))}.\n`
}

const pageText = (page: NamePage, last: number, screen: Screen): string => {
  const { report, state } = page
  if (state === undefined) return freeText(page, screen)
  return [
    headText(page),
    "",
    ...labelled(recordRows(page, state), screen),
    ...(report === undefined ? [] : valueLines(shownBytes(state.value), report, screen)),
    ...pendingLines(page, screen),
    ...historyLines(page, last, screen),
    ...(state.expiresIn > 0
      ? []
      : ["", `Anyone can register it now: "${page.cli} register ${shownText(shellWord(page.name))}"`]),
    ""
  ].join("\n")
}

const recordJson = (said: Json) => {
  const value = shownHex(textAt(said, "value"))
  return {
    value: value.text ?? null,
    value_hex: value.hex,
    height: at(said, "height"),
    address: at(said, "address"),
    txid: at(said, "txid"),
    vout: at(said, "vout")
  }
}

const pageJson = (page: NamePage, last: number): Json => {
  const { history, name, now, report, state } = page
  return objectOf({
    name,
    name_hex: Buffer.from(name, "utf8").toString("hex"),
    domain: page.domain ?? null,
    state: state === undefined ? "free" : state.expiresIn > 0 ? "registered" : "expired",
    ...(state === undefined ? {} : {
      ...recordJson(state.said),
      mine: state.mine,
      expires_in: state.expiresIn,
      expires_at: page.expiresAt,
      expires_about: page.dated ? now + state.expiresIn * BLOCK_SECONDS : undefined
    }),
    autorenew: page.renews,
    outlook: page.outlook === undefined ? undefined : objectOf({ ...page.outlook }),
    ...(report === undefined ? {} : reportJson(report)),
    pending: page.pending.map(({ said, value }) =>
      objectOf({
        op: at(said, "op"),
        txid: at(said, "txid"),
        address: at(said, "address"),
        value: value?.text ?? null,
        value_hex: value?.hex
      })
    ),
    registration: page.registration === undefined ? null : objectOf({
      step: at(page.registration, "step"),
      note: at(page.registration, "note"),
      txid: at(page.registration, "txid")
    }),
    history: history === undefined ?
      null :
      history.slice(last === 0 ? history.length : -last).map((said) => objectOf(recordJson(said)))
  })
}

/** Exits with status 1 if the name is expired or not registered. */
export const nameCommand = (
  { daemon, input, line }: Pick<OwnContext, "daemon" | "line"> & { readonly input: Pick<CliInput, "screen"> },
  last: number
): Effect.Effect<CliOutcome, RpcClientError | CommandFailed> =>
  Effect.gen(function*() {
    const { name, surprises } = yield* usedName(daemon, line.words[0])
    const page = yield* gather({ daemon }, name)
    const json = line.wants("json")
    return {
      code: page.state !== undefined && page.state.expiresIn > 0 ? 0 : 1,
      stdout: json ? `${indented(pageJson(page, last))}\n` : pageText(page, last, input.screen),
      stderr: json ? "" : noteLines(surprises)
    }
  })
