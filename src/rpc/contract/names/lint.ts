import * as Schema from "effect/Schema"
import { namesContract } from "../../method/contract.ts"
import { notNull, object, optional, orEmpty, string } from "../../method/params.ts"
import * as Result from "../../method/results.ts"
import { ENCODINGS } from "./nameParams.ts"

const FINDING = Schema.Struct({
  code: Result.string(
    "name-form, namespace, too-long, not-text, not-ascii, json, not-object, duplicate-key, wrong-type, invalid, " +
      "deprecated, suppressed, unknown-item or unusual"
  ),
  path: Result.string("Path in the JSON, such as map.www.ip[1]; empty for the whole value"),
  line: Schema.optional(Result.integer("Line in the value, from 1 on")),
  column: Schema.optional(Result.integer("Column in the line, from 1 on")),
  message: Result.string("What is wrong")
})

const LINT = Schema.Struct({
  bytes: Result.integer("Length of the value"),
  errors: Schema.Array(FINDING).annotations({
    description: "Content that programs ignore, or that makes the name useless or impossible to update"
  }),
  warnings: Schema.Array(FINDING).annotations({ description: "Content that works, but may be unintended" }),
  programs: Schema.Array(Schema.Struct({
    program: Result.string("DNS, Tor, nostr, profiles or svcd-mail"),
    sees: Schema.Array(Result.string("A record, an address or a field"))
  })).annotations({ description: "Meaning of the value for programs. Empty for the current value of an expired name" })
})

export const NAME_LINT = namesContract({
  name: "name_lint",
  right: "read",
  summary: "Checks a name and a value before they are registered: the form of the name, the length, the JSON and " +
    "the items of the value, and what programs will see in it. Nothing is sent.",
  params: {
    name: string("The name."),
    value: optional(string("The value."), "the current value"),
    options: orEmpty(notNull(object(ENCODINGS, "Options.")))
  },
  results: [{ schema: LINT }],
  examples: [["d/example", "{\"ip\":\"192.0.2.1\"}"], ["id/alice", "{\"email\":\"alice@example.org\"}"]],
  errors: [
    "-10 Namecoin is downloading blocks...",
    "-4 name never existed: 'd/example'",
    "-1000 Name/value is invalid for encoding <encoding>"
  ]
})
