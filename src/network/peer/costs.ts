import type { Message } from "../wire/message.ts"

/**
 * Milliseconds that handling a message is taken to cost, beside reading it and beside what its handlers measure and charge
 * themselves (`Peer.spent`): those measure inventories, blocks, compact blocks and what is asked for. What is judged in
 * many steps, with the work of others between them, cannot be measured by the clock: that goes by what is in it.
 */
export const handlingCost = (message: Message): number => {
  switch (message.type) {
    case "version":
    case "verack":
      return 1
    case "addr":
    case "addrv2":
      return 0.1 + 0.005 * message.addresses.length
    case "headers":
      return 0.1 + 0.1 * message.headers.length
    case "tx":
      return 0.2 + 0.2 * message.transaction.inputs.length
    default:
      return 0.1
  }
}

/** What a frame costs that is left out, milliseconds. */
export const DROPPED_COST = 0.1
