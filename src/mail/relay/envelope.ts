import * as Schema from "effect/Schema"

/** One recipient of a message, as a client named him. */
export const Recipient = Schema.Struct({
  /** What the client said: `label@domain`. */
  address: Schema.String,
  /** Where his mail goes, looked up when the message came: the first, then those to try when it is refused. */
  targets: Schema.Array(Schema.String),
  /** Whether this relay has forwarded the message to the same recipient before. */
  loops: Schema.Boolean
})
export type Recipient = typeof Recipient.Type

/** What is kept of a message beside its bytes. */
export const Envelope = Schema.Struct({
  /** Unique in the spool; its file is named after it. */
  id: Schema.String,
  /** Milliseconds since 1970. */
  arrivedAt: Schema.Number,
  /** Empty: none, as in reports. */
  sender: Schema.String,
  /** In a report of this relay's own: which recipients, by index, of which message it is about. */
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

/** What an upstream server answered, or what happened instead, in one line of text. */
export const Reply = Schema.Struct({
  /** SMTP's three digits; 0 where there was no answer. */
  code: Schema.Number,
  /** RFC 3463. */
  status: Schema.String,
  text: Schema.String
})
export type Reply = typeof Reply.Type
