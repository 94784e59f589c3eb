import { Effect, Either, Layer } from "effect"
import { Chain } from "../../../src/chain/Chain.ts"
import { ChainCoins } from "../../../src/chain/ChainCoins.ts"
import { SyncStatus } from "../../../src/chain/SyncStatus.ts"
import { isExpired } from "../../../src/consensus/expiry.ts"
import { MIN_FIRSTUPDATE_DEPTH } from "../../../src/consensus/names.ts"
import { regtestParams } from "../../../src/consensus/params.ts"
import { TransactionRejected } from "../../../src/mempool/errors.ts"
import { Mempool } from "../../../src/mempool/Mempool.ts"
import { DEFAULT_POLICY } from "../../../src/mempool/policy/Policy.ts"
import type { PoolEntry } from "../../../src/mempool/PoolEntry.ts"
import { asking } from "../../../src/names/completeNames.ts"
import { NameNotFound } from "../../../src/names/errors.ts"
import { NameDb, type NameEntry } from "../../../src/names/NameDb.ts"
import { decodeBlock } from "../../../src/protocol/block.ts"
import { binaryString, type Bytes, concat, displayHash, EMPTY, equal } from "../../../src/protocol/bytes.ts"
import { hash160, hash256, sha256 } from "../../../src/protocol/hash.ts"
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
import { FundsMissing, InvalidWalletRequest, KeysLocked } from "../../../src/wallet/errors.ts"
import { emptyDocument, type WalletDocument } from "../../../src/wallet/keys/WalletDocument.ts"
import type { OwnScript } from "../../../src/wallet/keys/WalletKeys.ts"
import type { WalletCoin, WalletTx, WalletTxState } from "../../../src/wallet/ledger/WalletLedger.ts"
import type { WalletOfNames } from "../../../src/wallet/names/NameParts.ts"
import type { WalletName } from "../../../src/wallet/names/WalletNames.ts"
import type { PaymentRequest } from "../../../src/wallet/payments/WalletPayments.ts"
import type { WalletEvent } from "../../../src/wallet/Wallet.ts"
import { noTree } from "../../support/noTree.ts"
import { entryOf } from "../../support/pool.ts"
import { ownScript } from "../payments/coins.ts"

const text = (value: string): Uint8Array => new TextEncoder().encode(value)

/** Thrown to stop a node at one of its points. */
export const CRASH = "the node was ended"

const NAME_AMOUNT = 1_000_000

interface NameOutput {
  readonly vout: number
  readonly script: NameScript
}

const nameOutput = ({ outputs }: Transaction): NameOutput | undefined => {
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

/**
 * A chain, a mempool and a minimal wallet with the rules for names. Its node can be stopped between any two steps.
 * `document`, `sent` and `keys` are on the disk; the mempool is lost.
 */
export class World {
  document: WalletDocument = emptyDocument({ network: "regtest", createdAt: 0 })
  sent: Array<{ readonly transaction: Transaction; readonly order: number; abandoned: boolean }> = []
  keys = 0
  readonly blocks: Array<ReadonlyArray<Transaction>> = Array.from({ length: 101 }, () => [])
  pool = new Map<string, Transaction>()
  locked = false
  /** Unix time; 0 for a wallet without encryption. */
  unlockedUntil = 0
  poor = false
  /** How many operations the wallet can send before a block: all others would depend on too many. */
  room = Number.POSITIVE_INFINITY
  /** Names whose operations the wallet does not sign. */
  readonly refused = new Set<NameKey>()
  behind = false
  /** Whether known blocks are missing, after the initial download. */
  syncing = false
  /** Whether names.db has no names yet: it is rebuilt. */
  rebuilding = false
  /** Whether the wallet has searched the chain for its keys. Until then it has no confirmed coins. */
  searched = true
  /** Transactions that a block made invalid. */
  readonly impossible = new Set<string>()
  /** The commitments of this run of the node (reference/protocol.md 5.6, M1). */
  private commitments = new Map<string, string>()
  private funding = 0
  /** Points that the node passes before it stops. */
  countdown = Infinity
  points = 0
  /** How many times the wallet's transactions were listed. */
  listed = 0
  readonly events: Array<WalletEvent> = []

  get height(): number {
    return this.blocks.length - 1
  }

  private readonly point = Effect.suspend(() => {
    this.points++
    return this.countdown-- === 0 ? Effect.die(CRASH) : Effect.void
  })

  /** Starts the node again: the wallet offers its unconfirmed transactions to the mempool again. */
  restart(): void {
    this.countdown = Infinity
    this.pool = new Map()
    this.commitments = new Map()
    for (const { abandoned, transaction } of this.sent) if (!abandoned) this.accept(transaction)
  }

  // Keys

  private privateKeyOf(index: number): Bytes {
    return sha256(text(`key ${index}`))
  }

  scriptOf(index: number): Bytes {
    return concat(Uint8Array.of(0x76, 0xa9, 20), hash160(this.privateKeyOf(index)), Uint8Array.of(0x88, 0xac))
  }

  private indexOf(script: Bytes): number {
    for (let i = 0; i < this.keys; i++) if (equal(this.scriptOf(i), script)) return i
    return -1
  }

  private own(script: Bytes): OwnScript | undefined {
    const address = parseNameScript(script)?.address ?? script
    return this.indexOf(address) === -1 ? undefined : ownScript({ script: address })
  }

  // Chain

  private heightOf(txid: Bytes): number | undefined {
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
      const source = this.sourceOf(prevoutTxid(prevout))
      if (source === undefined) continue
      const made = this.heightOf(source.txid)
      if (made === undefined || this.isSpent(outpointKey(prevout))) return false
      if (name !== undefined && made + MIN_FIRSTUPDATE_DEPTH > height) return false
    }
    return name === undefined || !this.isHeld(name, height)
  }

  private sourceOf(txid: Bytes): Transaction | undefined {
    const key = binaryString(txid)
    return this.pool.get(key) ?? this.sent.find(({ transaction }) => transaction.txidKey === key)?.transaction ??
      this.blocks.flat().find((transaction) => transaction.txidKey === key)
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

  /** Another owner gives a name to the wallet; the transaction waits for a block. */
  giveBack(name: Bytes): void {
    const { txid, value, vout } = this.record(name) ?? {}
    if (txid === undefined || value === undefined || vout === undefined) throw new Error("the name has no record")
    const operation: NameOperation = { op: "name_update", name, value }
    const transaction = this.foreign(operation, [outpoint(txid, vout)], this.scriptOf(0))
    this.sent.push({ transaction, order: this.sent.length, abandoned: false })
    this.accept(transaction)
  }

  private build(outputs: ReadonlyArray<TransactionOutput>, spends: ReadonlyArray<Uint8Array>): Transaction {
    const money = outpoint(hash256(text(`money ${this.funding++}`)), 0)
    return makeTransaction({
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
  }

  // Wallet

  stateOf({ txid, txidKey }: Transaction, abandoned: boolean): WalletTxState {
    const height = this.heightOf(txid)
    if (height !== undefined) return { type: "confirmed", height, hash: EMPTY, index: 0, blockTime: 0 }
    if (this.impossible.has(txidKey)) return { type: "conflicted", height: this.height }
    return this.pool.has(txidKey) ? { type: "pending" } : { type: "inactive", abandoned }
  }

  readonly transactions = (): ReadonlyArray<WalletTx> =>
    this.sent.map(({ abandoned, order, transaction }) => ({
      transaction,
      state: this.stateOf(transaction, abandoned),
      time: 0,
      order,
      comment: undefined,
      commentTo: undefined,
      replaces: undefined,
      replacedBy: undefined,
      spent: []
    }))

  readonly coins = (): ReadonlyArray<WalletCoin> => {
    if (!this.searched) return []
    const live = this.transactions().filter(({ state }) =>
      state.type !== "conflicted" && !(state.type === "inactive" && state.abandoned)
    )
    const spent = new Set(
      live.flatMap(({ transaction }) => transaction.inputs.map(({ prevout }) => outpointKey(prevout)))
    )
    return live.flatMap(({ state, transaction }) =>
      transaction.outputs.flatMap((output, vout): ReadonlyArray<WalletCoin> => {
        const key = outpointKey(outpoint(transaction.txid, vout))
        const own = this.own(output.script)
        if (own === undefined || spent.has(key)) return []
        const name = parseNameScript(output.script)
        const height = state.type === "confirmed" ? state.height : undefined
        const expires = name !== undefined && name.operation.op !== "name_new" && height !== undefined
        return [{
          outpoint: key,
          txid: transaction.txid,
          vout,
          output,
          own,
          name,
          height,
          coinbase: false,
          trusted: true,
          safe: true,
          locked: false,
          expired: expires && isExpired({ height }, this.height + 1, regtestParams),
          nameExpired: expires && isExpired({ height }, this.height, regtestParams)
        }]
      })
    )
  }

  /** The names of transactions of the wallet, in their last state. */
  private readonly ownNames = (): ReadonlyArray<WalletName> => {
    const found = new Map<NameKey, WalletName>()
    for (const { state, transaction } of this.transactions()) {
      const output = nameOutput(transaction)
      const operation = output?.script.operation
      if (state.type !== "confirmed" || output === undefined || operation === undefined) continue
      if (operation.op === "name_new") continue
      const { address } = output.script
      found.set(nameKey(operation.name), {
        name: operation.name,
        operation,
        txid: transaction.txid,
        vout: output.vout,
        script: address,
        height: state.height,
        mine: this.indexOf(address) !== -1
      })
    }
    return [...found.values()]
  }

  private readonly pay = (request: PaymentRequest) =>
    Effect.gen(this, function*() {
      if (this.locked) return yield* new KeysLocked({})
      if (this.poor) return yield* new FundsMissing({ needed: NAME_AMOUNT, available: 0 })
      if (this.room <= 0) return yield* new InvalidWalletRequest({ code: "long-chain", reason: "too many" })
      this.room--
      const isRefused = request.outputs.some(({ script }) => {
        const operation = parseNameScript(script)?.operation
        return operation?.op === "name_update" && this.refused.has(nameKey(operation.name))
      })
      if (isRefused) return yield* new KeysLocked({ renewalsOnly: "it costs too much" })
      const coins = this.coins()
      const spends: Array<Uint8Array> = []
      for (const { outpoint: key } of request.inputs ?? []) {
        const coin = coins.find((other) => other.outpoint === key)
        if (coin === undefined) {
          return yield* new FundsMissing({ needed: NAME_AMOUNT, available: 0, missing: key })
        }
        spends.push(outpoint(coin.txid, coin.vout))
      }
      const transaction = this.build([{ value: 5_000, script: this.scriptOf(0) }, ...request.outputs], spends)
      const funded = { transaction, fee: 1_000, changePosition: 0, coins: [], feeReason: "" }
      yield* this.point
      this.sent.push({ transaction, order: this.sent.length, abandoned: false })
      yield* this.point
      const reason = this.accept(transaction)
      if (reason !== undefined) {
        this.sent.pop()
        return yield* new TransactionRejected({ txid: displayHash(transaction.txid), reason, kind: "conflict" })
      }
      yield* this.point
      return funded
    })

  /** The parts of the wallet that its names use. */
  private readonly wallet = Effect.gen(this, function*() {
    const documentNow = () => this.document
    const tipNow = () => ({ height: this.height, hash: EMPTY })
    const wallet: WalletOfNames = {
      chain: yield* Chain,
      chainCoins: yield* ChainCoins,
      mempool: yield* Mempool,
      status: yield* SyncStatus,
      nameDb: yield* NameDb,
      askNames: asking({
        cursor: Effect.sync(tipNow),
        settled: Effect.sync(() => this.rebuilding ? undefined : tipNow())
      }),
      index: { complete: () => this.searched },
      file: {
        get document() {
          return documentNow()
        },
        update: (change) =>
          Effect.gen(this, function*() {
            yield* this.point
            this.document = change(this.document)
            yield* this.point
            return this.document
          })
      },
      ledger: {
        get tip() {
          return tipNow()
        },
        coins: this.coins,
        transactions: () => {
          this.listed++
          return this.transactions()
        },
        get: (key) => this.transactions().find(({ transaction }) => transaction.txidKey === key),
        names: this.ownNames,
        balances: () => ({ trusted: this.poor ? 0 : 1_000 * NAME_AMOUNT, untrustedPending: 0, immature: 0 })
      },
      vault: {
        encryption: () => this.locked ? "locked" : this.unlockedUntil === 0 ? "none" : "unlocked",
        signsRenewals: () => !this.locked,
        unlockedUntil: () => this.unlockedUntil,
        renewalsUntil: () => 0
      },
      keys: {
        own: (script) => this.own(script),
        draftAddress: () => ownScript({ script: this.scriptOf(this.keys) }),
        reserveAddress: () =>
          Effect.gen(this, function*() {
            yield* this.point
            return { own: ownScript({ script: this.scriptOf(this.keys++) }), release: () => void this.keys-- }
          })
      },
      payments: {
        pay: this.pay,
        feeRate: ({ feeRate = 100_000 }) => Either.right({ feeRate, reason: "" }),
        fund: (request) =>
          Effect.succeed({
            transaction: this.build(request.outputs, []),
            fee: 1_000,
            changePosition: 0,
            coins: [],
            feeReason: ""
          })
      },
      privateKey: (script) => {
        const index = this.indexOf(parseNameScript(script)?.address ?? script)
        if (index === -1) return Effect.succeed(undefined)
        return this.locked ? new KeysLocked({}) : Effect.succeed(this.privateKeyOf(index))
      },
      publish: (event) => Effect.sync(() => void this.events.push(event))
    }
    return wallet
  })

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

  private readonly chain = Layer.mock(Chain, {
    params: regtestParams,
    tree: noTree,
    tip: this.tip
  })

  private readonly chainCoins = Layer.mock(ChainCoins, {
    coin: (key) => Effect.map(this.tip, (tip) => ({ coin: this.coinAt(key), tip })),
    coinOf: (txid) => Effect.sync(() => this.coinOf(txid))
  })

  private readonly mempool = Layer.suspend(() => {
    const nothing = (): never => {
      throw new Error("not for this test")
    }
    const unused = Effect.dieMessage("not for this test")
    return Layer.mock(Mempool, {
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
  })

  private readonly names = Layer.mock(NameDb, {
    atOnce: () => undefined,
    follower: {
      name: "names",
      cursor: Effect.die(CRASH),
      apply: () => Effect.die(CRASH),
      rewind: () => Effect.die(CRASH)
    },
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

  /** The dependencies of the wallet's names part. */
  readonly parts = Effect.provide(
    this.wallet,
    Layer.mergeAll(this.chain, this.chainCoins, this.mempool, this.names, this.status)
  )

  // Results

  /** Transactions of the wallet with an operation. */
  made(op: NameOperation["op"]): ReadonlyArray<Transaction> {
    return this.sent.map(({ transaction }) => transaction)
      .filter((transaction) => nameOutput(transaction)?.script.operation.op === op)
  }
}

/** Another owner's commitment to a name. */
export const foreignNew = (world: World, name: Bytes, rand: Bytes): Transaction =>
  world.foreign({ op: "name_new", commitment: nameCommitment(rand, name) })
