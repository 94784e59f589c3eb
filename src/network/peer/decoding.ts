import type { Bytes } from "../../protocol/bytes.ts"
import { DecodeError } from "../../protocol/Reader.ts"
import { decodeInSteps, type Message, payloadLimit } from "../wire/message.ts"
import type { Asked } from "./Asked.ts"

/** What is read of a peer's frames, and how much of it. */

/** Longest payload that is kept before `verack`. */
const HANDSHAKE_PAYLOAD = 1024

/** Reads a payload, or returns why it cannot be read. */
export const decoded = <A>(read: () => A): A | DecodeError => {
  try {
    return read()
  } catch (error) {
    if (error instanceof DecodeError) return error
    throw error
  }
}

/** Reads a payload step by step: each call takes one, and returns `undefined` as long as more are to come. */
export const decodedInSteps = (command: string, payload: Bytes): () => Message | DecodeError | undefined => {
  const steps = decodeInSteps(command, payload)
  return () =>
    decoded(() => {
      const { done, value } = steps.next()
      return done === true ? value : undefined
    })
}

/**
 * The limits of payloads, asked for in the order in which frames begin. Short ones hold up to `verack` and not until it
 * was handled: what follows may have come together with it. Afterwards long answers are kept only where they are owed.
 */
export const payloadLimits = (asked: Pick<Asked, "owed">): (command: string) => number => {
  let shaken = false
  return (command) => {
    if (command === "verack") shaken = true
    return shaken ? payloadLimit(command, asked.owed) : HANDSHAKE_PAYLOAD
  }
}
