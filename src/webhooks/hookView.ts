import type { ForbiddenKind } from "../base/specialAddress.ts"
import type { WebhookFilter } from "../config/webhookKinds.ts"
import type { WEBHOOK_STATES } from "../metrics/webhookMetrics.ts"
import { readCursorText } from "../names/events/EventCursor.ts"
import type { Height, Millis } from "../protocol/keys.ts"
import { storedFilter } from "./hookSettings.ts"
import type { HookRow, HookSource } from "./HookStore.ts"

export type HookState = (typeof WEBHOOK_STATES)[number]

export interface HookView {
  readonly id: string
  readonly source: HookSource
  readonly url: string
  readonly filter: WebhookFilter
  readonly state: HookState
  /** What the operator can do, if anything. */
  readonly remedy: string | undefined
  /** The text of the cursor after the last accepted message, or after what the hook does not want. */
  readonly cursor: string
  /** Blocks of the names after the cursor. */
  readonly lag: number
  readonly delivered: number
  readonly deliveredAt: Millis | undefined
  /** Failed attempts since the last accepted message. */
  readonly failures: number
  readonly failingSince: Millis | undefined
  /** `undefined` if none is planned. */
  readonly nextAttempt: Millis | undefined
  readonly lastError: string | undefined
}

export interface HookSurroundings {
  /** Whether the hook has its settings, as one of the configuration may be missing from the file. */
  readonly isConfigured: boolean
  readonly isLight: boolean
  /** Height of the names. */
  readonly height: Height
  /** What is wrong with the address in the URL, if anything. */
  readonly forbidden: ForbiddenKind | undefined
}

const stateOf = ({ failures, state }: HookRow, { forbidden, isConfigured, isLight }: HookSurroundings): HookState => {
  if (!isConfigured) return "unconfigured"
  if (isLight) return "light"
  return state === "active" && (failures > 0 || forbidden !== undefined) ? "retrying" : state
}

const remedyOf = (
  id: string,
  { forbidden, state }: Pick<HookSurroundings, "forbidden"> & { readonly state: HookState }
): string | undefined => {
  switch (state) {
    case "active":
      return undefined
    case "retrying":
      return forbidden === undefined
        ? undefined
        : `start the node with -webhookprivate, or put the webhook into svcd.conf, or: removewebhook ${id}`
    case "dead":
    case "gone":
      return `fix the receiver, then: resumewebhook ${id}. It continues where it stopped and skips nothing`
    case "cursor":
      return `resumewebhook ${id} '{"from":"0"}' sends everything again, '{"from":"now"}' what happens from now on; ` +
        "let the receiver delete its copy first"
    case "unconfigured":
      return `put it back into svcd.conf to continue where it stopped, or: removewebhook ${id}`
    case "light":
      return "start the node without -sync=light: a light node has no log of events"
  }
}

export const hookViewOf = (row: HookRow, around: HookSurroundings): HookView => {
  const state = stateOf(row, around)
  const { height = -1 } = readCursorText(row.position) ?? {}
  return {
    id: row.id,
    source: row.source,
    url: row.url,
    filter: storedFilter(row).filter,
    state,
    remedy: remedyOf(row.id, { forbidden: around.forbidden, state }),
    cursor: row.position,
    lag: Math.max(0, around.height - height),
    delivered: row.delivered,
    deliveredAt: row.deliveredAt,
    failures: row.failures,
    failingSince: row.failingSince,
    nextAttempt: state === "retrying" && row.failures > 0 ? row.nextAttempt : undefined,
    lastError: row.lastError ?? (around.forbidden === undefined ? undefined : `its address is ${around.forbidden}`)
  }
}
