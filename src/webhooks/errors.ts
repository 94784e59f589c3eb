import * as Schema from "effect/Schema"

/** A webhook that cannot be added, changed or used as requested. */
export class WebhookRefused extends Schema.TaggedError<WebhookRefused>()("WebhookRefused", {
  /** Whether the request is wrong, a hook is missing, or the node is in the wrong state. */
  why: Schema.Literal("parameter", "missing", "state"),
  reason: Schema.String
}) {
  override get message(): string {
    return this.reason
  }
}

/** An unusable webhook of the configuration file. The node does not start. */
export class WebhookMisconfigured extends Schema.TaggedError<WebhookMisconfigured>()("WebhookMisconfigured", {
  /** The number of the table in the file, from 1. */
  table: Schema.Int,
  reason: Schema.String
}) {
  override get message(): string {
    return `webhook ${this.table} of the configuration file: ${this.reason}`
  }
}
