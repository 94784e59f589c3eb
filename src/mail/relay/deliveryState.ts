import * as Schema from "effect/Schema"
import { type Envelope, Reply } from "./envelope.ts"

/** One event of a message's delivery; records are in the order of events. `recipient` is an index. */
export const DeliveryRecord = Schema.Union(
  /** The upstream server took the message for the recipient. */
  Schema.Struct({ event: Schema.Literal("delivered"), recipient: Schema.Number }),
  /** The upstream server refused one of the recipient's addresses permanently; the next one is tried. */
  Schema.Struct({ event: Schema.Literal("refused"), recipient: Schema.Number, target: Schema.Number, reply: Reply }),
  /** The upstream server deferred the recipient. `nextAt` in milliseconds since 1970. */
  Schema.Struct({
    event: Schema.Literal("deferred"),
    recipient: Schema.Number,
    attempts: Schema.Number,
    nextAt: Schema.Number,
    reply: Reply
  }),
  /** No address of the recipient takes the message. */
  Schema.Struct({ event: Schema.Literal("failed"), recipient: Schema.Number, reply: Reply }),
  /** A bounce for failed recipients is in the spool, or the message has no sender to report to. */
  Schema.Struct({ event: Schema.Literal("reported"), recipients: Schema.Array(Schema.Number) })
)
export type DeliveryRecord = typeof DeliveryRecord.Type

/** An address of a recipient that the upstream server refused permanently. */
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
    /** The reply of the last deferral. */
    readonly last: Reply | undefined
  }
  | { readonly _tag: "Delivered" }
  | {
    readonly _tag: "Failed"
    readonly reply: Reply
    readonly refusals: ReadonlyArray<Refusal>
    readonly reported: boolean
  }

/** A state for each recipient of the envelope. */
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

/** Returns the state after a record. A record that does not match the state changes nothing. */
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

/** Whether the delivery of a message is complete. */
export const isFinished = (state: DeliveryState): boolean =>
  state.every((each) => each._tag === "Delivered" || (each._tag === "Failed" && each.reported))

/** The failed recipients, by index, that no bounce has reported yet. */
export const unreported = (state: DeliveryState): ReadonlyArray<number> =>
  state.flatMap((each, index) => each._tag === "Failed" && !each.reported ? [index] : [])

/**
 * The recipients, by index, to report to the sender now: all that failed, once none is waiting any more. So a message
 * leads to one bounce, however many recipients it has: the owners of names choose what happens to their copies.
 */
export const dueForReport = (state: DeliveryState): ReadonlyArray<number> =>
  state.some((each) => each._tag === "Waiting") ? [] : unreported(state)

/** When the next recipient is due, in milliseconds since 1970; `undefined` if none is waiting. */
export const nextDue = (state: DeliveryState): number | undefined => {
  const times = state.flatMap((each) => each._tag === "Waiting" ? [each.nextAt] : [])
  return times.length === 0 ? undefined : Math.min(...times)
}

const encode = Schema.encodeSync(Schema.parseJson(DeliveryRecord))
const decode = Schema.decodeUnknownOption(Schema.parseJson(DeliveryRecord))

/** Returns a record as a line of the message's log. It starts with a line end: the line before may be cut off. */
export const encodeRecord = (record: DeliveryRecord): string => `\n${encode(record)}\n`

/** Reads the records of a log. Skips a line that a crash cut off. */
export const decodeRecords = (text: string): ReadonlyArray<DeliveryRecord> =>
  text.split("\n").slice(0, -1).flatMap((line) => {
    const record = decode(line)
    return record._tag === "Some" ? [record.value] : []
  })

/** A message that the relay is responsible for. */
export interface Queued {
  readonly envelope: Envelope
  readonly bodyLength: number
  state: DeliveryState
  /** Whether an event of it could not be written to the disk. */
  unsaved?: boolean
}
