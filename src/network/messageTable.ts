import type * as Effect from "effect/Effect"
import type { Disconnection, Peer } from "./Peer.ts"
import type { MessageCommand, MessageOf } from "./wire/message.ts"

/** Runs in the fiber that reads from the peer, so waiting delays only this peer. */
export type MessageHandler<C extends MessageCommand> = (peer: Peer, message: MessageOf<C>) => Effect.Effect<void>

export type MessageHandlers<C extends MessageCommand> = { readonly [K in C]: MessageHandler<K> }

export interface MessageParts {
  readonly sync: MessageHandlers<"headers" | "inv" | "block" | "cmpctblock" | "blocktxn" | "notfound">
  readonly relay: MessageHandlers<"inv" | "tx" | "notfound" | "mempool">
  readonly server: MessageHandlers<"getheaders" | "getblocks" | "getdata" | "getblocktxn">
  readonly filters?: MessageHandlers<"getcfilters" | "getcfheaders" | "getcfcheckpt"> | undefined
  readonly bloom?: MessageHandlers<"filterload" | "filteradd" | "filterclear"> | undefined
  readonly gossip: MessageHandlers<"addr" | "addrv2" | "getaddr">
}

export type MessageRoute<C extends MessageCommand> =
  | "ignore"
  | "connection"
  | Disconnection
  | ReadonlyArray<MessageHandler<C>>

export type MessageTable = { readonly [C in MessageCommand]: MessageRoute<C> }

const leave = (reason: string): Disconnection => ({ reason, misbehaving: false })

const BLOOM = leave("unsupported: the peer uses bloom filters")
const FILTERS = leave("unsupported: the peer requests block filters")

/** A light node neither relays nor serves. */
type GivenParts = Omit<MessageParts, "relay" | "server"> & Partial<Pick<MessageParts, "relay" | "server">>

const present = <C extends MessageCommand>(
  ...handlers: ReadonlyArray<MessageHandler<C> | undefined>
): ReadonlyArray<MessageHandler<C>> => handlers.filter((handler) => handler !== undefined)

/** After the handshake (reference/protocol.md 6.5, 6.6). Unknown commands are ignored (6.4). */
export const messageTable = ({ bloom, filters, gossip, relay, server, sync }: GivenParts): MessageTable => ({
  headers: [sync.headers],
  block: [sync.block],
  cmpctblock: [sync.cmpctblock],
  blocktxn: [sync.blocktxn],
  inv: present(sync.inv, relay?.inv),
  notfound: present(sync.notfound, relay?.notfound),
  tx: present(relay?.tx),
  mempool: present(relay?.mempool),
  getheaders: present(server?.getheaders),
  getblocks: present(server?.getblocks),
  getdata: present(server?.getdata),
  getblocktxn: present(server?.getblocktxn),
  addr: [gossip.addr],
  addrv2: [gossip.addrv2],
  getaddr: [gossip.getaddr],
  ping: "connection",
  pong: "connection",
  sendheaders: "connection",
  sendcmpct: "connection",
  feefilter: "connection",
  wtxidrelay: leave("unexpected message: wtxidrelay after verack"),
  sendaddrv2: leave("unexpected message: sendaddrv2 after verack"),
  filterload: bloom === undefined ? BLOOM : [bloom.filterload],
  filteradd: bloom === undefined ? BLOOM : [bloom.filteradd],
  filterclear: bloom === undefined ? BLOOM : [bloom.filterclear],
  getcfilters: filters === undefined ? FILTERS : [filters.getcfilters],
  getcfheaders: filters === undefined ? FILTERS : [filters.getcfheaders],
  getcfcheckpt: filters === undefined ? FILTERS : [filters.getcfcheckpt],
  version: "ignore",
  verack: "ignore",
  alert: "ignore",
  sendtxrcncl: "ignore",
  // Always unsolicited, as this node requests no filtered blocks.
  merkleblock: "ignore",
  cfilter: "ignore",
  cfheaders: "ignore",
  cfcheckpt: "ignore"
})
