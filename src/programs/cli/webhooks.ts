import * as Effect from "effect/Effect"
import { unixTime } from "../../base/clock.ts"
import { grouped, quantityOf, spanText } from "../../base/quantities.ts"
import type { Json } from "../../rpc/json/json.ts"
import type { RpcClientError } from "../../rpc/RpcClient.ts"
import type { Daemon } from "./daemon.ts"
import { at, indented, numberAt, objectsOf, textAt, textsOf } from "./jsonText.ts"
import { type CliOutcome, failure, type Screen, success } from "./outcome.ts"
import { type Colour, table } from "./table.ts"
import { shownText } from "./textWidth.ts"

export interface WebhooksCommandOptions {
  readonly test: string | undefined
  readonly json: boolean
}

const COLOURS: ReadonlyMap<string, Colour> = new Map([
  ["active", "green"],
  ["retrying", "yellow"],
  ["dead", "red"],
  ["gone", "red"],
  ["cursor", "red"]
])

const wantedText = (hook: Json): string => {
  const parts = ["name", "prefix", "owner", "types"].flatMap((part) => {
    const texts = textsOf(at(hook, part))
    return texts.length === 0 ? [] : [`${part} ${texts.join(",")}`]
  })
  return parts.length === 0 ? "all" : parts.join("; ")
}

const rowOf = (hook: Json) => {
  const state = textAt(hook, "state") ?? ""
  const lag = numberAt(hook, "lag") ?? 0
  return [
    { text: textAt(hook, "id") ?? "" },
    { text: state, colour: COLOURS.get(state) ?? "dim" as const },
    { text: lag === 0 ? "none" : quantityOf(lag, "block") },
    { text: grouped(numberAt(hook, "delivered") ?? 0) },
    { text: textAt(hook, "url") ?? "" },
    { text: wantedText(hook) }
  ]
}

const remarksOf = (hook: Json, now: number): ReadonlyArray<string> => {
  const [error, remedy, next] = [textAt(hook, "lasterror"), textAt(hook, "remedy"), numberAt(hook, "nextattempt")]
  const failures = numberAt(hook, "failures") ?? 0
  if (error === undefined && remedy === undefined) return []
  const again = next === undefined ? "" : `; the next attempt is in ${spanText(Math.max(0, next - now))}`
  const times = failures > 0 ? ` (${quantityOf(failures, "failure")})` : ""
  return [
    `${textAt(hook, "id") ?? ""}: ${shownText(error ?? textAt(hook, "state") ?? "")}${times}${again}`,
    ...(remedy === undefined ? [] : [`  ${shownText(remedy)}`])
  ]
}

const listText = (hooks: ReadonlyArray<Json>, { now, screen }: { readonly now: number; readonly screen: Screen }) => {
  const remarks = hooks.flatMap((hook) => remarksOf(hook, now))
  return [
    ...(hooks.length === 0 ?
      ["There are no webhooks. Add one with addwebhook, or with [[webhook]] in svcd.conf."] :
      table(
        [
          { title: "ID" },
          { title: "STATE" },
          { title: "BEHIND", align: "right" },
          { title: "DELIVERED", align: "right" },
          { title: "URL", atLeast: 24 },
          { title: "WANTS", atLeast: 10 }
        ],
        hooks.map(rowOf),
        screen
      )),
    ...(remarks.length === 0 ? [] : ["", ...remarks]),
    ""
  ].join("\n")
}

/** Status 1 if the receiver does not accept the message. */
const tested = (answer: Json, json: boolean): CliOutcome => {
  const isAccepted = at(answer, "accepted") === true
  const code = isAccepted ? 0 : 1
  if (json) return { ...success(`${indented(answer)}\n`), code }
  const status = numberAt(answer, "status")
  const body = textAt(answer, "body") ?? ""
  const said = body === "" ? "" : `\n${shownText(body)}`
  if (isAccepted) {
    return success(`accepted: status ${status} after ${numberAt(answer, "milliseconds") ?? 0} ms${said}\n`)
  }
  return failure(1, {
    message: status === undefined
      ? `no answer: ${shownText(textAt(answer, "error") ?? "")}`
      : `not accepted: status ${status}; a receiver must respond with 2xx${said}`
  })
}

export const webhooksCommand = (
  daemon: Daemon,
  screen: Screen,
  { json, test }: WebhooksCommandOptions
): Effect.Effect<CliOutcome, RpcClientError> =>
  Effect.gen(function*() {
    if (test !== undefined) return tested(yield* daemon.call("testwebhook", [test]), json)
    const hooks = yield* daemon.ask("listwebhooks")
    return success(json ? `${indented(hooks)}\n` : listText(objectsOf(hooks), { screen, now: yield* unixTime }))
  })
