import * as Context from "effect/Context"
import type * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"

/** What a name says about its owner's mail (docs/mail.md). */
export interface Forwarding {
  /** Where mail goes first. */
  readonly email: string
  /** Tried in this order when the upstream server refuses the address before permanently. */
  readonly backup: ReadonlyArray<string>
}

const WHY = {
  "invalid-label": "is not a label that a name can have",
  "unknown": "has no name that is registered",
  "expired": "has a name that is expired",
  "no-mail": "has a name whose value has no mail address"
} as const

/** The relay takes no mail for the label: 550 at RCPT. */
export class NoSuchRecipient extends Schema.TaggedError<NoSuchRecipient>()("NoSuchRecipient", {
  label: Schema.String,
  why: Schema.Literal("invalid-label", "unknown", "expired", "no-mail")
}) {
  override get message(): string {
    return `${this.label} ${WHY[this.why]}`
  }
}

/** The name cannot be looked up at present: 451 at RCPT. */
export class RecipientsUnavailable extends Schema.TaggedError<RecipientsUnavailable>()("RecipientsUnavailable", {
  reason: Schema.String
}) {
  override get message(): string {
    return `names cannot be looked up: ${this.reason}`
  }
}

/** Finds where the mail for a label goes: the label is the part of an address before the `@`. */
export class Recipients extends Context.Tag("svcd/Recipients")<Recipients, {
  /** Answers from memory if it looked the label up recently. The case of a label does not count. */
  readonly forwardingOf: (label: string) => Effect.Effect<Forwarding, NoSuchRecipient | RecipientsUnavailable>
}>() {}
