import type { Message } from "../wire/message.ts"

/** Items of an `inv` that are looked at in full (protocol.md 6.9). */
const MOST_ITEMS = 5_000

/**
 * Milliseconds that handling a message is taken to cost, beside reading it. By what is in it and not by the clock, which
 * would count what others do meanwhile. What a peer asks for costs little here: it has to take the answers, which holds
 * it back.
 */
export const handlingCost = (message: Message): number => {
  switch (message.type) {
    case "version":
    case "verack":
      return 1
    case "inv":
      return 0.1 + 0.01 * Math.min(message.items.length, MOST_ITEMS)
    case "addr":
    case "addrv2":
      return 0.1 + 0.005 * message.addresses.length
    case "headers":
      return 0.1 + 0.1 * message.headers.length
    case "tx":
      return 0.2 + 0.2 * message.transaction.inputs.length
    case "block":
    case "cmpctblock":
    case "blocktxn":
      return 1
    default:
      return 0.1
  }
}

/** What a frame costs that is left out, milliseconds. */
export const DROPPED_COST = 0.1
