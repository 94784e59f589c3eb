import { Readable } from "node:stream"
import { formatMailbox, parseMailbox } from "../../base/mailbox.ts"
import type { Envelope, Recipient } from "./envelope.ts"
import type { RelayConfig } from "./RelayConfig.ts"
import type { Spool } from "./Spool.ts"
import { rewriteSender, type Srs } from "./srs.ts"
import { deliveredToField, messageIdField, receivedField } from "./trace.ts"
import type { SmtpTransaction } from "./UpstreamConnection.ts"

interface Parts {
  readonly config: RelayConfig
  readonly spool: Spool
  readonly srs: Srs
}

/** Trace headers for one recipient; empty for a bounce of this relay. */
const front = (envelope: Envelope, recipient: Recipient, hostname: string): string => {
  if (envelope.reports !== undefined) return ""
  const arrival = {
    id: envelope.id,
    greeting: envelope.greeting,
    client: envelope.client,
    protocol: envelope.protocol,
    at: envelope.arrivedAt,
    recipient: recipient.address
  }
  const messageId = envelope.hasMessageId ? "" : messageIdField({ id: envelope.id, hostname })
  return deliveredToField(recipient.address) + receivedField(arrival, hostname) + messageId
}

/** Bounces keep their empty envelope sender. */
export const forwardedSender = (srs: Srs, sender: string, now: number): string => {
  const mailbox = parseMailbox(sender)
  return mailbox === undefined ? "" : formatMailbox(rewriteSender(srs, mailbox, now))
}

/** For one address of one recipient. `now`: milliseconds since 1970. */
export const smtpTransactionOf = (
  { config, spool, srs }: Parts,
  { bodyLength, envelope }: { readonly envelope: Envelope; readonly bodyLength: number },
  { now, recipient, target }: { readonly recipient: Recipient; readonly target: string; readonly now: number }
): SmtpTransaction => {
  const head = Buffer.from(front(envelope, recipient, config.hostname), "utf8")
  return {
    sender: forwardedSender(srs, envelope.sender, now),
    recipient: target,
    size: head.length + bodyLength,
    eightBit: envelope.eightBit,
    body: () => Readable.from(message(spool, { id: envelope.id, bodyLength, head }), { objectMode: false })
  }
}

async function* message(
  spool: Spool,
  { bodyLength, head, id }: { readonly id: string; readonly bodyLength: number; readonly head: Buffer }
): AsyncGenerator<Buffer> {
  const body = await spool.read(id, bodyLength)
  if (body instanceof Readable) {
    if (head.length > 0) yield head
    yield* body
  } else yield Buffer.concat([head, body])
}
