import * as Schema from "effect/Schema"
import { namesContract } from "../../method/contract.ts"
import * as Result from "../../method/results.ts"

const TESTED = Schema.Struct({
  address: Result.string("Where the mail goes"),
  accepted: Result.boolean("Whether the server accepted the mail"),
  answer: Result.string("The answer of the server, or the reason for a failed connection")
})

export const TESTALERTMAIL = namesContract({
  name: "testalertmail",
  coins: "any",
  writes: true,
  summary:
    "Sends a test mail to each -alertmail address, and returns the answers of the server. Does not send waiting " +
    "mail.",
  params: {},
  results: [{ schema: Schema.Array(TESTED) }],
  examples: [[]],
  errors: ["-1 no mail is configured: set alertmail and alertmailserver in svcd.conf, and restart"]
})
