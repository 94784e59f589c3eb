import * as Effect from "effect/Effect"
import * as Redacted from "effect/Redacted"
import { Readable } from "node:stream"
import { encode, wrap } from "nodemailer/lib/qp"
import { nameLine, noticeAdvice } from "../../alerts/advice.ts"
import type { MailOutcome, OutgoingMail } from "../../alerts/mail/AlertMail.ts"
import type { MailNotice, Notices } from "../../alerts/mail/mailQueue.ts"
import { parseMailbox } from "../../base/mailbox.ts"
import { isLostState } from "../../base/outlookWords.ts"
import { expiryHeight } from "../../consensus/expiry.ts"
import type { ConsensusParams } from "../../consensus/params.ts"
import { encodeText } from "../../protocol/nameText.ts"
import type { DeliveryOutcome } from "../relay/outcome.ts"
import type { UpstreamConfig } from "../relay/RelayConfig.ts"
import { mailDate } from "../relay/trace.ts"
import { connectUpstream } from "../relay/UpstreamConnection.ts"

/**
 * A mail (RFC 5322) about expiring names. Names can have any bytes, so headers show only plain ones, and the
 * quoted-printable body shows control characters visibly.
 */

interface MessageContext {
  readonly params: ConsensusParams
  readonly from: string
  /** For a reader with several nodes. */
  readonly hostname: string
}

/** Names without characters that are special in headers. */
const PLAIN = /^[a-z0-9][a-z0-9/._-]{0,63}$/i

const dayText = (time: number): string => new Date(time * 1_000).toISOString().slice(0, 10)

const namesText = (count: number): string => count === 1 ? "1 name" : `${count} names`

const isLost = ({ outlook }: MailNotice): boolean => isLostState(outlook?.state)

const subjectOf = ({ more, names }: Notices): string => {
  const [first] = names
  const day = first === undefined ? "" : ` about ${dayText(first.about)}`
  const text = first === undefined ? undefined : encodeText(first.name, "ascii")
  const shown = text !== undefined && PLAIN.test(text) ? text : "A name"
  const count = names.length + more
  const lost = names.filter(isLost).length
  if (lost > 0 && count === 1) return `${shown} is lost`
  if (lost > 0) return `${namesText(lost)} lost${lost < count ? `, ${namesText(count - lost)} about to expire` : ""}`
  return count > 1 ? `${namesText(count)} expire soon, the first${day}` : `${shown} expires${day}`
}

const entryOf = (notice: MailNotice, { params }: MessageContext): string =>
  [
    nameLine(notice.name),
    `  ${isLost(notice) ? "expired" : "expires"} at block ${expiryHeight(notice.height, params)}, about ${
      dayText(notice.about)
    }`,
    `  ${noticeAdvice(notice.name, notice)}`
  ].join("\n")

const footer = ({ hostname, params }: MessageContext): string =>
  [
    "-- ",
    `svcd on ${hostname}, network ${params.network.name}. Dates are estimates, assuming ten minutes per block.`,
    "Change the recipients in svcd.conf (alertmail)."
  ].join("\n")

const openingOf = ({ more, names }: Notices): string => {
  const count = names.length + more
  if (names.some(isLost)) return count === 1 ? "This name is lost." : "Names are lost, the first ones of this list."
  return count === 1 ? "This name expires soon." : "These names expire soon."
}

const noticesBody = ({ more, names }: Notices, context: MessageContext): string =>
  [
    openingOf({ more, names }),
    "Once a name expires, its owner loses it, and anyone can register it.",
    ...names.map((notice) => entryOf(notice, context)),
    ...more > 0 ? [`… and ${more} more. Run "svcd-cli expiring" to list them.`] : [],
    footer(context)
  ].join("\n\n")

const testBody = (context: MessageContext): string =>
  [
    "This is a test message of testalertmail. Reminders before names expire will be sent to this address.",
    footer(context)
  ].join("\n\n")

/** The same in each attempt. */
export const alertMessage = (outgoing: OutgoingMail, context: MessageContext): Buffer => {
  const { from } = context
  const isTest = outgoing.type === "test"
  const { id, madeAt } = isTest ? outgoing : outgoing.mail
  const body = isTest ? testBody(context) : noticesBody(outgoing.mail, context)
  return Buffer.from(
    [
      `From: svcd <${from}>`,
      `To: <${outgoing.to}>`,
      `Subject: ${isTest ? "svcd test message" : subjectOf(outgoing.mail)}`,
      `Date: ${mailDate(madeAt)}`,
      `Message-ID: <${id}@${parseMailbox(from)?.domain ?? "localhost"}>`,
      "Auto-Submitted: auto-generated",
      "MIME-Version: 1.0",
      "Content-Type: text/plain; charset=utf-8",
      "Content-Transfer-Encoding: quoted-printable",
      "",
      wrap(encode(`${body}\n`.replaceAll("\n", "\r\n"))),
      ""
    ].join("\r\n")
  )
}

export interface AlertSender {
  readonly upstream: UpstreamConfig
  readonly message: MessageContext
}

/** Without the password, which a server may repeat. */
const answerOf = ({ reply: { text } }: DeliveryOutcome, { credentials }: UpstreamConfig): string => {
  if (credentials === undefined) return text
  const password = Redacted.value(credentials.password)
  // As they are, and as AUTH LOGIN and AUTH PLAIN (RFC 4616) send them.
  const sent = [password, `\0${credentials.user}\0${password}`].map((each) => Buffer.from(each).toString("base64"))
  const hidden = [password, ...sent]
  return hidden.reduce((shown, secret) => shown.replaceAll(secret, "…"), text)
}

/** On its own connection. */
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
      // A silent server must not delay the end of the node.
      Effect.interruptible(connectUpstream(upstream)),
      (connection) => connection.send(transaction),
      (connection) => Effect.sync(() => connection.quit())
    ).pipe(
      Effect.catchTag("NoConnection", ({ outcome }) => Effect.succeed(outcome)),
      Effect.map((outcome) => ({ isAccepted: outcome._tag === "Delivered", answer: answerOf(outcome, upstream) })),
      Effect.withSpan("svcd.alerts.mail")
    )
  }
