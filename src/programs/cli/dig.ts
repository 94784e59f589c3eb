import * as Effect from "effect/Effect"
import { grouped } from "../../base/quantities.ts"
import { DOMAIN_STATUSES, type DomainStatus } from "../../dns/domainRecord.ts"
import { type Json, JsonObject } from "../../rpc/json/json.ts"
import type { RpcClientError } from "../../rpc/RpcClient.ts"
import { findingText, lint } from "../../values/lint.ts"
import { bitHostOf } from "../../values/readName.ts"
import type { OwnContext } from "./commandContext.ts"
import { at, indented, numberAt, objectOf, objectsOf, textAt } from "./jsonText.ts"
import { noteLines, readWord } from "./nameHints.ts"
import { ONE_NAME, shownHex } from "./nameRecord.ts"
import { type CliOutcome, CommandFailed } from "./outcome.ts"
import { shownText } from "./textWidth.ts"

interface Wanted {
  readonly host: string
  /** What may surprise the user. */
  readonly notes: string
}

/** A host below `.bit`; or a name such as `d/example`, for its domain. */
const hostMeant = (word: string | undefined): Effect.Effect<Wanted, CommandFailed> => {
  const host = bitHostOf(word ?? "")
  if (host !== undefined) return Effect.succeed({ host, notes: "" })
  return Effect.flatMap(readWord(word), ({ host, surprises, text }) => {
    const domain = /^d\/(.+)$/.exec(text)?.[1]
    const meant = host?.host ?? (domain === undefined ? undefined : bitHostOf(`${domain}.bit`))
    return meant === undefined
      ? new CommandFailed({
        message: `${shownText(text)} is not a host below .bit`,
        remedy: "use a host such as www.example.bit; for other hosts, use dig"
      })
      : Effect.succeed({ host: meant, notes: noteLines(surprises.filter(({ code }) => code !== "below")) })
  })
}

/** As dig prints a record. */
export const zoneLine = (
  { data, name, ttl, type }: {
    readonly name: string
    readonly ttl: number
    readonly type: string
    readonly data: string
  }
): string => `${name}\t${ttl}\tIN\t${type}\t${data}`

const linesOf = (answer: Json): ReadonlyArray<string> =>
  objectsOf(at(answer, "records")).map((record) =>
    shownLine(zoneLine({
      name: textAt(record, "name") ?? "",
      ttl: numberAt(record, "ttl") ?? 0,
      type: textAt(record, "type") ?? "",
      data: textAt(record, "data") ?? ""
    }))
  )

/** Keeps the tabs. */
const shownLine = (line: string): string => line.split("\t").map(shownText).join("\t")

const statusOf = (answer: Json): DomainStatus | undefined =>
  DOMAIN_STATUSES.find((status) => status === textAt(answer, "status"))

const bare = (host: string): string => shownText(host.replace(/\.$/, ""))

/** The host at the end of the aliases, without its dot. */
const endOf = (answer: Json): string => {
  const aliases = objectsOf(at(answer, "records")).filter((record) => textAt(record, "type") === "CNAME")
  return bare(textAt(aliases.at(-1), "target") ?? textAt(answer, "host") ?? "")
}

const statusLines = (answer: Json): ReadonlyArray<string> => {
  const type = shownText(textAt(answer, "type") ?? "")
  const end = endOf(answer)
  switch (statusOf(answer)) {
    case "no-data":
      return [`${end} exists, but has no ${type === "ANY" ? "" : `${type} `}records.`]
    case "no-name": {
      const label = end.split(".").at(-2) ?? ""
      return objectsOf(at(answer, "sources")).some((source) => textAt(source, "name") === `d/${label}`)
        ? [`${end} does not exist: the value of d/${label} has no such host.`]
        : [`${end} does not exist: d/${label} is not registered, or has expired.`]
    }
    case "delegated":
      return [`${end} is delegated: ask the name servers above for its ${type} records.`]
    case "alias-outside":
      return [`${end} is outside .bit: ask your resolver for its ${type} records.`]
    default:
      return []
  }
}

const sourceLines = (answer: Json): ReadonlyArray<string> =>
  objectsOf(at(answer, "sources")).map((source, index) => {
    const height = numberAt(source, "height")
    const place = height === undefined ? "" : `, block ${grouped(height)}`
    return `${index === 0 ? "From " : "and "}${shownText(textAt(source, "name") ?? "")}${place}`
  })

/** Parts of the values that have no effect, as reported by `lint`. */
const findingLinesOf = (answer: Json): ReadonlyArray<string> =>
  objectsOf(at(answer, "sources")).flatMap((source) => {
    const name = textAt(source, "name")
    const { text } = shownHex(textAt(source, "value"))
    if (name === undefined || text === undefined) return []
    return lint(name, text).findings
      .filter(({ code, severity }) => code === "suppressed" || severity === "error")
      .map((finding) => shownText(`${name}: ${findingText(finding)}`))
  })

const ageLines = (answer: Json): ReadonlyArray<string> => [
  ...at(answer, "cut") === true ? ["The values or their imports exceed the limits, so records are missing."] : [],
  ...at(answer, "synced") === false
    ? [`The node is still syncing: this is the state at block ${grouped(numberAt(answer, "height") ?? 0)}.`]
    : []
]

const answerText = (answer: Json): string => {
  const records = linesOf(answer)
  const parts = [
    records,
    statusLines(answer),
    [...sourceLines(answer), ...findingLinesOf(answer), ...ageLines(answer)]
  ].filter((part) => part.length > 0)
  return `${parts.map((part) => part.join("\n")).join("\n\n")}\n`
}

/** Sources have their values as text, or in hex if they are not UTF-8. */
const answerJson = (answer: Json): Json => {
  if (!(answer instanceof JsonObject)) return answer
  const sources = objectsOf(at(answer, "sources")).map((source) => {
    const value = shownHex(textAt(source, "value"))
    return objectOf({
      name: at(source, "name"),
      value: value.text ?? null,
      value_hex: value.hex,
      height: at(source, "height"),
      txid: at(source, "txid"),
      expires_in: at(source, "expires_in")
    })
  })
  const members = answer.keys.map((key, index) => [key, key === "sources" ? sources : answer.values[index] ?? null])
  return objectOf(Object.fromEntries(members))
}

/** Exits with status 1 if there is no such host or record. */
export const digCommand = (
  { daemon, line }: Pick<OwnContext, "daemon" | "line">
): Effect.Effect<CliOutcome, RpcClientError | CommandFailed> =>
  Effect.gen(function*() {
    const [word, type = "A"] = line.words
    const { host, notes } = yield* hostMeant(word)
    const json = line.wants("json")
    const answer = yield* daemon.ask("name_resolve", { host, type, options: ONE_NAME })
    const status = statusOf(answer)
    return {
      code: status === "no-data" || status === "no-name" ? 1 : 0,
      stdout: json ? `${indented(answerJson(answer))}\n` : answerText(answer),
      stderr: json ? "" : notes
    }
  })
