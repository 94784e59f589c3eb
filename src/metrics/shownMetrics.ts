import { ALERT_METRICS, NEEDY_STATES, ownNames } from "./alertMetrics.ts"
import { DNS_METRICS, dnsListeners } from "./dnsMetrics.ts"
import { ELECTRUM_METRICS, electrumListeners } from "./electrumMetrics.ts"
import type { MetricFamily, Table } from "./families.ts"
import { HANDOVER_OUTCOMES, LIGHT_METRICS, lightActive, lightHandovers } from "./lightMetrics.ts"
import { indexHeight, memoryBudget, memoryEvicted, memoryRefused, METRICS } from "./metrics.ts"
import { STORAGE_METRICS } from "./storageMetrics.ts"
import { WEBHOOK_METRICS, WEBHOOK_STATES, webhooks } from "./webhookMetrics.ts"

// The endpoint always shows 32 metrics as part of the interface, others while their part of the node is in use, and all
// with `-metricsdetail`.

export type MetricPart = "alerts" | "detail" | "dns" | "electrum" | "indexes" | "light" | "webhooks"

const PARTS: ReadonlyArray<readonly [MetricPart, Table]> = [
  ["alerts", ALERT_METRICS],
  ["detail", [memoryBudget, memoryRefused, memoryEvicted, ...STORAGE_METRICS]],
  ["dns", DNS_METRICS],
  ["electrum", ELECTRUM_METRICS],
  ["indexes", [indexHeight]],
  ["light", LIGHT_METRICS],
  ["webhooks", WEBHOOK_METRICS]
]

/** `undefined` for metrics that every node shows. */
export const metricPart = (family: MetricFamily): MetricPart | undefined =>
  PARTS.find(([, table]) => table.includes(family))?.[0]

export interface ShownOptions {
  readonly detail: boolean
  readonly parts: ReadonlySet<MetricPart>
}

export const shownMetrics = ({ detail, parts }: ShownOptions): Table =>
  METRICS.filter((family) => {
    const part = metricPart(family)
    return detail || part === undefined || parts.has(part)
  })

const hadLightStart = (): boolean =>
  lightActive.value() > 0 || HANDOVER_OUTCOMES.some((outcome) => lightHandovers.of(outcome).value() > 0)

const hasWebhooks = (): boolean => WEBHOOK_STATES.some((state) => webhooks.of(state).value() > 0)

/** A rule about names that need their owner works without any setting. */
const hasNeedyNames = (): boolean => NEEDY_STATES.some((state) => ownNames.of(state).value() > 0)

/** `alerts`: whether the operator wants notices before names expire. */
export const partsInUse = (alerts: boolean): ReadonlySet<MetricPart> =>
  new Set<MetricPart>([
    ...alerts || hasNeedyNames() ? ["alerts"] as const : [],
    ...dnsListeners.value() > 0 ? ["dns"] as const : [],
    ...electrumListeners.value() > 0 ? ["electrum"] as const : [],
    ...indexHeight.isUsed() ? ["indexes"] as const : [],
    ...hadLightStart() ? ["light"] as const : [],
    ...hasWebhooks() ? ["webhooks"] as const : []
  ])
