import * as Redacted from "effect/Redacted"
import type { WebhookChoice } from "../../src/config/webhookKinds.ts"

/** The webhook of a node: every kind of event, and the ends of blocks, so that each block has a message. */

export const HOOK_SECRET = "whsec_c2VjcmV0IG9mIHRoZSBzaW11bGF0ZWQgd29ybGQ="

/** The host that receives the messages of a node. */
export const receiverOf = (node: string): string => `${node}.receiver.test`

export const hookChoice = (node: string): WebhookChoice => ({
  configured: [{
    url: `http://${receiverOf(node)}/hook`,
    secret: Redacted.make(HOOK_SECRET),
    filter: {
      names: [],
      prefixes: [],
      owners: [],
      types: ["registered", "updated", "renewed", "transferred", "cleared", "expired", "block"]
    },
    from: "0"
  }],
  allowPrivate: true
})
