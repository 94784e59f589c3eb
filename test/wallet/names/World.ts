import { Effect, Either } from "effect"
import { Chain } from "../../../src/chain/Chain.ts"
import { ChainCoins } from "../../../src/chain/ChainCoins.ts"
import { SyncStatus } from "../../../src/chain/SyncStatus.ts"
import { isExpired } from "../../../src/consensus/expiry.ts"
import { regtestParams } from "../../../src/consensus/params.ts"
import { TransactionRejected } from "../../../src/mempool/errors.ts"
import { Mempool } from "../../../src/mempool/Mempool.ts"
import { asking } from "../../../src/names/completeNames.ts"
import { NameDb } from "../../../src/names/NameDb.ts"
import { type Bytes, concat, displayHash, EMPTY, equal } from "../../../src/protocol/bytes.ts"
import { hash160, sha256 } from "../../../src/protocol/hash.ts"
import { type NameKey, nameKey } from "../../../src/protocol/keys.ts"
import { type NameOperation, parseNameScript } from "../../../src/protocol/nameOperation.ts"
import { outpoint, outpointKey, type Transaction } from "../../../src/protocol/transaction.ts"
import { FundsMissing, InvalidWalletRequest, KeysLocked } from "../../../src/wallet/errors.ts"
import { emptyDocument, type WalletDocument } from "../../../src/wallet/keys/WalletDocument.ts"
import type { OwnScript } from "../../../src/wallet/keys/WalletKeys.ts"
import type { WalletCoin, WalletTx, WalletTxState } from "../../../src/wallet/ledger/WalletLedger.ts"
import type { WalletOfNames } from "../../../src/wallet/names/NameParts.ts"
import type { WalletName } from "../../../src/wallet/names/WalletNames.ts"
import type { PaymentRequest } from "../../../src/wallet/payments/WalletPayments.ts"
import type { WalletEvent } from "../../../src/wallet/Wallet.ts"
import { ownScript } from "../payments/coins.ts"
import { NAME_AMOUNT, NameNode, nameOutput } from "./NameNode.ts"

const text = (value: string): Uint8Array => new TextEncoder().encode(value)

/** Thrown to stop a node at one of its points. */
export const CRASH = "the node was ended"

/**
 * A node with a minimal wallet, which can be stopped between any two steps of the wallet. `document`, `sent` and `keys` are on the
 * disk; the mempool is lost.
 */
export class World extends NameNode {
  document: WalletDocument = emptyDocument({ network: "regtest", createdAt: 0 })
  sent: Array<{ readonly transaction: Transaction; readonly order: number; abandoned: boolean }> = []
  keys = 0
  locked = false
  /** Unix time; 0 for a wallet without encryption. */
  unlockedUntil = 0
  poor = false
  /** How many operations the wallet can send before a block: all others would depend on too many. */
  room = Number.POSITIVE_INFINITY
  /** Names whose operations the wallet does not sign. */
  readonly refused = new Set<NameKey>()
  /** Whether the wallet has searched the chain for its keys. Until then it has no confirmed coins. */
  searched = true
  /** Points that the node passes before it stops. */
  countdown = Infinity
  points = 0
  /** How many times the wallet's transactions were listed. */
  listed = 0
  readonly events: Array<WalletEvent> = []

  private readonly point = Effect.suspend(() => {
    this.points++
    return this.countdown-- === 0 ? Effect.die(CRASH) : Effect.void
  })

  /** Starts the node again: the wallet offers its unconfirmed transactions to the mempool again. */
  restart(): void {
    this.countdown = Infinity
    this.forgetPool()
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

  /** Another owner gives a name to the wallet; the transaction waits for a block. */
  giveBack(name: Bytes): void {
    const { txid, value, vout } = this.record(name) ?? {}
    if (txid === undefined || value === undefined || vout === undefined) throw new Error("the name has no record")
    const operation: NameOperation = { op: "name_update", name, value }
    const transaction = this.foreign(operation, [outpoint(txid, vout)], this.scriptOf(0))
    this.sent.push({ transaction, order: this.sent.length, abandoned: false })
    this.accept(transaction)
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

  /** The dependencies of the wallet's names part. */
  readonly parts = Effect.provide(this.wallet, this.services)

  // Results

  /** Transactions of the wallet with an operation. */
  made(op: NameOperation["op"]): ReadonlyArray<Transaction> {
    return this.sent.map(({ transaction }) => transaction)
      .filter((transaction) => nameOutput(transaction)?.script.operation.op === op)
  }
}
