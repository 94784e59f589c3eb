import * as Clock from "effect/Clock"
import * as Data from "effect/Data"
import * as Effect from "effect/Effect"
import * as Stream from "effect/Stream"
import type { ConsensusParams } from "../consensus/params.ts"
import type { SyncReport } from "../light/syncReport.ts"
import { CursorUnusable } from "../names/errors.ts"
import { type EventKind, OPERATION_KINDS } from "../names/events/kinds.ts"
import { fromHex, isHex } from "../protocol/bytes.ts"
import { encodeText } from "../protocol/nameText.ts"
import type { DocumentRefused } from "../rpc/DocumentLines.ts"
import { eventFeed, type FeedLine } from "../rpc/eventFeed.ts"
import type { WantedChanges } from "./changeFilter.ts"
import type { DaemonRpc } from "./DaemonRpc.ts"
import { type DaemonFailure, DaemonRefused } from "./errors.ts"
import { liveChangesIn } from "./liveChanges.ts"
import type { LiveChange } from "./options.ts"
import { recordAt, valueText } from "./record.ts"
import { changeOf, type FixedPart, type Freshness, freshnessOf, type NameChange, type NameRecord } from "./records.ts"
import { shownAddress } from "./replies.ts"

/** Changes of names from the events of svcd (docs/events.md). A new connection resumes after the last change. */

export interface DaemonEventsParts {
  readonly rpc: DaemonRpc
  readonly params: ConsensusParams
  readonly report: Effect.Effect<SyncReport, DaemonFailure>
}

/** The daemon is the reference node, or an svcd too old for events. */
export class NoEvents extends Data.TaggedError("NoEvents")<{
  readonly from: string | undefined
}> {}

export type EventsFailure = DaemonFailure | CursorUnusable | NoEvents

/** Milliseconds for which the daemon's report is reused, so that a page of past events has one report. */
const REPORT_AGE = 1_000

type Members = Readonly<Record<string, unknown>>

const isObject = (value: unknown): value is Members => typeof value === "object" && value !== null

const hexText = (value: unknown): value is string => typeof value === "string" && (value === "" || isHex(value))

const height = (value: unknown): value is number => Number.isSafeInteger(value)

const nameOf = (hex: unknown): string | undefined => {
  const bytes = hexText(hex) ? fromHex(hex) : undefined
  return bytes === undefined ? undefined : encodeText(bytes, "utf8")
}

const fixedOf = (record: unknown): FixedPart | undefined => {
  if (!isObject(record)) return undefined
  const { address, height: at, name: hexName, txid, value: hexValue } = record
  const [name, value] = [nameOf(hexName), hexText(hexValue) ? fromHex(hexValue) : undefined]
  if (name === undefined || value === undefined || typeof address !== "string") return undefined
  if (typeof txid !== "string" || !height(at)) return undefined
  return { name, ...valueText(value), address: shownAddress(address), txid, height: at }
}

const KINDS: ReadonlySet<string> = new Set<EventKind>([...OPERATION_KINDS, "expired", "expiring"])

const isNamed = (type: unknown): type is Exclude<EventKind, "undone"> => typeof type === "string" && KINDS.has(type)

/** The changes in a line of the feed, without names that are not text; `undefined` if svcd did not write the line. */
export const changesIn = (
  { cursor, event }: Pick<FeedLine, "cursor" | "event">,
  record: (fixed: FixedPart, height: number) => NameRecord
): ReadonlyArray<NameChange | LiveChange> | undefined => {
  if (cursor === undefined) return liveChangesIn(event)
  const { before, blocks, hash, height: at, name, names, record: now, type } = event
  if (type === "position") return []
  if (!height(at) || typeof hash !== "string") return undefined
  const shown = (given: unknown, asOf: number): NameRecord | undefined => {
    const fixed = fixedOf(given)
    return fixed === undefined ? undefined : record(fixed, asOf)
  }
  if (isNamed(type)) {
    if (!hexText(name)) return undefined
    const [text, said] = [nameOf(name), shown(now, at)]
    if (text === undefined) return []
    if (said === undefined) return undefined
    const left = height(blocks) ? blocks : undefined
    return [
      changeOf({ type, name: text, record: said, before: shown(before, at), blocks: left, height: at, hash, cursor })
    ]
  }
  if (type !== "undone" || !Array.isArray(names)) return undefined
  const list: ReadonlyArray<unknown> = names
  const found: Array<NameChange> = []
  for (const each of list) {
    if (!isObject(each) || !hexText(each["name"]) || typeof each["cursor"] !== "string") return undefined
    const text = nameOf(each["name"])
    if (text === undefined) continue
    found.push(changeOf({
      type,
      name: text,
      record: shown(each["record"], at - 1),
      before: undefined,
      blocks: undefined,
      height: at,
      hash,
      cursor: each["cursor"]
    }))
  }
  return found
}

const WHY = ["damaged", "unknown", "future", "early", "pruned"] as const

const meaningOf = ({ body, message, status }: DocumentRefused, from: string | undefined): EventsFailure => {
  if (status === 404) return new NoEvents({ from })
  const said = (): Members => {
    try {
      const read: unknown = JSON.parse(body)
      return isObject(read) ? read : {}
    } catch {
      return {}
    }
  }
  const { error, oldest, why } = said()
  const known = WHY.find((each) => each === why)
  if (status === 410 && known !== undefined) {
    return new CursorUnusable({ cursor: from ?? "", why: known, oldest: typeof oldest === "string" ? oldest : "0" })
  }
  return new DaemonRefused({ reason: typeof error === "string" ? error : message })
}

const mayPass = (failure: EventsFailure): boolean =>
  failure._tag === "DaemonUnreachable" || failure._tag === "DaemonNotReady"

export const wrongLine = new DaemonRefused({
  reason: "a line of the daemon's events is invalid: check that a Namecoin daemon answers at this address"
})

export interface EventsOf {
  readonly rpc: DaemonRpc
  /** The query of `GET /events`, without `from`. */
  readonly query: URLSearchParams
  readonly from: string | undefined
}

/** The lines of a daemon's events. A restart of the daemon does not end the stream; only a failure does. */
export const eventsOf = ({ from, query, rpc }: EventsOf): Stream.Stream<FeedLine, EventsFailure> =>
  eventFeed<EventsFailure>({
    from,
    mayPass,
    open: (cursor) => {
      const asked = new URLSearchParams(query)
      if (cursor !== undefined) asked.set("from", cursor)
      return Effect.catchTag(
        rpc.lines(`/events?${asked}`),
        "DocumentRefused",
        (refusal) => Effect.fail(meaningOf(refusal, cursor))
      )
    }
  })

export const make = ({ params, report, rpc }: DaemonEventsParts) =>
(
  { from, query }: WantedChanges
): Stream.Stream<NameChange | LiveChange, EventsFailure> => {
  let known: { readonly at: number; readonly says: SyncReport } | undefined
  /** The daemon as of the last second. It counts as not synced while it does not answer. */
  const lately = Effect.gen(function*() {
    const now = yield* Clock.currentTimeMillis
    if (known !== undefined && now < known.at + REPORT_AGE) return known.says
    const says = yield* Effect.option(report)
    if (says._tag === "None") return undefined
    known = { at: now, says: says.value }
    return says.value
  })
  return eventsOf({ rpc, query, from }).pipe(
    Stream.chunks,
    Stream.mapEffect((lines) =>
      Effect.map(lately, (now) => {
        const asOf = (height: number): Freshness =>
          freshnessOf({
            height,
            synced: now !== undefined && now.synced && height >= now.height,
            proof: now?.proof ?? "work"
          })
        return [...lines].map((line) => changesIn(line, (fixed, height) => recordAt(fixed, asOf(height), params)))
      })
    ),
    Stream.mapConcatEffect((found) => {
      const changes = found.flatMap((each) => each ?? [])
      return found.includes(undefined) ? Effect.fail(wrongLine) : Effect.succeed(changes)
    })
  )
}
