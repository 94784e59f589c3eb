import * as Context from "effect/Context"
import type * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"

/** docs/mail.md. */
export interface Forwarding {
  readonly email: string
  /** Tried in order after a permanent refusal of the address before. */
  readonly backup: ReadonlyArray<string>
}

const WHY = {
  "invalid-label": "is not a label that a name can have",
  "unknown": "has no name that is registered",
  "expired": "has a name that is expired",
  "no-mail": "has a name whose value has no mail address"
} as const

/** 550 at RCPT. */
export class NoSuchRecipient extends Schema.TaggedError<NoSuchRecipient>()("NoSuchRecipient", {
  label: Schema.String,
  why: Schema.Literal("invalid-label", "unknown", "expired", "no-mail")
}) {
  override get message(): string {
    return `${this.label} ${WHY[this.why]}`
  }
}

/** 451 at RCPT. */
export class RecipientsUnavailable extends Schema.TaggedError<RecipientsUnavailable>()("RecipientsUnavailable", {
  reason: Schema.String
}) {
  override get message(): string {
    return `names cannot be looked up: ${this.reason}`
  }
}

/** A label is the part of an address before the `@`. */
export class Recipients extends Context.Tag("svcd/Recipients")<Recipients, {
  /** May answer from memory. Labels are case-insensitive. */
  readonly forwardingOf: (label: string) => Effect.Effect<Forwarding, NoSuchRecipient | RecipientsUnavailable>
}>() {}
