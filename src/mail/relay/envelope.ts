import * as Schema from "effect/Schema"

/** One recipient of a message, as the client named it. */
export const Recipient = Schema.Struct({
  /** The client's text: `label@domain`. */
  address: Schema.String,
  /** Where the mail goes, looked up on arrival: the first address, then those to try when it is refused. */
  targets: Schema.Array(Schema.String),
  /** Whether this relay has forwarded the message to the same recipient before. */
  loops: Schema.Boolean
})
export type Recipient = typeof Recipient.Type

/** What the spool keeps of a message besides its bytes. */
export const Envelope = Schema.Struct({
  /** Unique in the spool; its file is named after it. */
  id: Schema.String,
  /** Milliseconds since 1970. */
  arrivedAt: Schema.Number,
  /** Empty: no envelope sender, as in bounces. */
  sender: Schema.String,
  /** In a bounce of this relay: the message and the recipients of it, by index, that the bounce reports. */
  reports: Schema.optionalWith(Schema.Struct({ id: Schema.String, recipients: Schema.Array(Schema.Number) }), {
    exact: true
  }),
  greeting: Schema.String,
  client: Schema.String,
  protocol: Schema.String,
  hasMessageId: Schema.Boolean,
  eightBit: Schema.Boolean,
  recipients: Schema.NonEmptyArray(Recipient)
})
export type Envelope = typeof Envelope.Type

/** The reply of an upstream server, or a description of the failure, in one line of text. */
export const Reply = Schema.Struct({
  /** SMTP's three digits; 0 if there was no reply. */
  code: Schema.Number,
  /** RFC 3463. */
  status: Schema.String,
  text: Schema.String
})
export type Reply = typeof Reply.Type
