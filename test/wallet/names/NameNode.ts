import { Effect, Layer } from "effect"
import { Chain } from "../../../src/chain/Chain.ts"
import { ChainCoins } from "../../../src/chain/ChainCoins.ts"
import { SyncStatus } from "../../../src/chain/SyncStatus.ts"
import { isExpired } from "../../../src/consensus/expiry.ts"
import { MIN_FIRSTUPDATE_DEPTH } from "../../../src/consensus/names.ts"
import { regtestParams } from "../../../src/consensus/params.ts"
import { Mempool } from "../../../src/mempool/Mempool.ts"
import { DEFAULT_POLICY } from "../../../src/mempool/policy/Policy.ts"
import type { PoolEntry } from "../../../src/mempool/PoolEntry.ts"
import { NameNotFound } from "../../../src/names/errors.ts"
import { NameDb, type NameEntry } from "../../../src/names/NameDb.ts"
import { decodeBlock } from "../../../src/protocol/block.ts"
import { binaryString, type Bytes, EMPTY, equal } from "../../../src/protocol/bytes.ts"
import { hash256 } from "../../../src/protocol/hash.ts"
import { type NameKey, nameKey } from "../../../src/protocol/keys.ts"
import {
  NAME_TX_VERSION,
  nameCommitment,
  type NameOperation,
  type NameScript,
  nameScript,
  parseNameScript
} from "../../../src/protocol/nameOperation.ts"
import {
  makeTransaction,
  NO_WITNESS,
  outpoint,
  outpointKey,
  prevoutTxid,
  type Transaction,
  type TransactionOutput
} from "../../../src/protocol/transaction.ts"
import { noTree } from "../../support/noTree.ts"
import { entryOf } from "../../support/pool.ts"

const text = (value: string): Uint8Array => new TextEncoder().encode(value)

export const NAME_AMOUNT = 1_000_000

interface NameOutput {
  readonly vout: number
  readonly script: NameScript
}

export const nameOutput = ({ outputs }: Transaction): NameOutput | undefined => {
  for (const [vout, { script }] of outputs.entries()) {
    const name = parseNameScript(script)
    if (name !== undefined) return { vout, script: name }
  }
  return undefined
}

const registeredName = (transaction: Transaction): Bytes | undefined => {
  const operation = nameOutput(transaction)?.script.operation
  return operation?.op === "name_firstupdate" ? operation.name : undefined
}

const unused = Effect.dieMessage("not for this test")

const nothing = (): never => {
  throw new Error("not for this test")
}

/** A chain and a mempool with the rules for names, and the services of a node over them. */
export class NameNode {
  readonly blocks: Array<ReadonlyArray<Transaction>> = Array.from({ length: 101 }, () => [])
  pool = new Map<string, Transaction>()
  behind = false
  /** Whether known blocks are missing, after the initial download. */
  syncing = false
  /** Whether names.db has no names yet: it is rebuilt. */
  rebuilding = false
  /** Transactions that a block made invalid. */
  readonly impossible = new Set<string>()
  /** The commitments of this run of the node (reference/protocol.md 5.6, M1). */
  private commitments = new Map<string, string>()
  /** All transactions that were ever built, by their txids. */
  private readonly built = new Map<string, Transaction>()
  private funding = 0

  get height(): number {
    return this.blocks.length - 1
  }

  // Chain

  protected heightOf(txid: Bytes): number | undefined {
    const height = this.blocks.findIndex((block) => block.some((tx) => equal(tx.txid, txid)))
    return height === -1 ? undefined : height
  }

  private isSpent(key: string): boolean {
    return this.blocks.some((block) =>
      block.some((tx) => tx.inputs.some(({ prevout }) => outpointKey(prevout) === key))
    )
  }

  record(name: Bytes): NameEntry | undefined {
    let found: NameEntry | undefined
    for (const [height, block] of this.blocks.entries()) {
      for (const transaction of block) {
        const output = nameOutput(transaction)
        const operation = output?.script.operation
        if (output === undefined || operation === undefined || operation.op === "name_new") continue
        if (!equal(operation.name, name)) continue
        found = {
          name,
          value: operation.value,
          height,
          txid: transaction.txid,
          vout: output.vout,
          address: output.script.address,
          op: operation.op,
          amount: NAME_AMOUNT
        }
      }
    }
    return found
  }

  /** Whether the name is registered and not expired for a block at a height. */
  private isHeld(name: Bytes, height: number): boolean {
    const record = this.record(name)
    return record !== undefined && !isExpired(record, height, regtestParams)
  }

  private isMinable(transaction: Transaction, height: number): boolean {
    const name = registeredName(transaction)
    for (const { prevout } of transaction.inputs) {
      const source = this.built.get(binaryString(prevoutTxid(prevout)))
      if (source === undefined) continue
      const mined = this.heightOf(source.txid)
      if (mined === undefined || this.isSpent(outpointKey(prevout))) return false
      if (name !== undefined && mined + MIN_FIRSTUPDATE_DEPTH > height) return false
    }
    return name === undefined || !this.isHeld(name, height)
  }

  /** Mines blocks of the waiting transactions, without the excluded ones. */
  mine(count = 1, leaveOut: (transaction: Transaction) => boolean = () => false): void {
    for (let i = 0; i < count; i++) {
      const height = this.height + 1
      const block = [...this.pool.values()].filter((tx) => this.isMinable(tx, height) && !leaveOut(tx))
      this.connect(block)
    }
  }

  /** Connects a block, and removes its transactions and their conflicts from the mempool. */
  connect(block: ReadonlyArray<Transaction>): void {
    this.blocks.push(block)
    for (const [key, transaction] of this.pool) {
      const name = registeredName(transaction)
      const isMined = block.some(({ txidKey }) => txidKey === key)
      if (isMined || name !== undefined && this.isHeld(name, this.height + 1)) this.pool.delete(key)
    }
  }

  /** Disconnects blocks; their transactions return to the mempool where possible. */
  reorganise(count: number): void {
    const taken = this.blocks.splice(this.blocks.length - count).flat()
    for (const transaction of taken) this.accept(transaction)
  }

  // Mempool

  /** Adds a transaction, or returns why not. */
  accept(transaction: Transaction): string | undefined {
    if (this.heightOf(transaction.txid) !== undefined || this.impossible.has(transaction.txidKey)) return "txn-known"
    const output = nameOutput(transaction)
    const operation = output?.script.operation
    if (operation?.op === "name_new") {
      const key = binaryString(operation.commitment)
      if ((this.commitments.get(key) ?? transaction.txidKey) !== transaction.txidKey) return "txn-mempool-name-error"
      this.commitments.set(key, transaction.txidKey)
    }
    const name = registeredName(transaction)
    if (name !== undefined) {
      const others = this.pending(nameKey(name)).filter((entry) => registeredName(entry.transaction) !== undefined)
      if (others.some((entry) => entry.transaction.txidKey !== transaction.txidKey)) return "txn-mempool-name-error"
      if (this.isHeld(name, this.height + 1)) return "tx-firstupdate-existing-name"
    }
    this.pool.set(transaction.txidKey, transaction)
    return undefined
  }

  private pending(name: NameKey): ReadonlyArray<PoolEntry> {
    return [...this.pool.values()].flatMap((transaction) => {
      const output = nameOutput(transaction)
      const operation = output?.script.operation
      if (operation === undefined || operation.op === "name_new") return []
      return nameKey(operation.name) === name ? [entryOf(transaction)] : []
    })
  }

  /** A name operation of another owner. */
  foreign(
    operation: NameOperation,
    spends: ReadonlyArray<Uint8Array> = [],
    owner: Bytes = text("another owner")
  ): Transaction {
    return this.build([{ value: NAME_AMOUNT, script: nameScript(operation, owner) }], spends)
  }

  /** Loses what the mempool and its rules know. */
  protected forgetPool(): void {
    this.pool = new Map()
    this.commitments = new Map()
  }

  protected build(outputs: ReadonlyArray<TransactionOutput>, spends: ReadonlyArray<Uint8Array>): Transaction {
    const money = outpoint(hash256(text(`money ${this.funding++}`)), 0)
    const transaction = makeTransaction({
      version: NAME_TX_VERSION,
      inputs: [...spends, money].map((prevout) => ({
        prevout,
        scriptSig: EMPTY,
        sequence: 0xfffffffd,
        witness: NO_WITNESS
      })),
      outputs,
      lockTime: 0
    })
    this.built.set(transaction.txidKey, transaction)
    return transaction
  }

  // Services

  private readonly tip = Effect.sync(() => ({
    hash: EMPTY,
    height: this.height,
    header: decodeBlock(regtestParams.network.genesisBlock).header,
    chainwork: 0n,
    medianTimePast: 0,
    transactions: 1,
    size: 0,
    confirmations: 1,
    next: undefined
  }))

  private coinAt(key: string) {
    if (this.isSpent(key)) return undefined
    for (const [height, block] of this.blocks.entries()) {
      for (const { outputs, txid } of block) {
        for (const [vout, output] of outputs.entries()) {
          if (outpointKey(outpoint(txid, vout)) === key) return { ...output, height, coinbase: false }
        }
      }
    }
    return undefined
  }

  private coinOf(txid: Bytes) {
    const transaction = this.blocks.flat().find((other) => equal(other.txid, txid))
    for (const vout of transaction?.outputs.keys() ?? []) {
      const coin = this.coinAt(outpointKey(outpoint(txid, vout)))
      if (coin !== undefined) return coin
    }
    return undefined
  }

  private readonly chain = Layer.mock(Chain, { params: regtestParams, tree: noTree, tip: this.tip })

  private readonly chainCoins = Layer.mock(ChainCoins, {
    coin: (key) => Effect.map(this.tip, (tip) => ({ coin: this.coinAt(key), tip })),
    coinOf: (txid) => Effect.sync(() => this.coinOf(txid))
  })

  private readonly mempool = Layer.suspend(() =>
    Layer.mock(Mempool, {
      get: nothing,
      getByWtxid: nothing,
      entries: nothing,
      spender: (key) => {
        const found = [...this.pool.values()].find((tx) =>
          tx.inputs.some(({ prevout }) => outpointKey(prevout) === key)
        )
        return found === undefined ? undefined : entryOf(found)
      },
      ancestors: nothing,
      descendants: nothing,
      parents: nothing,
      children: nothing,
      cluster: nothing,
      chunkOf: nothing,
      chunks: nothing,
      pending: (name) => name === undefined ? [] : this.pending(name),
      coin: nothing,
      takesChild: () => true,
      fitsCluster: () => true,
      policy: DEFAULT_POLICY,
      info: nothing,
      prioritised: nothing,
      broadcastLater: nothing,
      isUnbroadcast: nothing,
      broadcastDone: nothing,
      unbroadcast: nothing,
      follower: { name: "mempool", cursor: unused, apply: () => unused, rewind: () => unused }
    })
  )

  private readonly names = Layer.mock(NameDb, {
    atOnce: () => undefined,
    follower: { name: "names", cursor: unused, apply: () => unused, rewind: () => unused },
    resolve: (name) =>
      Effect.suspend(() => {
        const record = this.rebuilding ? undefined : this.record(name)
        return record === undefined ? new NameNotFound({ requested: "" }) : Effect.succeed(record)
      })
  })

  private readonly status = Layer.mock(SyncStatus, {
    initialDownload: Effect.sync(() => this.behind),
    syncing: Effect.sync(() => this.syncing)
  })

  protected readonly services = Layer.mergeAll(this.chain, this.chainCoins, this.mempool, this.names, this.status)
}

/** Another owner's commitment to a name. */
export const foreignNew = (node: NameNode, name: Bytes, rand: Bytes): Transaction =>
  node.foreign({ op: "name_new", commitment: nameCommitment(rand, name) })
