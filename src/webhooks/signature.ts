import { createHmac } from "node:crypto"

/** The headers of Standard Webhooks (standardwebhooks.com, version 1), which receivers can check with its libraries. */

export interface SignedMessage {
  /** The same in each attempt. */
  readonly id: string
  /** Seconds since 1970 of the attempt, as receivers refuse old messages. */
  readonly timestamp: number
  readonly body: string
}

/** HMAC-SHA-256 of `id.timestamp.body` in base64. The key is the decoded part of the secret after `whsec_`. */
export const signatureOf = ({ body, id, timestamp }: SignedMessage, key: Uint8Array): string =>
  createHmac("sha256", key).update(`${id}.${timestamp}.${body}`).digest("base64")

export const signedHeaders = (message: SignedMessage, key: Uint8Array): Readonly<Record<string, string>> => ({
  "webhook-id": message.id,
  "webhook-timestamp": String(message.timestamp),
  "webhook-signature": `v1,${signatureOf(message, key)}`
})
