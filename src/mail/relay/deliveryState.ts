import * as Schema from "effect/Schema"
import { type Envelope, Reply } from "./envelope.ts"

/** One thing that happened to a message, in the order in which it happened. `recipient` is an index. */
export const DeliveryRecord = Schema.Union(
  /** The upstream server took the message for the recipient. */
  Schema.Struct({ event: Schema.Literal("delivered"), recipient: Schema.Number }),
  /** It refused one of his addresses for good; the next one is tried. */
  Schema.Struct({ event: Schema.Literal("refused"), recipient: Schema.Number, target: Schema.Number, reply: Reply }),
  /** It put the recipient off. `nextAt` in milliseconds since 1970. */
  Schema.Struct({
    event: Schema.Literal("deferred"),
    recipient: Schema.Number,
    attempts: Schema.Number,
    nextAt: Schema.Number,
    reply: Reply
  }),
  /** Nobody takes the message for him. */
  Schema.Struct({ event: Schema.Literal("failed"), recipient: Schema.Number, reply: Reply }),
  /** A report of failed recipients is in the spool, or there is nobody to tell. */
  Schema.Struct({ event: Schema.Literal("reported"), recipients: Schema.Array(Schema.Number) })
)
export type DeliveryRecord = typeof DeliveryRecord.Type

/** An address of a recipient that was refused for good. */
export interface Refusal {
  readonly address: string
  readonly reply: Reply
}

export type RecipientState =
  | {
    readonly _tag: "Waiting"
    /** Which of his addresses is next. */
    readonly target: number
    readonly attempts: number
    /** Milliseconds since 1970; 0: at once. */
    readonly nextAt: number
    readonly refusals: ReadonlyArray<Refusal>
    /** Why it was put off last. */
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

/** Returns the state after a record. A record that does not fit the state changes nothing. */
export const afterRecord = (envelope: Envelope, state: DeliveryState, record: DeliveryRecord): DeliveryState => {
  if (record.event === "reported") {
    return state.map((each, index) =>
      each._tag === "Failed" && record.recipients.includes(index) ? { ...each, reported: true } : each
    )
  }
  return state.map((each, index) =>
    index === record.recipient && each._tag === "Waiting" ? moved(envelope, index, each, record) : each
  )
}

const moved = (
  envelope: Envelope,
  index: number,
  state: Extract<RecipientState, { readonly _tag: "Waiting" }>,
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

/** Whether nothing is left to do for a message. */
export const isFinished = (state: DeliveryState): boolean =>
  state.every((each) => each._tag === "Delivered" || (each._tag === "Failed" && each.reported))

/** The recipients, by index, whose failure nobody was told of yet. */
export const unreported = (state: DeliveryState): ReadonlyArray<number> =>
  state.flatMap((each, index) => each._tag === "Failed" && !each.reported ? [index] : [])

/**
 * The recipients, by index, of whom the sender is to be told now: all that failed, once nobody waits any more. So a
 * message, to however many names whose owners choose what becomes of it, leads to one report.
 */
export const dueForReport = (state: DeliveryState): ReadonlyArray<number> =>
  state.some((each) => each._tag === "Waiting") ? [] : unreported(state)

/** When the next recipient is due, in milliseconds since 1970; `undefined` where none waits. */
export const nextDue = (state: DeliveryState): number | undefined => {
  const times = state.flatMap((each) => each._tag === "Waiting" ? [each.nextAt] : [])
  return times.length === 0 ? undefined : Math.min(...times)
}

const encode = Schema.encodeSync(Schema.parseJson(DeliveryRecord))
const decode = Schema.decodeUnknownOption(Schema.parseJson(DeliveryRecord))

/** Returns a record as a line of the message's log, with an end before it: the line before may have been cut off. */
export const encodeRecord = (record: DeliveryRecord): string => `\n${encode(record)}\n`

/** Reads the records of a log. A line that was being written when the machine stopped is left out. */
export const decodeRecords = (text: string): ReadonlyArray<DeliveryRecord> =>
  text.split("\n").slice(0, -1).flatMap((line) => {
    const record = decode(line)
    return record._tag === "Some" ? [record.value] : []
  })

/** A message that the relay answers for. */
export interface Queued {
  readonly envelope: Envelope
  readonly bodyLength: number
  state: DeliveryState
  /** Whether something happened to it that could not be noted on the disk. */
  unsaved?: boolean
}
