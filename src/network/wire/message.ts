import type { Bytes } from "../../protocol/bytes.ts"
import { Reader } from "../../protocol/Reader.ts"
import type { Codec } from "./codec.ts"
import { encodeFrame } from "./framing.ts"
import { addr, addrv2, getaddr } from "./messages/addr.ts"
import { block, readBlockInSteps } from "./messages/block.ts"
import { filteradd, filterclear, filterload, merkleblock } from "./messages/bloom.ts"
import { blocktxn, cmpctblock, getblocktxn, readBlockTxnInSteps, sendcmpct } from "./messages/compact.ts"
import { cfcheckpt, cfheaders, cfilter, getcfcheckpt, getcfheaders, getcfilters } from "./messages/filters.ts"
import { getblocks, getheaders, headers, sendheaders } from "./messages/headers.ts"
import { getdata, inv, notfound, readWholeInv } from "./messages/inv.ts"
import { ping, pong } from "./messages/ping.ts"
import { feefilter, mempool, tx } from "./messages/tx.ts"
import { alert, sendaddrv2, sendtxrcncl, verack, versionCodec, wtxidrelay } from "./messages/version.ts"

const CODECS = {
  version: versionCodec,
  verack,
  wtxidrelay,
  sendaddrv2,
  sendtxrcncl,
  alert,
  ping,
  pong,
  addr,
  addrv2,
  getaddr,
  getheaders,
  getblocks,
  headers,
  sendheaders,
  inv,
  getdata,
  notfound,
  block,
  tx,
  feefilter,
  mempool,
  sendcmpct,
  cmpctblock,
  getblocktxn,
  blocktxn,
  filterload,
  filteradd,
  filterclear,
  merkleblock,
  getcfilters,
  cfilter,
  getcfheaders,
  cfheaders,
  getcfcheckpt,
  cfcheckpt
}

export type MessageCommand = keyof typeof CODECS

type Messages = { readonly [C in MessageCommand]: ReturnType<(typeof CODECS)[C]["decode"]> }

export type MessageOf<C extends MessageCommand> = { readonly [K in C]: Messages[K] & { readonly type: K } }[C]

/** Unknown commands are ignored (reference/protocol.md 6.4). */
export interface UnknownMessage {
  readonly type: "unknown"
  readonly command: string
  readonly payload: Bytes
}

export type Message = Messages[MessageCommand] | UnknownMessage

const codecs: { readonly [C in MessageCommand]: Codec<Messages[C]> } = CODECS

export const isMessageCommand = (command: string): command is MessageCommand => Object.hasOwn(codecs, command)

export const MESSAGE_COMMANDS: ReadonlyArray<MessageCommand> = Object.keys(codecs).filter(isMessageCommand)

/**
 * The result contains views of the payload.
 *
 * @throws DecodeError for an invalid payload, which is dropped without penalty (reference/protocol.md 6.4).
 * @throws ProtocolViolation, a `DecodeError` too, for one with a penalty for its peer.
 */
export const decodeMessage = (command: string, payload: Bytes): Message =>
  isMessageCommand(command) ? codecs[command].decode(new Reader(payload)) : { type: "unknown", command, payload }

/**
 * As `decodeMessage`, but yields so that other peers get a turn: long blocks take some hundred milliseconds.
 *
 * @param whole whether all items of an `inv` are kept
 */
export function* decodeInSteps(command: string, payload: Bytes, whole = false): Generator<undefined, Message> {
  if (command === "inv" && whole) return readWholeInv(new Reader(payload))
  if (command === "block") return yield* readBlockInSteps(payload)
  if (command === "blocktxn") return yield* readBlockTxnInSteps(payload)
  return decodeMessage(command, payload)
}

const encodeKnown = <C extends MessageCommand>(message: MessageOf<C>): ReadonlyArray<Bytes> =>
  codecs[message.type].encode(message)

/** In parts, so that long payloads need not be copied. */
export const encodePayload = (message: Message): ReadonlyArray<Bytes> =>
  message.type === "unknown" ? [message.payload] : encodeKnown(message)

export const commandOf = (message: Message): string => message.type === "unknown" ? message.command : message.type

export const encodeMessage = (magic: Bytes, message: Message): Uint8Array =>
  encodeFrame(magic, commandOf(message), encodePayload(message))

const SHORT = 0x20000

/** More than any valid block: 4,000,000 bytes (consensus), and short ids in place of transactions. */
const BLOCK_LIMIT = 0x500000

/** More than any relayed transaction, which has at most 400,000 weight units (policy). */
const TRANSACTION_LIMIT = 0x64000

const LIMITS = new Map<string, number>([
  // Allow more entries than valid, so that the violation can be detected.
  ["addr", 0x100000],
  ["addrv2", 0x100000],
  ["inv", 0x200000],
  ["getdata", 0x200000],
  ["notfound", 0x200000],
  // The limit of 6 MiB does not apply to old peers.
  ["headers", 0x1000000],
  ["block", BLOCK_LIMIT],
  ["cmpctblock", BLOCK_LIMIT],
  ["blocktxn", BLOCK_LIMIT],
  ["tx", TRANSACTION_LIMIT]
])

/**
 * Limits for unsolicited messages. `blocktxn` is always an answer. A whole block keeps its limit: it may come from the
 * peer that found it, and its header is checked before the rest is decoded.
 */
const UNREQUESTED_LIMITS = new Map<string, number>([
  ["headers", 0x64000],
  ["cmpctblock", 0x100000],
  ["blocktxn", SHORT],
  ["notfound", 0x64000]
])

export interface Owed {
  readonly headers: boolean
  readonly blocks: boolean
}

const EVERYTHING: Owed = { headers: true, blocks: true }

/** More than honest peers send, far less than the protocol's 32 MiB, which many peers could make us hold. */
export const payloadLimit = (command: string, owed: Owed = EVERYTHING): number => {
  const isOwed = command === "headers" ? owed.headers : owed.blocks
  return (isOwed ? undefined : UNREQUESTED_LIMITS.get(command)) ?? LIMITS.get(command) ?? SHORT
}
