import * as Effect from "effect/Effect"
import { grouped, quantityOf } from "../../base/quantities.ts"
import { EXPIRATION_DEPTH } from "../../consensus/expiry.ts"
import { amountText, parseAmount } from "../../protocol/amount.ts"
import type { JsonValue } from "../../rpc/json/encodeJson.ts"
import type { Json } from "../../rpc/json/json.ts"
import type { RpcClientError } from "../../rpc/RpcClient.ts"
import type { Surprise } from "../../values/readName.ts"
import type { OwnContext } from "./commandContext.ts"
import { agreed, spend } from "./confirm.ts"
import { at, indented, numberAt, objectOf, spelledAt, textAt } from "./jsonText.ts"
import { knowingly } from "./nameHints.ts"
import { usedName } from "./nameRecord.ts"
import { type CliOutcome, CommandFailed, quotedArgument, type Screen, success } from "./outcome.ts"
import { nameWithDomain, type OwnNameEntry, ownNamesOf, shownBytes } from "./ownNames.ts"
import { withKeys } from "./passphrase.ts"
import { table } from "./table.ts"

/** In blocks, one per ten minutes. */
const UNITS: Readonly<Record<string, number>> = { "": 1, h: 6, d: 144, w: 1_008 }

/** `4w`, `10d`, `12h` or a number of blocks. */
export const blocksWithin = (text: string): number | undefined => {
  const [, count = "", unit = ""] = /^(\d{1,6})([hdw]?)$/.exec(text) ?? []
  const blocks = Number(count) * (UNITS[unit] ?? 0)
  return count === "" || blocks < 1 || blocks > EXPIRATION_DEPTH ? undefined : blocks
}

const IN_HEX = { nameEncoding: "hex" } as const

interface Wanted {
  /** As `name_renew` takes them. */
  readonly names: JsonValue
  readonly surprises: ReadonlyArray<Surprise>
}

const givenNames = ({ daemon, line }: Pick<OwnContext, "daemon" | "line">) =>
  Effect.map(Effect.forEach(line.words, (word) => usedName(daemon, word)), (used): Wanted => ({
    names: used.map(({ name }) => Buffer.from(name, "utf8").toString("hex")),
    surprises: used.flatMap(({ surprises }) => surprises)
  }))

const wanted = (
  { daemon, line }: Pick<OwnContext, "daemon" | "line">
): Effect.Effect<Wanted, CommandFailed | RpcClientError> => {
  const within = line.text("within")
  const ways = [line.words.length > 0, line.wants("all"), within !== undefined].filter((given) => given).length
  if (ways !== 1) {
    return new CommandFailed({ message: "give names, or -all, or -within TIME" })
  }
  if (line.wants("all")) return Effect.succeed({ names: "all", surprises: [] })
  if (within === undefined) return givenNames({ daemon, line })
  const blocks = blocksWithin(within)
  return blocks === undefined
    ? new CommandFailed({
      message: `-within: ${
        quotedArgument(within)
      } is neither a time such as 4w, 10d or 12h, nor a number of blocks up to ${EXPIRATION_DEPTH}`
    })
    : Effect.succeed({ names: blocks, surprises: [] })
}

const leftText = (blocks: number): string => blocks <= 0 ? "–" : quantityOf(blocks, "block")

const feeText = (said: Json): string | undefined => {
  const units = parseAmount(spelledAt(said, "fee") ?? "")
  return units === undefined ? undefined : amountText(units)
}

const previewOf = (draft: Json, screen: Screen): string =>
  table(
    [
      { title: "NAME", atLeast: 16 },
      { title: "EXPIRES IN", align: "right" },
      { title: "FEE", align: "right" },
      { title: "NOTE", atLeast: 20 }
    ],
    ownNamesOf(at(draft, "names")).map(({ name, said }) => [
      { text: nameWithDomain(name), colour: textAt(said, "state") === "skipped" ? "yellow" as const : undefined },
      { text: leftText(numberAt(said, "expires_in") ?? 0) },
      { text: feeText(said) ?? "" },
      { text: textAt(said, "note") ?? (textAt(said, "state") === "skipped" ? "skipped" : "") }
    ]),
    screen
  ).join("\n")

/** Others may be due by the time of the answer, and their fees were not shown. */
const waitingOf = (draft: Json): ReadonlyArray<string> =>
  ownNamesOf(at(draft, "names")).flatMap(({ name, said }) => textAt(said, "state") === "waiting" ? [name.hex] : [])

const leftOutLines = (draft: Json): ReadonlyArray<string> => {
  const count = numberAt(draft, "left_out") ?? 0
  if (count === 0) return []
  const [are, them] = count === 1 ? ["name is", "it"] : ["names are", "them"]
  return [`${grouped(count)} ${are} left out: renewal is turned off for ${them}.`]
}

const costText = (draft: Json): string => {
  const count = numberAt(draft, "transactions") ?? 0
  const fee = feeText(draft)
  return `${quantityOf(count, "transaction")}, ${fee === undefined ? "with unknown fees" : fee}`
}

const renewedJson = (entries: ReadonlyArray<OwnNameEntry>, draft: Json): Json =>
  objectOf({
    names: entries.map(({ name, said }) =>
      objectOf({
        name: name.text ?? null,
        name_hex: name.hex,
        state: at(said, "state"),
        txid: at(said, "txid"),
        note: at(said, "note")
      })
    ),
    left_out: at(draft, "left_out")
  })

export const renewCommand = (
  context: OwnContext
): Effect.Effect<CliOutcome, RpcClientError | CommandFailed> =>
  Effect.gen(function*() {
    const { daemon, input, line } = context
    const { prompt, screen } = input
    const json = line.wants("json")
    const { names, surprises } = yield* wanted(context)
    yield* knowingly(line, { surprises, remedy: "give the exact names" })
    const draft = yield* daemon.ask("name_renew", [names, { ...IN_HEX, dryrun: true }])
    if ((numberAt(draft, "transactions") ?? 0) === 0) {
      const entries = ownNamesOf(at(draft, "names"))
      // Excluded names are not a failure: a script that renews each week would report them each week.
      const code = line.words.length > 0 ? 1 : 0
      if (json) return { code, stdout: `${indented(renewedJson(entries, draft))}\n`, stderr: "" }
      const leftOut = leftOutLines(draft)
      const end = leftOut.length === 0
        ? "There is nothing to renew."
        : `There is nothing else to renew. "${daemon.cli} renew NAME" renews a left-out name once.`
      return {
        code,
        stdout: [...entries.length === 0 ? [] : [previewOf(draft, screen)], ...leftOut, end, ""].join("\n"),
        stderr: ""
      }
    }
    const notes = surprises.map(({ sentence }) => sentence)
    const preview = [previewOf(draft, screen), ...notes, ...leftOutLines(draft), costText(draft)].join("\n")
    const said = yield* agreed(prompt, { preview, question: "Renew them?", yes: line.wants("yes") })
    const chosen = line.words.length > 0 ? names : waitingOf(draft)
    const answer = yield* withKeys(
      { daemon, input, purpose: "renewals" },
      spend(daemon, "name_renew", [chosen, IN_HEX])
    )
    const entries = ownNamesOf(answer)
    if (json) return success(`${indented(renewedJson(entries, draft))}\n`)
    const isSent = ({ said: entry }: OwnNameEntry): boolean => textAt(entry, "state") === "sent"
    const sent = entries.filter(isSent)
    const others = entries.filter((entry) => textAt(entry.said, "state") === "waiting")
    return success([
      ...(said === "" ? [] : [said]),
      `${quantityOf(sent.length, "renewal is", "renewals are")} sent` +
      (others.length === 0
        ? "."
        : `, and ${grouped(others.length)} follow${others.length === 1 ? "s" : ""} after the next blocks.`),
      ...others.flatMap(({ name, said: entry }) => {
        const note = textAt(entry, "note")
        return note === undefined ? [] : [`${shownBytes(name)}: ${note}`]
      }),
      `"${daemon.cli} names" shows ${entries.length === 1 ? "its" : "their"} progress.`,
      ""
    ].join("\n"))
  })
