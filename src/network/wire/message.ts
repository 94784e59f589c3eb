import type { Bytes } from "../../protocol/bytes.ts"
import { Reader } from "../../protocol/Reader.ts"
import type { Codec } from "./codec.ts"
import { encodeFrame } from "./framing.ts"
import { type Addr, addr, type AddrV2, addrv2, type GetAddr, getaddr } from "./messages/addr.ts"
import { type Block, block, readBlockInSteps } from "./messages/block.ts"
import {
  type FilterAdd,
  filteradd,
  type FilterClear,
  filterclear,
  type FilterLoad,
  filterload,
  type MerkleBlock,
  merkleblock
} from "./messages/bloom.ts"
import {
  type BlockTxn,
  blocktxn,
  type CmpctBlock,
  cmpctblock,
  type GetBlockTxn,
  getblocktxn,
  readBlockTxnInSteps,
  type SendCmpct,
  sendcmpct
} from "./messages/compact.ts"
import {
  type CFCheckpt,
  cfcheckpt,
  type CFHeaders,
  cfheaders,
  type CFilter,
  cfilter,
  type GetCFCheckpt,
  getcfcheckpt,
  type GetCFHeaders,
  getcfheaders,
  type GetCFilters,
  getcfilters
} from "./messages/filters.ts"
import {
  type GetBlocks,
  getblocks,
  type GetHeaders,
  getheaders,
  type Headers,
  headers,
  type SendHeaders,
  sendheaders
} from "./messages/headers.ts"
import { type GetData, getdata, type Inv, inv, type NotFound, notfound } from "./messages/inv.ts"
import { type Ping, ping, type Pong, pong } from "./messages/ping.ts"
import { type FeeFilter, feefilter, type Mempool, mempool, type Tx, tx } from "./messages/tx.ts"
import {
  type Alert,
  alert,
  type SendAddrV2,
  sendaddrv2,
  type SendTxRcncl,
  sendtxrcncl,
  type Verack,
  verack,
  type Version,
  version,
  type WtxidRelay,
  wtxidrelay
} from "./messages/version.ts"

/** The messages of reference/protocol.md 6.6, by command. */
interface Messages {
  readonly version: Version
  readonly verack: Verack
  readonly wtxidrelay: WtxidRelay
  readonly sendaddrv2: SendAddrV2
  readonly sendtxrcncl: SendTxRcncl
  readonly alert: Alert
  readonly ping: Ping
  readonly pong: Pong
  readonly addr: Addr
  readonly addrv2: AddrV2
  readonly getaddr: GetAddr
  readonly getheaders: GetHeaders
  readonly getblocks: GetBlocks
  readonly headers: Headers
  readonly sendheaders: SendHeaders
  readonly inv: Inv
  readonly getdata: GetData
  readonly notfound: NotFound
  readonly block: Block
  readonly tx: Tx
  readonly feefilter: FeeFilter
  readonly mempool: Mempool
  readonly sendcmpct: SendCmpct
  readonly cmpctblock: CmpctBlock
  readonly getblocktxn: GetBlockTxn
  readonly blocktxn: BlockTxn
  readonly filterload: FilterLoad
  readonly filteradd: FilterAdd
  readonly filterclear: FilterClear
  readonly merkleblock: MerkleBlock
  readonly getcfilters: GetCFilters
  readonly cfilter: CFilter
  readonly getcfheaders: GetCFHeaders
  readonly cfheaders: CFHeaders
  readonly getcfcheckpt: GetCFCheckpt
  readonly cfcheckpt: CFCheckpt
}

/** A command of a message that we know. */
export type Command = keyof Messages

/** A message of one of the commands. */
export type MessageOf<C extends Command> = { readonly [K in C]: Messages[K] & { readonly type: K } }[C]

/** A message whose command we do not know: ignored (reference/protocol.md 6.4). */
export interface UnknownMessage {
  readonly type: "unknown"
  readonly command: string
  readonly payload: Bytes
}

/** A message of the network, told apart by `type`, which is its command. */
export type Message = Messages[Command] | UnknownMessage

const codecs: { readonly [C in Command]: Codec<Messages[C]> } = {
  version,
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

/** Whether a message of this command has a meaning for us. */
export const isCommand = (command: string): command is Command => Object.hasOwn(codecs, command)

/** Every command with a meaning. */
export const COMMANDS: ReadonlyArray<Command> = Object.keys(codecs).filter(isCommand)

/**
 * Reads the payload of a frame. Most of what it returns are views of the payload.
 *
 * @throws DecodeError for a payload that does not parse: to be dropped without penalty (reference/protocol.md 6.4).
 * @throws ProtocolViolation, which is a `DecodeError` too, for one that its sender has to pay for.
 */
export const decodeMessage = (command: string, payload: Bytes): Message =>
  isCommand(command) ? codecs[command].decode(new Reader(payload)) : { type: "unknown", command, payload }

/**
 * Reads the payload of a frame as `decodeMessage` does, and yields where others may have a turn: long blocks take some
 * hundred milliseconds.
 *
 * @throws what `decodeMessage` throws.
 */
export function* decodeInSteps(command: string, payload: Bytes): Generator<undefined, Message> {
  if (command === "block") return yield* readBlockInSteps(payload)
  if (command === "blocktxn") return yield* readBlockTxnInSteps(payload)
  return decodeMessage(command, payload)
}

/** The payload of a message, in parts. */
const encodeKnown = <C extends Command>(message: MessageOf<C>): ReadonlyArray<Bytes> =>
  codecs[message.type].encode(message)

/** The payload of a message, in parts, so that long ones need not be copied. */
export const encodePayload = (message: Message): ReadonlyArray<Bytes> =>
  message.type === "unknown" ? [message.payload] : encodeKnown(message)

/** The command of a message. */
export const commandOf = (message: Message): string => message.type === "unknown" ? message.command : message.type

/** A message as it travels. */
export const encodeMessage = (magic: Bytes, message: Message): Uint8Array =>
  encodeFrame(magic, commandOf(message), encodePayload(message))

/** Longest payload of a command that is not listed. */
const SHORT = 0x20000

/** More than any valid block: 4,000,000 bytes (consensus), and the short ids that replace transactions. */
const BLOCK_LIMIT = 0x500000

/** More than any transaction that is relayed: 400,000 weight units (policy) are at most as many bytes. */
const TRANSACTION_LIMIT = 0x64000

const LIMITS = new Map<string, number>([
  // Room for more entries than allowed, so that the offence can be seen.
  ["addr", 0x100000],
  ["addrv2", 0x100000],
  ["inv", 0x200000],
  ["getdata", 0x200000],
  ["notfound", 0x200000],
  // The limit of 6 MiB does not hold for old peers.
  ["headers", 0x1000000],
  ["block", BLOCK_LIMIT],
  ["cmpctblock", BLOCK_LIMIT],
  ["blocktxn", BLOCK_LIMIT],
  ["tx", TRANSACTION_LIMIT]
])

/**
 * The same for what was not asked for. Headers announce a few blocks; a compact block has its coinbase and short ids; the
 * transactions of a block are only ever an answer. A whole block may come from a peer that found it, so its limit stays:
 * its header is judged before the rest is decoded.
 */
const UNREQUESTED_LIMITS = new Map<string, number>([
  ["headers", 0x64000],
  ["cmpctblock", 0x100000],
  ["blocktxn", SHORT],
  ["notfound", 0x64000]
])

/** Which long answers a peer owes us. */
export interface Owed {
  readonly headers: boolean
  readonly blocks: boolean
}

const EVERYTHING: Owed = { headers: true, blocks: true }

/**
 * The longest payload of a command that an honest peer has a reason to send, with room to spare: our own bound, below
 * the 32 MiB of the protocol, so that a hundred peers cannot make us hold 32 MiB each. For `FrameParser`.
 */
export const payloadLimit = (command: string, owed: Owed = EVERYTHING): number => {
  const isOwed = command === "headers" ? owed.headers : owed.blocks
  return (isOwed ? undefined : UNREQUESTED_LIMITS.get(command)) ?? LIMITS.get(command) ?? SHORT
}
