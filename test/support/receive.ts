import { Effect } from "effect"
import { type MessageHandlers, type MessageTable, messageTable } from "../../src/network/messageTable.ts"
import type { Peer, PeerHandler } from "../../src/network/Peer.ts"
import type { Message, MessageCommand, MessageOf } from "../../src/network/wire/message.ts"

/** A part of the node with handlers of some messages. */
export interface MessagePart extends PeerHandler {
  readonly messages: Partial<MessageHandlers<MessageCommand>>
}

const handled = <C extends MessageCommand>(
  { messages }: Pick<MessagePart, "messages">,
  peer: Peer,
  message: MessageOf<C>
): Effect.Effect<void> => messages[message.type]?.(peer, message) ?? Effect.void

/** Gives a message of a peer to a part, as the message table does. */
export const receive = (part: Pick<MessagePart, "messages">, peer: Peer, message: Message): Effect.Effect<void> =>
  message.type === "unknown" ? Effect.void : handled(part, peer, message)

/** A message table that gives each message that a part handles to one function, once. */
export const messagesTo = (received: (peer: Peer, message: Message) => Effect.Effect<void>): MessageTable => {
  const nothing = () => Effect.void
  return messageTable({
    sync: {
      headers: received,
      inv: received,
      block: received,
      cmpctblock: received,
      blocktxn: received,
      notfound: received
    },
    relay: { inv: nothing, tx: received, notfound: nothing, mempool: received },
    server: { getheaders: received, getblocks: received, getdata: received, getblocktxn: received },
    gossip: { addr: received, addrv2: received, getaddr: received }
  })
}
