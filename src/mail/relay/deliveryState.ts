import * as Schema from "effect/Schema"
import { type Envelope, Reply } from "./envelope.ts"

/** In the order of events. `recipient` is an index. */
export const DeliveryRecord = Schema.Union(
  Schema.Struct({ event: Schema.Literal("delivered"), recipient: Schema.Number }),
  /** One address was refused permanently; the next one is tried. */
  Schema.Struct({ event: Schema.Literal("refused"), recipient: Schema.Number, target: Schema.Number, reply: Reply }),
  /** `nextAt` in milliseconds since 1970. */
  Schema.Struct({
    event: Schema.Literal("deferred"),
    recipient: Schema.Number,
    attempts: Schema.Number,
    nextAt: Schema.Number,
    reply: Reply
  }),
  Schema.Struct({ event: Schema.Literal("failed"), recipient: Schema.Number, reply: Reply }),
  /** The bounce is in the spool, or the message has no sender to report to. */
  Schema.Struct({ event: Schema.Literal("reported"), recipients: Schema.Array(Schema.Number) })
)
export type DeliveryRecord = typeof DeliveryRecord.Type

export interface Refusal {
  readonly address: string
  readonly reply: Reply
}

export type RecipientState =
  | {
    readonly _tag: "Waiting"
    /** Index of the address to try next. */
    readonly target: number
    readonly attempts: number
    /** Milliseconds since 1970; 0: now. */
    readonly nextAt: number
    readonly refusals: ReadonlyArray<Refusal>
    readonly last: Reply | undefined
  }
  | { readonly _tag: "Delivered" }
  | {
    readonly _tag: "Failed"
    readonly reply: Reply
    readonly refusals: ReadonlyArray<Refusal>
    readonly reported: boolean
  }

export type DeliveryState = ReadonlyArray<RecipientState>

export const initialState = (envelope: Envelope): DeliveryState =>
  envelope.recipients.map(() => ({
    _tag: "Waiting",
    target: 0,
    attempts: 0,
    nextAt: 0,
    refusals: [],
    last: undefined
  }))

/** A record that does not match the state changes nothing. */
export const afterRecord = (envelope: Envelope, state: DeliveryState, record: DeliveryRecord): DeliveryState => {
  if (record.event === "reported") {
    return state.map((each, index) =>
      each._tag === "Failed" && record.recipients.includes(index) ? { ...each, reported: true } : each
    )
  }
  return state.map((each, index) =>
    index === record.recipient && each._tag === "Waiting" ? moved(envelope, { index, state: each }, record) : each
  )
}

const moved = (
  envelope: Envelope,
  { index, state }: { readonly index: number; readonly state: Extract<RecipientState, { readonly _tag: "Waiting" }> },
  record: Exclude<DeliveryRecord, { readonly event: "reported" }>
): RecipientState => {
  switch (record.event) {
    case "delivered":
      return { _tag: "Delivered" }
    case "deferred":
      return { ...state, attempts: record.attempts, nextAt: record.nextAt, last: record.reply }
    case "failed":
      return { _tag: "Failed", reply: record.reply, refusals: state.refusals, reported: false }
    case "refused": {
      const address = envelope.recipients[index]?.targets[record.target] ?? ""
      const refusals = [...state.refusals, { address, reply: record.reply }]
      return { ...state, refusals, target: record.target + 1, nextAt: 0, last: record.reply }
    }
  }
}

export const isFinished = (state: DeliveryState): boolean =>
  state.every((each) => each._tag === "Delivered" || (each._tag === "Failed" && each.reported))

/** Failed recipients, by index, without a bounce so far. */
export const unreported = (state: DeliveryState): ReadonlyArray<number> =>
  state.flatMap((each, index) => each._tag === "Failed" && !each.reported ? [index] : [])

/**
 * All failed recipients, by index, once none is waiting: one bounce per message, however many recipients it has,
 * because owners of names choose what happens to their copies.
 */
export const dueForReport = (state: DeliveryState): ReadonlyArray<number> =>
  state.some((each) => each._tag === "Waiting") ? [] : unreported(state)

/** Milliseconds since 1970; `undefined` if none is waiting. */
export const nextDue = (state: DeliveryState): number | undefined => {
  const times = state.flatMap((each) => each._tag === "Waiting" ? [each.nextAt] : [])
  return times.length === 0 ? undefined : Math.min(...times)
}

const encode = Schema.encodeSync(Schema.parseJson(DeliveryRecord))
const decode = Schema.decodeUnknownOption(Schema.parseJson(DeliveryRecord))

/** Starts with a line end, since the line before may be cut off. */
export const encodeRecord = (record: DeliveryRecord): string => `\n${encode(record)}\n`

/** Skips a line that a crash cut off. */
export const decodeRecords = (text: string): ReadonlyArray<DeliveryRecord> =>
  text.split("\n").slice(0, -1).flatMap((line) => {
    const record = decode(line)
    return record._tag === "Some" ? [record.value] : []
  })

export interface Queued {
  readonly envelope: Envelope
  readonly bodyLength: number
  state: DeliveryState
  unsaved?: boolean
}
