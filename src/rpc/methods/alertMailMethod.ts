import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { AlertMail } from "../../alerts/mail/AlertMail.ts"
import { method } from "../method/method.ts"
import type { Method } from "../method/methodTable.ts"
import * as Result from "../method/results.ts"
import { RpcError } from "../method/RpcError.ts"

/** `testalertmail`: a test of the mail before names expire (docs/alerts.md). No other node has it. */

const TESTED = Schema.Struct({
  address: Result.string("Where the mail goes"),
  accepted: Result.boolean("Whether the server has taken the mail"),
  answer: Result.string("What the server said, or why there was no server")
})

export const alertMailMethods: Effect.Effect<ReadonlyArray<Method>, never, AlertMail> = Effect.map(
  AlertMail,
  ({ test }) => [
    method({
      name: "testalertmail",
      writes: true,
      group: "Names",
      summary:
        "Sends a test mail to each address that gets mail before names expire (-alertmail), and returns what the server " +
        "said. Waiting mail stays where it is.",
      params: {},
      results: [{ schema: Schema.Array(TESTED) }],
      examples: [[]],
      errors: ["-1 no mail is configured: set alertmail and alertmailserver in svcd.conf, and restart"],
      handler: () =>
        Effect.mapBoth(test, {
          onFailure: ({ message }) => RpcError.misc(message),
          onSuccess: (outcomes) =>
            outcomes.map(({ address, answer, isAccepted }) => ({ address, accepted: isAccepted, answer }))
        })
    })
  ]
)
