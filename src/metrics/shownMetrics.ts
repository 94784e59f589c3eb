import { alertMails, alertMailsWaiting, namesExpiring } from "./alertMetrics.ts"
import type { MetricFamily, Table } from "./families.ts"
import {
  HANDOVER_OUTCOMES,
  lightActive,
  lightBlocks,
  lightHandovers,
  lightHeight,
  lightNames,
  lightUnchecked
} from "./lightMetrics.ts"
import { memoryBudget, memoryEvicted, memoryRefused, METRICS } from "./metrics.ts"
import { storageChecked, storageDamage, storageDoubts, storagePasses } from "./storageMetrics.ts"
import { WEBHOOK_STATES, webhookDeliveries, webhookLag, webhooks } from "./webhookMetrics.ts"

/**
 * Which metrics the endpoint shows. 32 are part of the interface, and each node shows them from the first scrape on.
 * Those of a part of the node join them while the part is in use. `-metricsdetail` shows all.
 */

/** What makes a metric visible that a plain node does not show. */
export type MetricPart = "alerts" | "detail" | "light" | "webhooks"

const PARTS: Readonly<Record<MetricPart, Table>> = {
  alerts: [namesExpiring, alertMails, alertMailsWaiting],
  detail: [memoryBudget, memoryRefused, memoryEvicted, storageDamage, storageChecked, storagePasses, storageDoubts],
  light: [lightActive, lightHeight, lightBlocks, lightNames, lightUnchecked, lightHandovers],
  webhooks: [webhooks, webhookLag, webhookDeliveries]
}

const PART_NAMES = ["alerts", "detail", "light", "webhooks"] as const satisfies ReadonlyArray<MetricPart>

/** The part of a metric; `undefined` for those that each node shows. */
export const metricPart = (family: MetricFamily): MetricPart | undefined =>
  PART_NAMES.find((part) => PARTS[part].includes(family))

export interface ShownOptions {
  /** Whether all metrics are shown. */
  readonly detail: boolean
  /** The parts of the node that are in use. */
  readonly parts: ReadonlySet<MetricPart>
}

/** Returns the metrics that the endpoint shows. */
export const shownMetrics = ({ detail, parts }: ShownOptions): Table =>
  METRICS.filter((family) => {
    const part = metricPart(family)
    return detail || part === undefined || parts.has(part)
  })

const hadLightStart = (): boolean =>
  lightActive.value() > 0 || HANDOVER_OUTCOMES.some((outcome) => lightHandovers.of(outcome).value() > 0)

const hasWebhooks = (): boolean => WEBHOOK_STATES.some((state) => webhooks.of(state).value() > 0)

/** Returns the parts in use, by what the metrics hold. `alerts`: whether the operator asked for notices before names expire. */
export const partsInUse = (alerts: boolean): ReadonlySet<MetricPart> =>
  new Set<MetricPart>([
    ...alerts ? ["alerts"] as const : [],
    ...hadLightStart() ? ["light"] as const : [],
    ...hasWebhooks() ? ["webhooks"] as const : []
  ])
