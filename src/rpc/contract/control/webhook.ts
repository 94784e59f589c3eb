import * as Either from "effect/Either"
import * as Schema from "effect/Schema"
import { readHookSecret, readHookUrl } from "../../../config/webhookKinds.ts"
import { STREAM_KINDS } from "../../../names/events/kinds.ts"
import type { Json } from "../../json/json.ts"
import { contract } from "../../method/contract.ts"
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
  id: Result.string("What the other methods call it"),
  source: Result.string("configuration or rpc: where it was added"),
  url: Result.string("Where the node sends"),
  secret: Result.boolean("Whether the node has a secret to sign with. The secret itself is never shown"),
  name: Schema.Array(Result.string("A name that it wants")),
  prefix: Schema.Array(Result.string("A beginning of names that it wants")),
  owner: Schema.Array(Result.string("An owner whose names it wants")),
  types: Schema.Array(Result.string("A kind of event that it wants")),
  state: Result.string(
    "active; retrying: the last message was not accepted; dead: none was for 14 days; gone: its receiver answered 410; " +
      "cursor: the node has no events behind its cursor; unconfigured: svcd.conf has it no more; light: the node is light"
  ),
  cursor: Result.string("Behind the last accepted message, or behind what it does not want"),
  lag: Result.integer("Blocks from there to the last block of the chain"),
  delivered: Result.integer("Messages that its receiver accepted"),
  lastdelivered: Schema.NullOr(Result.time("When it accepted the last one; null for never")),
  failures: Result.integer("Attempts that failed since then"),
  failingsince: Schema.NullOr(Result.time("Of the first of them")),
  nextattempt: Schema.NullOr(Result.time("Of the next one; null if none is planned")),
  lasterror: Schema.NullOr(Result.string("Why the last one failed")),
  remedy: Schema.NullOr(Result.string("What the operator can do; null if there is nothing to do"))
})

const ANSWER = Schema.Struct({
  accepted: Result.boolean("Whether the status was 2xx"),
  status: Schema.NullOr(Result.integer("The status; null without an answer")),
  milliseconds: Schema.NullOr(Result.integer("How long it took")),
  body: Schema.NullOr(Result.string("The beginning of the answer's body")),
  error: Schema.NullOr(Result.string("Why there was no answer"))
})

const MISSING = "-5 there is no webhook \"<id>\"; listwebhooks has their ids"

const LIGHT = "-1 a light node has no log of events: start it without -sync=light"

const WRONG_FROM = "-8 from: \"<text>\" is not \"now\", \"0\" or a cursor of svcd"

const UNCONFIGURED = "-1 the webhook is missing from the configuration file"

export const ADDWEBHOOK = contract({
  name: "addwebhook",
  coins: "any",
  writes: true,
  group: "Names",
  summary:
    "Sends events of names to a URL from now on: one signed POST for each block that has some, in order, until " +
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
      prefix: asArgument("json or text", texts("Beginnings of names.")),
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
      id: Result.string("What the other methods call the webhook"),
      secret: Result.string("What the receiver needs to check the signatures")
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

export const LISTWEBHOOKS = contract({
  name: "listwebhooks",
  coins: "any",
  group: "Names",
  summary: "Returns the webhooks of the node, how far their receivers are, and what the operator has to do.",
  params: {},
  results: [{ schema: Schema.Array(VIEW) }],
  examples: [[]]
})

export const REMOVEWEBHOOK = contract({
  name: "removewebhook",
  coins: "any",
  writes: true,
  group: "Names",
  summary: "Removes a webhook, with its place in the events. A message on its way is interrupted.",
  params: { id: HOOK_ID },
  results: [{ schema: Result.nothing("") }],
  examples: [["0123456789abcdef"]],
  errors: [MISSING, "-1 the webhook is in the configuration file: remove it there and start the node again"]
})

export const RESUMEWEBHOOK = contract({
  name: "resumewebhook",
  coins: "any",
  writes: true,
  group: "Names",
  summary: "Sends to a webhook again that is dead, gone or without a place in the events, or at once to one that " +
    "retries. By default it goes on behind the last accepted message, and skips nothing.",
  params: {
    id: HOOK_ID,
    options: orEmpty(namedOptions({ from: optional(string(FROM), "where it was") }, "Where to go on."))
  },
  results: [{ schema: Result.nothing("") }],
  examples: [["0123456789abcdef"], ["0123456789abcdef", { from: "now" }]],
  errors: [MISSING, WRONG_FROM, UNCONFIGURED, LIGHT]
})

export const TESTWEBHOOK = contract({
  name: "testwebhook",
  coins: "any",
  writes: true,
  group: "Names",
  summary:
    "Sends one signed message of the type names.test to a webhook, and returns what came back. It has no event, " +
    "and moves no cursor.",
  params: { id: HOOK_ID },
  results: [{ schema: ANSWER }],
  examples: [["0123456789abcdef"]],
  errors: [MISSING, UNCONFIGURED]
})
