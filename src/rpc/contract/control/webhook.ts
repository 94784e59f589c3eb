import * as Either from "effect/Either"
import * as Schema from "effect/Schema"
import { readHookSecret, readHookUrl } from "../../../config/webhookKinds.ts"
import { STREAM_KINDS } from "../../../names/events/kinds.ts"
import type { Json } from "../../json/json.ts"
import { namesContract } from "../../method/contract.ts"
import {
  asArgument,
  custom,
  freeText,
  namedOptions,
  optional,
  orEmpty,
  type Param,
  refined,
  string,
  withDefault
} from "../../method/params.ts"
import * as Result from "../../method/results.ts"
import { RpcError } from "../../method/RpcError.ts"
import type { Refusable } from "../../method/schema.ts"

const textsOf = (value: Json, label: string): Refusable<ReadonlyArray<string>> => {
  const list = Array.isArray(value) ? value : [value]
  const texts = list.filter((item) => typeof item === "string")
  return texts.length === list.length ? texts : RpcError.type(`${label} must be a string or an array of strings`)
}

/** One text or several. Without any, every value matches. */
const texts = (description: string): Param<ReadonlyArray<string>> =>
  withDefault(
    custom({ kind: "any", words: "string or json array", description, read: textsOf }),
    [],
    "every value fits"
  )

const orRefused = <A>(read: Either.Either<A, string>, label: string): Refusable<A> =>
  Either.getOrElse(read, (reason) => RpcError.invalidParameter(`${label} ${reason}`))

const FROM = "\"now\": what happens from now on; \"0\": everything, or a cursor of an event, for what is behind it."

const HOOK_ID = string("The id of the webhook, as listwebhooks shows it.")

const VIEW = Schema.Struct({
  id: Result.string("The id used by the other methods"),
  source: Result.string("Its origin: configuration or rpc"),
  url: Result.string("The URL that receives the events"),
  secret: Result.boolean("Whether the node has a secret to sign with; it never shows the secret"),
  name: Schema.Array(Result.string("A requested name")),
  prefix: Schema.Array(Result.string("A requested prefix of names")),
  owner: Schema.Array(Result.string("A requested owner")),
  types: Schema.Array(Result.string("A requested kind of event")),
  state: Result.string(
    "active; retrying: the last message was not accepted; dead: no message was accepted for 14 days; gone: the receiver answered 410; " +
      "cursor: the node has no events after its cursor; unconfigured: it is no longer in svcd.conf; light: the node is light"
  ),
  cursor: Result.string("Position after the last accepted message, or after events that the filter leaves out"),
  lag: Result.integer("Blocks from the cursor to the tip"),
  delivered: Result.integer("Messages accepted by the receiver"),
  lastdelivered: Schema.NullOr(Result.time("Time of the last accepted message; null for none")),
  failures: Result.integer("Failed attempts since then"),
  failingsince: Schema.NullOr(Result.time("Time of the first failed attempt")),
  nextattempt: Schema.NullOr(Result.time("Time of the next attempt; null if none is planned")),
  lasterror: Schema.NullOr(Result.string("Reason of the last failure")),
  remedy: Schema.NullOr(Result.string("The remedy for the operator; null if none is needed"))
})

const ANSWER = Schema.Struct({
  accepted: Result.boolean("Whether the status was 2xx"),
  status: Schema.NullOr(Result.integer("The HTTP status; null without a response")),
  milliseconds: Schema.NullOr(Result.integer("How long it took")),
  body: Schema.NullOr(Result.string("The start of the response body")),
  error: Schema.NullOr(Result.string("Reason for the missing response"))
})

const MISSING = "-5 there is no webhook \"<id>\"; listwebhooks has their ids"

const LIGHT = "-1 a light node has no log of events: start it without -sync=light"

const WRONG_FROM = "-8 from: \"<text>\" is not \"now\", \"0\" or a cursor of svcd"

const UNCONFIGURED = "-1 the webhook is missing from the configuration file"

export const ADDWEBHOOK = namesContract({
  name: "addwebhook",
  coins: "any",
  writes: true,
  summary:
    "Sends events of names to a URL from now on: one signed POST per block with events, in order, each repeated until " +
    "the receiver accepts it. Returns the id and the secret with which the receiver checks the signatures; it is not " +
    "shown again.",
  params: {
    url: freeText(refined(string("An https: or http: URL."), (text) => orRefused(readHookUrl(text), "url"))),
    options: orEmpty(namedOptions({
      secret: freeText(optional(
        refined(
          string("whsec_ and 24 to 64 bytes in base64 (Standard Webhooks)."),
          (text) => orRefused(readHookSecret(text), "secret")
        ),
        "a new one"
      )),
      name: asArgument("json or text", texts("Names to send events of.")),
      prefix: asArgument("json or text", texts("Prefixes of names.")),
      owner: asArgument("json or text", texts("Addresses of owners, before or after an event.")),
      types: asArgument(
        "json or text",
        texts(`Kinds of events: ${STREAM_KINDS.join(", ")}; by default all but expiring and block.`)
      ),
      from: optional(string(FROM), "\"now\"")
    }, "What to send."))
  },
  results: [{
    schema: Schema.Struct({
      id: Result.string("The id of the webhook for the other methods"),
      secret: Result.string("The secret with which the receiver checks signatures")
    })
  }],
  examples: [
    ["https://example.com/hook"],
    ["https://example.com/hook", { prefix: "d/", types: ["expired", "transferred"], from: "0" }]
  ],
  errors: [
    "-8 url is not a URL; write for example https://example.com/hook",
    "-8 url: its address is <kind>; -webhookprivate allows that, and a webhook of the configuration file may",
    "-8 secret is not whsec_ and 24 to 64 bytes in base64",
    "-8 <part of the filter>: <reason>",
    WRONG_FROM,
    "-1 there are 64 webhooks: remove one first",
    LIGHT
  ]
})

export const LISTWEBHOOKS = namesContract({
  name: "listwebhooks",
  coins: "any",
  summary: "Lists the webhooks of the node with their progress, and any remedy for the operator.",
  params: {},
  results: [{ schema: Schema.Array(VIEW) }],
  examples: [[]]
})

export const REMOVEWEBHOOK = namesContract({
  name: "removewebhook",
  coins: "any",
  writes: true,
  summary: "Removes a webhook and its cursor. A message being sent is interrupted.",
  params: { id: HOOK_ID },
  results: [{ schema: Result.nothing("") }],
  examples: [["0123456789abcdef"]],
  errors: [MISSING, "-1 the webhook is in the configuration file: remove it there and start the node again"]
})

export const RESUMEWEBHOOK = namesContract({
  name: "resumewebhook",
  coins: "any",
  writes: true,
  summary:
    "Resumes a webhook that is dead, gone or has lost its cursor, and retries a retrying one at once. By default " +
    "it continues after the last accepted message and skips nothing.",
  params: {
    id: HOOK_ID,
    options: orEmpty(namedOptions({ from: optional(string(FROM), "where it was") }, "Where to continue."))
  },
  results: [{ schema: Result.nothing("") }],
  examples: [["0123456789abcdef"], ["0123456789abcdef", { from: "now" }]],
  errors: [MISSING, WRONG_FROM, UNCONFIGURED, LIGHT]
})

export const TESTWEBHOOK = namesContract({
  name: "testwebhook",
  coins: "any",
  writes: true,
  summary:
    "Sends a signed test message (names.test) to a webhook, and returns the response. The message has no event " +
    "and moves no cursor.",
  params: { id: HOOK_ID },
  results: [{ schema: ANSWER }],
  examples: [["0123456789abcdef"]],
  errors: [MISSING, UNCONFIGURED]
})
