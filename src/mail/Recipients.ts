import * as Context from "effect/Context"
import type * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"

/** What a name says about its owner's mail (spec.md 1.10). */
export interface Forwarding {
  /** Where mail goes first. */
  readonly email: string
  /** Tried in this order where the address before is refused for good. */
  readonly backup: ReadonlyArray<string>
}

/** No mail is taken for the label: 550 at RCPT. */
export class NoSuchRecipient extends Schema.TaggedError<NoSuchRecipient>()("NoSuchRecipient", {
  label: Schema.String,
  why: Schema.Literal("invalid-label", "unknown", "expired", "no-mail")
}) {}

/** The name cannot be looked up just now: 451 at RCPT. */
export class RecipientsUnavailable extends Schema.TaggedError<RecipientsUnavailable>()("RecipientsUnavailable", {
  reason: Schema.String
}) {}

/** Knows where the mail for a label goes: the part of an address before the `@`. */
export class Recipients extends Context.Tag("svcd/Recipients")<Recipients, {
  readonly forwardingOf: (label: string) => Effect.Effect<Forwarding, NoSuchRecipient | RecipientsUnavailable>
}>() {}
