import { randomBytes } from "node:crypto"
import { encodeFrame } from "../../src/network/wire/framing.ts"
import {
  commandOf,
  encodeMessage,
  encodePayload,
  type Message,
  type MessageCommand
} from "../../src/network/wire/message.ts"
import type { AddressEntry } from "../../src/network/wire/messages/addr.ts"
import { MAX_HEADERS, MAX_HEADERS_SIZE, MAX_LOCATOR } from "../../src/network/wire/messages/headers.ts"
import { type InventoryItem, ItemType, MAX_INVENTORY } from "../../src/network/wire/messages/inv.ts"
import { makeAuxpow } from "../../src/protocol/auxpow.ts"
import { type BlockHeader, makeBlock } from "../../src/protocol/block.ts"
import { concat, reversed } from "../../src/protocol/bytes.ts"
import type { Header } from "../../src/protocol/header.ts"
import { merkleRoot } from "../../src/protocol/merkle.ts"
import { makeTransaction, NO_WITNESS, type Transaction } from "../../src/protocol/transaction.ts"
import { ANYONE, BLOCK_VERSION, coinbaseInput, makeCoinbase, solve, solveParent } from "../../test/support/regtest.ts"
import { hello } from "../bench/traffic.ts"
import { ANCHOR } from "./coins.ts"
import { magic } from "./Field.ts"
import type { Target } from "./Target.ts"

/** The largest messages of each kind, as pieces to write. Made once, before the clock starts. */

/** The longest payloads that the node keeps (src/network/wire/message.ts), and that the protocol allows. */
const SHORT_PAYLOAD = 0x20000
const BLOCK_PAYLOAD = 0x500000
const HEADERS_PAYLOAD = 0x1000000

/** Size in bytes of the pieces of short frames: a write for each frame would cost the attacker more than the node. */
const PIECE = 0x10000

const hash = (): Uint8Array => randomBytes(32)

/** A hash in wire order, from the text that RPC shows. */
export const wireHash = (text: string): Uint8Array => Buffer.from(text, "hex").reverse()

const list = <A>(length: number, make: (i: number) => A): ReadonlyArray<A> => Array.from({ length }, (_, i) => make(i))

/** Many frames of a short message as one piece. */
const many = (frames: ReadonlyArray<Uint8Array>): Uint8Array => {
  const size = frames.reduce((sum, { length }) => sum + length, 0)
  return concat(...list(Math.max(1, Math.floor(PIECE / size)), () => frames).flat())
}

/** Frames of short messages joined into pieces, each frame once. */
export const packed = (frames: ReadonlyArray<Uint8Array>): ReadonlyArray<Uint8Array> => {
  const pieces: Array<Uint8Array> = []
  let waiting: Array<Uint8Array> = []
  let size = 0
  for (const next of frames) {
    waiting.push(next)
    size += next.length
    if (size < PIECE) continue
    pieces.push(concat(...waiting))
    waiting = []
    size = 0
  }
  return waiting.length > 0 ? [...pieces, concat(...waiting)] : pieces
}

export const frame = (message: Message): Uint8Array => encodeMessage(magic, message)

/** A message with padding that its reader ignores, so that it is as long as its command may be. */
const padded = (message: Message, size = SHORT_PAYLOAD): Uint8Array => {
  const parts = encodePayload(message)
  const length = parts.reduce((sum, part) => sum + part.length, 0)
  return encodeFrame(magic, commandOf(message), [...parts, randomBytes(Math.max(0, size - length))])
}

/** A frame of random bytes. */
export const noise = (command: string, size: number): Uint8Array => encodeFrame(magic, command, [randomBytes(size)])

/** A frame whose payload stays incomplete: all but its last byte. */
export const unfinished = (command: string, size: number): Uint8Array => {
  const whole = new Uint8Array(24 + size)
  whole.set(encodeFrame(magic, command, []))
  new DataView(whole.buffer).setUint32(16, size, true)
  return whole.subarray(0, -1)
}

const inventory = (type: number, count: number): ReadonlyArray<InventoryItem> =>
  list(count, () => ({ type, hash: hash() }))

/** A transaction whose inputs spend unknown coins; each has a script of `size` bytes. */
export const orphan = (inputs: number, size: number): Transaction =>
  makeTransaction({
    version: 2,
    inputs: list(inputs, () => ({
      prevout: concat(hash(), new Uint8Array(4)),
      scriptSig: randomBytes(size),
      sequence: 0xffffffff,
      witness: NO_WITNESS
    })),
    outputs: [{ value: 1_000_000, script: ANCHOR }],
    lockTime: 0
  })

/** The smallest possible transactions, each different from the others. */
const tiny = (seed: number): Transaction =>
  makeTransaction({
    version: 2,
    inputs: [{
      prevout: concat(hash(), new Uint8Array(4)),
      scriptSig: new Uint8Array(0),
      sequence: seed,
      witness: NO_WITNESS
    }],
    outputs: [],
    lockTime: 0
  })

/** Transactions for a block of about so many bytes. */
const filling = (size: number): ReadonlyArray<Transaction> => {
  const one = tiny(0)
  return list(Math.floor(size / one.bytes.length), tiny)
}

/** The parent of a header: the tip, or an unknown block. */
interface Ground {
  readonly hash: Uint8Array
  readonly time: number
  readonly bits: number
}

export const groundOf = ({ tip }: Target): Ground => ({
  hash: wireHash(tip.hash),
  time: tip.time,
  bits: tip.bits
})

/** A header with work. */
export const header = ({ bits, hash, time }: Ground, root: Uint8Array, flag = 0): Header =>
  solve({ version: BLOCK_VERSION | flag, prevHash: hash, merkleRoot: root, time: time + 1, bits })

/** A valid merged-mining proof of about so many bytes. */
const proof = ({ bits, hash }: Header, size: number): BlockHeader["auxpow"] => {
  const scriptSig = concat(reversed(hash), Uint8Array.of(1, 0, 0, 0, 0, 0, 0, 0))
  const coinbase = makeTransaction({
    version: 1,
    inputs: [coinbaseInput(scriptSig)],
    outputs: [{ value: 0, script: randomBytes(size) }],
    lockTime: 0
  })
  return makeAuxpow({
    coinbase,
    coinbaseBranch: [],
    chainBranch: [],
    chainIndex: 0,
    parent: solveParent(coinbase, bits)
  })
}

/** A chain of headers, with proofs of about so many bytes; without proofs for 0. */
export const headerChain = (ground: Ground, length: number, proofSize: number): ReadonlyArray<BlockHeader> => {
  const headers: Array<BlockHeader> = []
  let below = ground
  for (let i = 0; i < length; i++) {
    const next = header(below, hash(), proofSize > 0 ? 0x100 : 0)
    headers.push({ header: next, auxpow: proofSize > 0 ? proof(next, proofSize) : undefined })
    below = { hash: next.hash, time: next.time, bits: next.bits }
  }
  return headers
}

/** A compact block on top of the tip whose transactions are all unknown; each call makes another. */
export const compactBlock = (target: Target, shortIds = 65_000): Uint8Array => {
  const ids = randomBytes(6 * shortIds)
  return frame({
    type: "cmpctblock",
    header: { header: header(groundOf(target), hash()), auxpow: undefined },
    nonce: randomBytes(8).readBigUInt64LE(),
    shortIds: list(shortIds, (i) => ids.readUIntLE(6 * i, 6)),
    prefilled: [{ index: 0, transaction: makeCoinbase(target.tip.height + 1, [{ value: 1, script: ANYONE }]) }]
  })
}

/** An unsolicited block of about so many bytes, on top of the tip or of an unknown block. */
export const block = (target: Target, size: number, onTip: boolean): Uint8Array => {
  const transactions = [makeCoinbase(target.tip.height + 1, [{ value: 1, script: ANYONE }]), ...filling(size)]
  const ground = onTip ? groundOf(target) : { ...groundOf(target), hash: hash() }
  const root = merkleRoot(transactions.map(({ txid }) => txid)).root
  return frame({ type: "block", block: makeBlock({ header: header(ground, root), auxpow: undefined }, transactions) })
}

/** Addresses that can be gossiped, or ones of unknown networks with the greatest length. */
const addresses = (unknown: boolean): ReadonlyArray<AddressEntry> =>
  list(1_000, () => ({
    time: Math.floor(Date.now() / 1000) - 60,
    services: 9n,
    port: 8334,
    address: unknown
      ? { network: "unknown", id: 99, bytes: randomBytes(512) }
      : { network: "ipv4", bytes: Uint8Array.of(1 + Math.floor(Math.random() * 100), ...randomBytes(3)) }
  }))

const locating = (known: boolean, target: Target) => ({
  version: 70_016,
  locator: list(MAX_LOCATOR, (i) => known && i === MAX_LOCATOR - 1 ? wireHash(target.hashes[0] ?? "") : hash()),
  stop: new Uint8Array(32)
})

const range = { filterType: 0, startHeight: 0, stopHash: new Uint8Array(32) }

/** Pieces to write for each command, with the largest size that it may have. */
export const LARGEST: { readonly [C in MessageCommand]: (target: Target) => ReadonlyArray<Uint8Array> } = {
  version: ({ tip }) => [padded(hello(tip.height))],
  verack: () => [padded({ type: "verack" })],
  wtxidrelay: () => [padded({ type: "wtxidrelay" })],
  sendaddrv2: () => [padded({ type: "sendaddrv2" })],
  sendtxrcncl: () => [padded({ type: "sendtxrcncl", version: 1, salt: 1n })],
  alert: () => [
    frame({ type: "alert", payload: randomBytes(SHORT_PAYLOAD / 2), signature: randomBytes(SHORT_PAYLOAD / 2 - 16) })
  ],
  ping: () => [many([frame({ type: "ping", nonce: 1n })]), padded({ type: "ping", nonce: 1n })],
  pong: () => [many([frame({ type: "pong", nonce: 1n })]), padded({ type: "pong", nonce: 1n })],
  addr: () => list(4, () => frame({ type: "addr", addresses: addresses(false) })),
  addrv2: () => list(4, (i) => frame({ type: "addrv2", addresses: addresses(i % 2 === 0) })),
  getaddr: () => [many([frame({ type: "getaddr" })])],
  getheaders: (target) => [many(list(2, (i) => frame({ type: "getheaders", ...locating(i === 0, target) })))],
  getblocks: (target) => [many(list(2, (i) => frame({ type: "getblocks", ...locating(i === 0, target) })))],
  // As long as headers may be from a peer of our version, and as long as a frame may be.
  headers: (target) =>
    [MAX_HEADERS_SIZE, HEADERS_PAYLOAD].map((size) =>
      frame({ type: "headers", headers: headerChain(groundOf(target), MAX_HEADERS, size / MAX_HEADERS - 500) })
    ),
  sendheaders: () => [many([frame({ type: "sendheaders" })])],
  inv: () =>
    list(
      4,
      (i) => frame({ type: "inv", items: inventory(i % 2 === 0 ? ItemType.wtx : ItemType.block, MAX_INVENTORY) })
    ),
  getdata: () =>
    list(
      4,
      (i) =>
        frame({ type: "getdata", items: inventory(i % 2 === 0 ? ItemType.wtx : ItemType.witnessBlock, MAX_INVENTORY) })
    ),
  notfound: () => list(4, () => frame({ type: "notfound", items: inventory(ItemType.wtx, 58_000) })),
  // As long as a block without witnesses may be, and as long as a frame may be.
  block: (target) => list(8, (i) => block(target, i % 2 === 0 ? 980_000 : BLOCK_PAYLOAD - 1_000, i < 6)),
  tx: () => [
    ...list(4, () => frame({ type: "tx", transaction: orphan(2_000, 0) })),
    ...list(4, () => frame({ type: "tx", transaction: orphan(1, 99_000) })),
    frame({ type: "tx", transaction: orphan(25_000, 0) })
  ],
  feefilter: () => [many(list(64, (i) => frame({ type: "feefilter", feeRate: 1_000 + i })))],
  mempool: () => [many([frame({ type: "mempool" })])],
  sendcmpct: () => [many(list(2, (i) => frame({ type: "sendcmpct", highBandwidth: i === 0, version: 2n })))],
  cmpctblock: (target) => list(64, () => compactBlock(target)),
  getblocktxn: (target) => [
    many(target.hashes.slice(-10).map((text) => frame({ type: "getblocktxn", hash: wireHash(text), indexes: [0] }))),
    // As many as a block may have, and as many as fit the 16 bits of an index.
    ...[4_500, 0xffff].map((count) =>
      frame({ type: "getblocktxn", hash: wireHash(target.tip.hash), indexes: list(count, (i) => i) })
    )
  ],
  blocktxn: () =>
    list(2, () => frame({ type: "blocktxn", hash: hash(), transactions: filling(BLOCK_PAYLOAD - 1_000) })),
  filterload: () => [
    frame({ type: "filterload", filter: randomBytes(36_000), hashFunctions: 50, tweak: 0, flags: 0 })
  ],
  filteradd: () => [frame({ type: "filteradd", data: randomBytes(520) })],
  filterclear: () => [frame({ type: "filterclear" })],
  merkleblock: (target) => [
    frame({
      type: "merkleblock",
      header: { header: header(groundOf(target), hash()), auxpow: undefined },
      transactions: 160_000,
      hashes: list(160_000, hash),
      flags: randomBytes(20_000)
    })
  ],
  getcfilters: () => [many([frame({ type: "getcfilters", ...range })])],
  cfilter: () => [
    frame({ type: "cfilter", filterType: 0, blockHash: hash(), filter: randomBytes(BLOCK_PAYLOAD - 100) })
  ],
  getcfheaders: () => [many([frame({ type: "getcfheaders", ...range })])],
  cfheaders: () => [
    frame({
      type: "cfheaders",
      filterType: 0,
      stopHash: hash(),
      previousHeader: hash(),
      filterHashes: list(4_000, hash)
    })
  ],
  getcfcheckpt: () => [many([frame({ type: "getcfcheckpt", filterType: 0, stopHash: hash() })])],
  cfcheckpt: () => [frame({ type: "cfcheckpt", filterType: 0, stopHash: hash(), filterHeaders: list(4_000, hash) })]
}
