import * as Schema from "effect/Schema"
import { contract } from "../../method/contract.ts"
import * as Result from "../../method/results.ts"

const TESTED = Schema.Struct({
  address: Result.string("Where the mail goes"),
  accepted: Result.boolean("Whether the server has taken the mail"),
  answer: Result.string("What the server said, or why there was no server")
})

export const TESTALERTMAIL = contract({
  name: "testalertmail",
  coins: "any",
  writes: true,
  group: "Names",
  summary:
    "Sends a test mail to each address that gets mail before names expire (-alertmail), and returns what the server " +
    "said. Waiting mail stays where it is.",
  params: {},
  results: [{ schema: Schema.Array(TESTED) }],
  examples: [[]],
  errors: ["-1 no mail is configured: set alertmail and alertmailserver in svcd.conf, and restart"]
})
