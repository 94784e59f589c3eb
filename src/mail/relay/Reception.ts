import * as Duration from "effect/Duration"
import type { Readable } from "node:stream"
import { wallTime } from "../../base/clock.ts"
import { randomHex } from "../../base/entropy.ts"
import { afterDelay, cancelTimer } from "../../base/turns.ts"
import { initialState, type Queued } from "./deliveryState.ts"
import type { Envelope, Recipient } from "./envelope.ts"
import { HeaderScan, type Scanned } from "./HeaderScan.ts"
import type { RelayConfig } from "./RelayConfig.ts"
import { type Rejection, rejections } from "./replies.ts"
import type { Spool } from "./Spool.ts"
import { isPassing } from "./spoolFile.ts"
import type { SpoolWriter } from "./SpoolWriter.ts"

export interface MailIntroduction {
  readonly sender: string
  readonly recipients: readonly [Recipient, ...ReadonlyArray<Recipient>]
  readonly greeting: string
  readonly client: string
  readonly protocol: string
}

export type ReceptionOutcome =
  | { readonly _tag: "Spooled"; readonly message: Queued }
  | { readonly _tag: "Rejected"; readonly rejection: Rejection; readonly failure?: unknown }
  /** The client disconnected or timed out. No reply is possible. */
  | { readonly _tag: "Gone" }

export interface ReceptionParts {
  readonly config: RelayConfig
  readonly spool: Spool
  /** Closes the client's connection; the message is cut off. */
  readonly disconnect: (rejection: Rejection | undefined) => void
}

/** A message that has passed more servers is in a loop. */
const MOST_HOPS = 100

/** How much a client may send before it is disconnected, as a multiple of the largest size. */
const PATIENCE = 2

/** Resolves when the message is in the spool on disk; never rejects. */
export const receive = async (
  parts: ReceptionParts,
  introduction: MailIntroduction,
  stream: Readable
): Promise<ReceptionOutcome> => {
  const { config, disconnect, spool } = parts
  const arrivedAt = wallTime()
  const id = messageId(arrivedAt)
  const writer = spool.create(id)
  const timer = afterDelay(Duration.toMillis(config.limits.dataTimeout), () => disconnect(undefined))
  try {
    const read = await readAll(parts, writer, stream)
    if (read._tag !== "Whole") {
      await writer.abort()
      return read
    }
    const { scanned } = read
    const recipients = introduction.recipients.map((recipient) => ({
      ...recipient,
      loops: scanned.deliveredTo.includes(recipient.address.toLowerCase())
    }))
    const [first, ...others] = recipients
    const rejection = rejectionOf(scanned, recipients)
    if (rejection !== undefined || first === undefined) {
      await writer.abort()
      return { _tag: "Rejected", rejection: rejection ?? rejections.noSuchRecipient() }
    }
    const envelope: Envelope = {
      id,
      arrivedAt,
      sender: introduction.sender,
      greeting: introduction.greeting,
      client: introduction.client,
      protocol: introduction.protocol,
      hasMessageId: scanned.hasMessageId,
      eightBit: scanned.eightBit,
      recipients: [first, ...others]
    }
    const bodyLength = await spool.commit(writer, envelope)
    return { _tag: "Spooled", message: { envelope, bodyLength, state: initialState(envelope) } }
  } catch (failure) {
    return notStored(failure)
  } finally {
    cancelTimer(timer)
  }
}

/** Sorts by arrival time, and cannot be guessed. */
const messageId = (at: number): string => `${at.toString(36)}-${randomHex(8)}`

/** Reads even a refused message to its end: only then does a client read the reply. */
const readAll = async (
  { config, disconnect, spool }: ReceptionParts,
  writer: SpoolWriter,
  stream: Readable
): Promise<{ readonly _tag: "Whole"; readonly scanned: Scanned } | Exclude<ReceptionOutcome, { _tag: "Spooled" }>> => {
  const { messageSize: limit, spoolBytes } = config.limits
  const scan = new HeaderScan()
  let length = 0
  let hasRoom = true
  let failed: { readonly failure: unknown } | undefined
  try {
    for await (const piece of stream) {
      const chunk: Uint8Array = piece
      length += chunk.length
      if (length > PATIENCE * limit) {
        disconnect(rejections.tooLarge(limit))
        return { _tag: "Gone" }
      }
      // The spool may have filled since the check at MAIL, and not every client declares the size there.
      hasRoom &&= spool.bytes + length <= spoolBytes
      if (length > limit || !hasRoom || failed !== undefined) continue
      scan.push(chunk)
      try {
        await writer.write(chunk)
      } catch (failure) {
        failed = { failure }
      }
    }
  } catch {
    return { _tag: "Gone" }
  }
  if (length > limit) return { _tag: "Rejected", rejection: rejections.tooLarge(limit) }
  if (!hasRoom) return { _tag: "Rejected", rejection: rejections.spoolFull() }
  return failed === undefined ? { _tag: "Whole", scanned: scan.end() } : notStored(failed.failure)
}

const notStored = (failure: unknown): ReceptionOutcome & { readonly _tag: "Rejected" } => ({
  _tag: "Rejected",
  rejection: isPassing(failure) ? rejections.spoolFull() : rejections.spoolBroken(),
  failure
})

/** Why the relay forwards a message to no recipient. */
const rejectionOf = (scanned: Scanned, recipients: ReadonlyArray<Recipient>): Rejection | undefined => {
  if (scanned.bareLineEnd) return rejections.bareLineEnd()
  if (scanned.hasNul) return rejections.hasNul()
  if (scanned.startsFolded) return rejections.badHeader()
  if (scanned.received > MOST_HOPS) return rejections.tooManyHops()
  // If only some recipients loop, the others get the message and a bounce reports these to the sender.
  return recipients.every(({ loops }) => loops) ? rejections.loop() : undefined
}
