import * as Schema from "effect/Schema"

export const Recipient = Schema.Struct({
  /** The client's text: `label@domain`. */
  address: Schema.String,
  /** Looked up on arrival: the first address, then the backups. */
  targets: Schema.Array(Schema.String),
  /** This relay has forwarded the message to the same recipient before. */
  loops: Schema.Boolean
})
export type Recipient = typeof Recipient.Type

/** What the spool keeps of a message besides its bytes. */
export const Envelope = Schema.Struct({
  /** Unique in the spool; names the file. */
  id: Schema.String,
  /** Milliseconds since 1970. */
  arrivedAt: Schema.Number,
  /** Empty: no envelope sender, as in bounces. */
  sender: Schema.String,
  /** In a bounce of this relay: the reported message and its recipients, by index. */
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

/** One line of an upstream reply, or the description of a failure. */
export const Reply = Schema.Struct({
  /** SMTP's three digits; 0 without a reply. */
  code: Schema.Number,
  /** RFC 3463. */
  status: Schema.String,
  text: Schema.String
})
export type Reply = typeof Reply.Type
