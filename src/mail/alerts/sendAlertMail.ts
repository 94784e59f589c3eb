import * as Effect from "effect/Effect"
import * as Redacted from "effect/Redacted"
import { Readable } from "node:stream"
import type { MailOutcome, OutgoingMail } from "../../alerts/mail/AlertMail.ts"
import type { DeliveryOutcome } from "../relay/outcome.ts"
import type { UpstreamConfig } from "../relay/RelayConfig.ts"
import { connectUpstream } from "../relay/UpstreamConnection.ts"
import { alertMessage, type MessageContext } from "./alertMessage.ts"

export interface AlertSender {
  readonly upstream: UpstreamConfig
  readonly message: MessageContext
}

/** What the server said, without the password: a server that repeats a command would show it. */
const answerOf = ({ reply: { text } }: DeliveryOutcome, { credentials }: UpstreamConfig): string => {
  if (credentials === undefined) return text
  const password = Redacted.value(credentials.password)
  // As they are, and as AUTH LOGIN and AUTH PLAIN (RFC 4616) send them.
  const sent = [password, `\0${credentials.user}\0${password}`].map((each) => Buffer.from(each).toString("base64"))
  const hidden = [password, ...sent]
  return hidden.reduce((shown, secret) => shown.replaceAll(secret, "…"), text)
}

/** Hands a mail to the server, on a connection of its own. */
export const sendAlertMail =
  ({ message, upstream }: AlertSender) => (mail: OutgoingMail): Effect.Effect<MailOutcome> => {
    const text = alertMessage(mail, message)
    const transaction = {
      sender: message.from,
      recipient: mail.to,
      size: text.length,
      eightBit: false,
      body: () => Readable.from([text], { objectMode: false })
    }
    return Effect.acquireUseRelease(
      // A server that does not answer must not delay the end of the node.
      Effect.interruptible(connectUpstream(upstream)),
      (connection) => connection.send(transaction),
      (connection) => Effect.sync(() => connection.quit())
    ).pipe(
      Effect.catchTag("NoConnection", ({ outcome }) => Effect.succeed(outcome)),
      Effect.map((outcome) => ({ isAccepted: outcome._tag === "Delivered", answer: answerOf(outcome, upstream) })),
      Effect.withSpan("svcd.alerts.mail")
    )
  }
