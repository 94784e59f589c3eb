import { type Bytes, compare } from "../../protocol/bytes.ts"
import type { Height, Millis, UnixTime } from "../../protocol/keys.ts"
import { nameKey } from "../../protocol/keys.ts"
import type { WordedOutlook } from "../advice.ts"

// The queued mail per address, at most two: one that is being sent and no longer changes, and one that gathers new
// notices. So an unreachable server fills no disk, and no notice is lost.

export interface MailNotice {
  readonly name: Bytes
  /** Of the name's last operation. */
  readonly height: Height
  /** Estimated time of the expiry. */
  readonly about: UnixTime
  /** Whether a loaded wallet has it, whether that wallet renews it, and whether an operation is pending. */
  readonly mine: boolean
  readonly renewed: boolean
  readonly pending: boolean
  /** For a name of a loaded wallet, even after its loss. */
  readonly outlook?: WordedOutlook | undefined
}

/** Notices for one mail, the first to expire first. */
export interface Notices {
  readonly names: ReadonlyArray<MailNotice>
  /** The number of further names. */
  readonly more: number
}

/** A mail that may have been received: the same id and text in each attempt. */
export interface SentMail extends Notices {
  /** The part of its Message-ID before the @. */
  readonly id: string
  readonly madeAt: Millis
}

export interface MailQueue {
  readonly to: string
  readonly sending: SentMail | undefined
  readonly waiting: Notices | undefined
  /** Time of the first failure since the server last accepted a mail. */
  readonly failingSince: Millis | undefined
}

/** Names per mail. Further ones are counted. */
export const MOST_NAMED = 100

const emptyQueue = (to: string): MailQueue => ({
  to,
  sending: undefined,
  waiting: undefined,
  failingSince: undefined
})

/** A newer notice of a name replaces the older one. */
const joined = ({ more, names }: Notices, added: ReadonlyArray<MailNotice>): Notices => {
  const all = new Map([...names, ...added].map((notice) => [nameKey(notice.name), notice]))
  const sorted = [...all.values()].sort((a, b) => a.about - b.about || compare(a.name, b.name))
  return { names: sorted.slice(0, MOST_NAMED), more: more + Math.max(0, sorted.length - MOST_NAMED) }
}

/** The queues of exactly these addresses, in this order. */
export const queuesOf = (
  queues: ReadonlyArray<MailQueue>,
  addresses: ReadonlyArray<string>
): ReadonlyArray<MailQueue> => addresses.map((to) => queues.find((queue) => queue.to === to) ?? emptyQueue(to))

export const withNotices = (
  queues: ReadonlyArray<MailQueue>,
  notices: ReadonlyArray<MailNotice>
): ReadonlyArray<MailQueue> =>
  notices.length === 0
    ? queues
    : queues.map((queue) => ({ ...queue, waiting: joined(queue.waiting ?? { names: [], more: 0 }, notices) }))

/** Makes a mail of what waits, unless one is being sent. */
export const begun = (queue: MailQueue, made: Pick<SentMail, "id" | "madeAt">): MailQueue =>
  queue.sending !== undefined || queue.waiting === undefined
    ? queue
    : { ...queue, sending: { ...queue.waiting, ...made }, waiting: undefined }

export const accepted = (queue: MailQueue): MailQueue => ({ ...queue, sending: undefined, failingSince: undefined })

export const failed = (queue: MailQueue, now: Millis): MailQueue => ({
  ...queue,
  // The machine's clock may have been set back.
  failingSince: Math.min(queue.failingSince ?? now, now)
})

export const replaced = (
  queues: ReadonlyArray<MailQueue>,
  to: string,
  change: (queue: MailQueue) => MailQueue
): ReadonlyArray<MailQueue> => queues.map((queue) => queue.to === to ? change(queue) : queue)

export const mailsIn = (queues: ReadonlyArray<MailQueue>): number =>
  queues.reduce(
    (sum, { sending, waiting }) => sum + (sending === undefined ? 0 : 1) + (waiting === undefined ? 0 : 1),
    0
  )
