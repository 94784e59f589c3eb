import type { Bytes } from "../../protocol/bytes.ts"
import { DecodeError } from "../../protocol/Reader.ts"
import { decodeInSteps, type Message, payloadLimit } from "../wire/message.ts"
import type { Asked } from "./Asked.ts"

/** Longest payload accepted before `verack`. */
const HANDSHAKE_PAYLOAD = 1024

/** Decodes a payload, or returns why it is invalid. */
export const decoded = <A>(read: () => A): A | DecodeError => {
  try {
    return read()
  } catch (error) {
    if (error instanceof DecodeError) return error
    throw error
  }
}

/** Decodes a payload in steps, an inventory `whole` or cut. Returns `undefined` while more steps follow. */
export const decodedInSteps = (
  command: string,
  payload: Bytes,
  whole: boolean
): () => Message | DecodeError | undefined => {
  const steps = decodeInSteps(command, payload, whole)
  return () =>
    decoded(() => {
      const { done, value } = steps.next()
      return done === true ? value : undefined
    })
}

/**
 * Payload limits, queried as frames begin. Short limits apply until `verack` arrives, not until it is handled, as the
 * next message may arrive with it. After that, long answers are accepted only if outstanding.
 */
export const payloadLimits = (asked: Pick<Asked, "owed">): (command: string) => number => {
  let shaken = false
  return (command) => {
    if (command === "verack") shaken = true
    return shaken ? payloadLimit(command, asked.owed) : HANDSHAKE_PAYLOAD
  }
}
