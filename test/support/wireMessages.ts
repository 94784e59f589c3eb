import { FastCheck } from "effect"
import type { Message, MessageCommand } from "../../src/network/wire/message.ts"
import type { AddressEntry } from "../../src/network/wire/messages/addr.ts"
import type { VersionAddress } from "../../src/network/wire/messages/version.ts"
import { fromIpv6, type NetAddress, toIpv6, type UnknownAddress } from "../../src/network/wire/netAddress.ts"
import { type Auxpow, makeAuxpow } from "../../src/protocol/auxpow.ts"
import { type BlockHeader, makeBlock } from "../../src/protocol/block.ts"
import { makeHeader } from "../../src/protocol/header.ts"
import { makeTransaction, NO_WITNESS, type Transaction } from "../../src/protocol/transaction.ts"
import { bytesOf } from "./bytes.ts"

/** Messages of any content. */

const { array, bigInt, boolean, constant, integer, oneof, option, record, string, tuple } = FastCheck

const u8 = integer({ min: 0, max: 0xff })
const u16 = integer({ min: 0, max: 0xffff })
const u32 = integer({ min: 0, max: 0xffffffff })
const u64 = bigInt({ min: 0n, max: (1n << 64n) - 1n })
const hash = bytesOf(32)
const blob = bytesOf(0, 300)
const hashes = array(hash, { maxLength: 4 })

export const transactions: FastCheck.Arbitrary<Transaction> = record({
  version: u32,
  inputs: array(
    record({
      prevout: bytesOf(36),
      scriptSig: bytesOf(0, 40),
      sequence: u32,
      witness: oneof(constant(NO_WITNESS), array(bytesOf(0, 20), { maxLength: 3 }))
    }),
    { minLength: 1, maxLength: 3 }
  ),
  outputs: array(record({ value: FastCheck.maxSafeInteger(), script: bytesOf(0, 40) }), { maxLength: 3 }),
  lockTime: u32
}).map(makeTransaction)

const plainHeaders = record({
  version: integer(),
  prevHash: hash,
  merkleRoot: hash,
  time: u32,
  bits: u32,
  nonce: u32
})

const auxpows: FastCheck.Arbitrary<Auxpow> = record({
  coinbase: transactions,
  coinbaseBranch: hashes,
  chainBranch: hashes,
  chainIndex: integer(),
  parent: plainHeaders.map(makeHeader)
}).map(makeAuxpow)

export const blockHeaders: FastCheck.Arbitrary<BlockHeader> = tuple(plainHeaders, option(auxpows, { nil: undefined }))
  .map(([parts, auxpow]) => {
    const version = auxpow === undefined ? parts.version & ~0x100 : parts.version | 0x100
    return { header: makeHeader({ ...parts, version }), auxpow }
  })

export const blocks = tuple(blockHeaders, array(transactions, { maxLength: 4 }))
  .map(([header, transactions]) => makeBlock(header, transactions))

export const netAddresses: FastCheck.Arbitrary<NetAddress> = oneof(
  record({ network: constant("ipv4" as const), bytes: bytesOf(4) }),
  record({ network: constant("ipv6" as const), bytes: bytesOf(16) }),
  record({ network: constant("torv3" as const), bytes: bytesOf(32) }),
  record({ network: constant("i2p" as const), bytes: bytesOf(32) }),
  record({ network: constant("cjdns" as const), bytes: bytesOf(16) })
)

/** Network numbers that BIP 155 does not assign to a network in use, or that are unknown to us. */
const unknownAddresses: FastCheck.Arbitrary<UnknownAddress> = record({
  network: constant("unknown" as const),
  id: oneof(constant(0), constant(3), integer({ min: 7, max: 0xff })),
  bytes: bytesOf(0, 512)
})

/** Addresses that fit into 16 bytes. */
const ipAddresses = oneof(bytesOf(16), bytesOf(4).map((bytes) => toIpv6({ network: "ipv4", bytes }))).map(fromIpv6)

const addressEntries = (addresses: FastCheck.Arbitrary<NetAddress | UnknownAddress>) =>
  array<AddressEntry>(record({ time: u32, services: u64, address: addresses, port: u16 }), { maxLength: 4 })

const versionAddresses: FastCheck.Arbitrary<VersionAddress> = record({
  services: u64,
  address: ipAddresses,
  port: u16
})

const full = {
  type: constant("version" as const),
  version: integer(),
  services: u64,
  time: FastCheck.maxSafeInteger(),
  receiver: versionAddresses,
  sender: record({ address: versionAddresses, nonce: u64 }),
  userAgent: string({ maxLength: 256, unit: u8.map((byte) => String.fromCharCode(byte)) }),
  startHeight: integer(),
  relay: boolean()
}
const none = constant(undefined)

const locating = { version: u32, locator: hashes, stop: hash }
const inventory = { items: array(record({ type: u32, hash }), { maxLength: 4 }) }
const filterRange = { filterType: u8, startHeight: u32, stopHash: hash }

/** Ascending indexes below the limit of 16 bits. */
const indexes = FastCheck.uniqueArray(u16, { maxLength: 5 }).map((list) => list.sort((a, b) => a - b))

const prefilled = indexes.chain((list) =>
  tuple(...list.map((index) => transactions.map((transaction) => ({ index, transaction }))))
)

const tagged = <C extends MessageCommand, A>(type: C, fields: { readonly [K in keyof A]: FastCheck.Arbitrary<A[K]> }) =>
  record(fields).map((parts) => ({ type, ...parts }))

/** The messages of each command. */
export const messages: { readonly [C in MessageCommand]: FastCheck.Arbitrary<Message & { readonly type: C }> } = {
  version: oneof(
    record(full),
    record({ ...full, relay: none }),
    record({ ...full, relay: none, startHeight: none }),
    record({ ...full, relay: none, startHeight: none, userAgent: none }),
    record({ ...full, relay: none, startHeight: none, userAgent: none, sender: none })
  ),
  verack: constant({ type: "verack" }),
  wtxidrelay: constant({ type: "wtxidrelay" }),
  sendaddrv2: constant({ type: "sendaddrv2" }),
  sendtxrcncl: tagged("sendtxrcncl", { version: u32, salt: u64 }),
  alert: tagged("alert", { payload: blob, signature: blob }),
  ping: tagged("ping", { nonce: option(u64, { nil: undefined }) }),
  pong: tagged("pong", { nonce: u64 }),
  addr: tagged("addr", { addresses: addressEntries(ipAddresses) }),
  addrv2: tagged("addrv2", { addresses: addressEntries(oneof(netAddresses, unknownAddresses)) }),
  getaddr: constant({ type: "getaddr" }),
  getheaders: tagged("getheaders", locating),
  getblocks: tagged("getblocks", locating),
  headers: tagged("headers", { headers: array(blockHeaders, { maxLength: 3 }) }),
  sendheaders: constant({ type: "sendheaders" }),
  inv: tagged("inv", inventory),
  getdata: tagged("getdata", inventory),
  notfound: tagged("notfound", inventory),
  block: tagged("block", { block: blocks }),
  tx: tagged("tx", { transaction: transactions }),
  feefilter: tagged("feefilter", { feeRate: FastCheck.maxSafeInteger() }),
  mempool: constant({ type: "mempool" }),
  sendcmpct: tagged("sendcmpct", { highBandwidth: boolean(), version: u64 }),
  cmpctblock: tagged("cmpctblock", {
    header: blockHeaders,
    nonce: u64,
    shortIds: array(integer({ min: 0, max: 2 ** 48 - 1 }), { maxLength: 6 }),
    prefilled
  }),
  getblocktxn: tagged("getblocktxn", { hash, indexes }),
  blocktxn: tagged("blocktxn", { hash, transactions: array(transactions, { maxLength: 3 }) }),
  filterload: tagged("filterload", { filter: blob, hashFunctions: u32, tweak: u32, flags: u8 }),
  filteradd: tagged("filteradd", { data: blob }),
  filterclear: constant({ type: "filterclear" }),
  merkleblock: tagged("merkleblock", { header: blockHeaders, transactions: u32, hashes, flags: blob }),
  getcfilters: tagged("getcfilters", filterRange),
  cfilter: tagged("cfilter", { filterType: u8, blockHash: hash, filter: blob }),
  getcfheaders: tagged("getcfheaders", filterRange),
  cfheaders: tagged("cfheaders", { filterType: u8, stopHash: hash, previousHeader: hash, filterHashes: hashes }),
  getcfcheckpt: tagged("getcfcheckpt", { filterType: u8, stopHash: hash }),
  cfcheckpt: tagged("cfcheckpt", { filterType: u8, stopHash: hash, filterHeaders: hashes })
}
