import { type Bytes, compare } from "../../protocol/bytes.ts"
import type { Height, Millis, UnixTime } from "../../protocol/keys.ts"
import { nameKey } from "../../protocol/keys.ts"
import type { WordedOutlook } from "../advice.ts"

// At most two mails are queued per address: one is being sent and no longer changes, the other collects new notices.
// An unreachable server therefore cannot fill the disk, and no notice is lost.

export interface MailNotice {
  readonly name: Bytes
  /** Height of the name's last operation. */
  readonly height: Height
  /** Estimated expiry time. */
  readonly about: UnixTime
  /** Whether a loaded wallet owns the name. */
  readonly mine: boolean
  /** Whether that wallet renews it. */
  readonly renewed: boolean
  /** Whether an operation on the name is pending. */
  readonly pending: boolean
  /** Present for every name of a loaded wallet, including lost names. */
  readonly outlook?: WordedOutlook | undefined
}

/** Notices for one mail, in order of expiry. */
export interface Notices {
  readonly names: ReadonlyArray<MailNotice>
  /** Number of names beyond `MOST_NAMED`. */
  readonly more: number
}

/** A mail that the server may already have accepted. Each attempt repeats its id and text. */
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

/** Names listed per mail. The mail only counts the rest. */
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

/** Turns the waiting notices into a mail, unless one is already being sent. */
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
