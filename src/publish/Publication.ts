import type { ZmqTopic } from "../config/zmqOptions.ts"
import type { MempoolEvent } from "../mempool/PoolEntry.ts"
import type { Block } from "../protocol/block.ts"
import { type Bytes, reversed } from "../protocol/bytes.ts"
import type { Transaction } from "../protocol/transaction.ts"
import { Writer } from "../protocol/Writer.ts"

/** A message to publish, without the number that each publisher adds. */
export interface Notice {
  readonly topic: ZmqTopic
  readonly body: Bytes
}

/** The labels of `sequence`. */
const LABEL = { connected: 0x43, disconnected: 0x44, removed: 0x52, added: 0x41 } as const

/** A hash in RPC order, a label, and the sequence number of a mempool event as LE64. */
const sequenceBody = (hash: Bytes, label: keyof typeof LABEL, number?: number): Bytes => {
  const writer = new Writer(41).bytes(reversed(hash)).u8(LABEL[label])
  return (number === undefined ? writer : writer.i64(number)).toBytes()
}

/** Messages about changes of chain and mempool. Source: upstream `doc/zmq.md`, `zmq/zmqnotificationinterface.cpp`. */
export class Publication {
  readonly #topics: ReadonlySet<ZmqTopic>

  constructor(topics: ReadonlySet<ZmqTopic>) {
    this.#topics = topics
  }

  *#transaction({ bytes, txid }: Transaction): Iterable<Notice> {
    if (this.#topics.has("hashtx")) yield { topic: "hashtx", body: reversed(txid) }
    if (this.#topics.has("rawtx")) yield { topic: "rawtx", body: bytes }
  }

  *#block(block: Block, label: "connected" | "disconnected"): Iterable<Notice> {
    for (const transaction of block.transactions) yield* this.#transaction(transaction)
    if (this.#topics.has("sequence")) yield { topic: "sequence", body: sequenceBody(block.hash, label) }
  }

  connected(block: Block): Iterable<Notice> {
    return this.#block(block, "connected")
  }

  disconnected(block: Block): Iterable<Notice> {
    return this.#block(block, "disconnected")
  }

  /** The last of the blocks that connected together. */
  *tip({ bytes, hash }: Block): Iterable<Notice> {
    if (this.#topics.has("hashblock")) yield { topic: "hashblock", body: reversed(hash) }
    if (this.#topics.has("rawblock")) yield { topic: "rawblock", body: bytes }
  }

  /** A transaction that leaves with its block has no message, as the block has. */
  *changed(event: MempoolEvent): Iterable<Notice> {
    const { entry: { transaction }, sequence } = event
    if (event._tag === "Added") yield* this.#transaction(transaction)
    if (!this.#topics.has("sequence") || (event._tag === "Removed" && event.reason === "block")) return
    const label = event._tag === "Added" ? "added" : "removed"
    yield { topic: "sequence", body: sequenceBody(transaction.txid, label, sequence) }
  }
}
