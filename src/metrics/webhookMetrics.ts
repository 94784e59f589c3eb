import { metricsOf } from "./families.ts"

const names = metricsOf("name operations")

export const WEBHOOK_METRICS = names.table

/** Listed in docs/webhooks.md. listwebhooks and the log name the hook. */

export const WEBHOOK_STATES = ["active", "retrying", "dead", "gone", "cursor", "unconfigured", "light"] as const

export const webhooks = names.gaugeBy(
  "svcd_webhook_hooks",
  "Webhooks by state. The node sends nothing to those that are dead, gone or cursor until the operator resumes them.",
  { label: "state", values: WEBHOOK_STATES }
)

export const webhookLag = names.gauge(
  "svcd_webhook_lag_blocks",
  "Blocks by which the webhook that is furthest behind is behind the names; 0 without webhooks."
)

export const WEBHOOK_OUTCOMES = ["delivered", "refused", "timeout", "unreachable", "forbidden"] as const

export const webhookDeliveries = names.counterBy(
  "svcd_webhook_deliveries_total",
  "Messages sent to webhooks, retries included, by outcome. refused is any status but 2xx.",
  { label: "outcome", values: WEBHOOK_OUTCOMES }
)
