import * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import * as PubSub from "effect/PubSub"
import * as Queue from "effect/Queue"
import * as Schedule from "effect/Schedule"
import type * as Scope from "effect/Scope"
import * as Stream from "effect/Stream"
import { Chain } from "../chain/Chain.ts"
import { SyncStatus } from "../chain/SyncStatus.ts"
import { FeeEstimator } from "../mempool/fees/FeeEstimator.ts"
import { Mempool } from "../mempool/Mempool.ts"
import { NameDb } from "../names/NameDb.ts"
import { binaryString, displayHash, fromBinaryString } from "../protocol/bytes.ts"
import { outpoint, outpointKey, prevoutIndex, prevoutTxid } from "../protocol/transaction.ts"
import type { DataHealth } from "../storage/DataHealth.ts"
import { type StorageFailure, StorageUnavailable } from "../storage/errors.ts"
import { InvalidWalletRequest, WalletDamaged } from "./errors.ts"
import { makeAddresses } from "./keys/addresses.ts"
import { registrationsProblem } from "./keys/documentCheck.ts"
import { makeImport, scanMissing } from "./keys/imports.ts"
import { KeyRing } from "./keys/KeyRing.ts"
import { makeVault } from "./keys/Vault.ts"
import type { LockedCoin } from "./keys/WalletDocument.ts"
import type { WalletFile } from "./keys/WalletFile.ts"
import { documentEntry, withEntries } from "./ledger/entries.ts"
import { Ledger } from "./ledger/Ledger.ts"
import { watchPool } from "./ledger/poolWatch.ts"
import * as WalletIndex from "./ledger/WalletIndex.ts"
import { makeNames } from "./names/makeNames.ts"
import { keyOfTxid, type LiveParts, update } from "./parts.ts"
import { makeBump } from "./payments/bump.ts"
import { followPool, makeCommit } from "./payments/commit.ts"
import { makeOffers } from "./payments/offers.ts"
import { makePayments } from "./payments/payments.ts"
import type { Wallet, WalletEvent } from "./Wallet.ts"
import type { WalletCore } from "./WalletCore.ts"

export interface WalletOptions {
  /** `""` for the default wallet. */
  readonly name: string
  readonly file: WalletFile
  readonly indexFile: string
  readonly pageSize: number
  /** Whether the wallet's keys are new. */
  readonly fresh: boolean
  /** Maximum number of unconfirmed operations of this node on one name. */
  readonly limitNameChains: number
}

export type WalletServices = Chain | Mempool | FeeEstimator | SyncStatus | NameDb | DataHealth

/** Maximum number of events that a subscriber may be behind; a slow subscriber misses the oldest. */
const EVENT_BACKLOG = 1_024

/** Interval of offering again the transactions that the mempool lost, with or without new blocks. */
const OFFER_INTERVAL = "30 minutes"

/** Interval of checking at the start whether the mempool has loaded. */
const LOADED_INTERVAL = "200 millis"

const lockedCoin = (key: string): LockedCoin => {
  const prevout = fromBinaryString(key)
  return { txid: displayHash(prevoutTxid(prevout)), vout: prevoutIndex(prevout) }
}

const keyOfLocked = ({ txid, vout }: LockedCoin): string => {
  const key = keyOfTxid(txid)
  return key === undefined ? "" : outpointKey(outpoint(fromBinaryString(key), vout))
}

/** Locks coins against coin selection; persistent locks survive a restart. */
const makeLockCoins = (parts: LiveParts): Wallet["lockCoins"] => (outpoints, lock, persistent) =>
  Effect.suspend(() => {
    const touched = new Set(outpoints)
    const kept = parts.file.document.lockedCoins.some((coin) => touched.has(keyOfLocked(coin)))
    const change = (lock && persistent) || (!lock && kept)
      ? update(parts, (document) => {
        const others = document.lockedCoins.filter((coin) => !touched.has(keyOfLocked(coin)))
        return { ...document, lockedCoins: lock ? [...others, ...outpoints.map(lockedCoin)] : others }
      })
      : Effect.void
    return Effect.map(change, () => {
      for (const each of outpoints) {
        if (lock) parts.locked.add(each)
        else parts.locked.delete(each)
      }
    })
  })

const makeAbandon = (parts: LiveParts): Wallet["abandon"] => (txid) =>
  Effect.gen(function*() {
    const { ledger, mempool } = parts
    const entry = ledger.entry(keyOfTxid(txid) ?? "")
    if (entry === undefined) {
      const reason = "Invalid or non-wallet transaction id"
      return yield* new InvalidWalletRequest({ code: "unknown-transaction", reason })
    }
    followPool(parts, entry.key)
    if (entry.state.type !== "inactive" || mempool.get(entry.key) !== undefined) {
      const reason = "Transaction not eligible for abandonment"
      return yield* new InvalidWalletRequest({ code: "not-eligible", reason })
    }
    const given = ledger.withDescendants(entry.key).filter(({ state }) => state.type === "inactive")
    const entries = given.map((each) => ({ ...documentEntry(each), abandoned: true }))
    yield* update(parts, (document) => withEntries(document, entries))
    ledger.abandon(entry.key)
  }).pipe(Effect.uninterruptible)

/** Validates the range of a rescan. */
const makeRescan = ({ ledger }: LiveParts, index: WalletIndex.WalletIndex): Wallet["rescan"] => (from, to) =>
  Effect.suspend(() => {
    const { height } = ledger.tip
    const refuse = (reason: string) => new InvalidWalletRequest({ code: "range", reason })
    if (!Number.isInteger(from) || from < 0 || from > Math.max(0, height)) return refuse("Invalid start_height")
    if (to !== undefined && (!Number.isInteger(to) || to < 0 || to > height)) return refuse("Invalid stop_height")
    if (to !== undefined && to < from) return refuse("stop_height must be greater than start_height")
    return index.rescan(from, to)
  })

/** Copies the file. An existing destination is reported as a storage failure as well. */
const makeBackup = ({ file }: LiveParts): Wallet["backup"] => (destination) =>
  Effect.catchTag(
    file.backup(destination),
    "InvalidWalletRequest",
    ({ reason }) => new StorageUnavailable({ file: destination, doing: "writing", reason })
  )

/** Logs the events of the wallet. The code that moves a registration logs it itself. */
const noteEvent = (name: string, event: WalletEvent): Effect.Effect<void> =>
  event._tag === "TransactionAdded"
    ? Effect.logDebug("wallet transaction", { txid: displayHash(event.txid) }).pipe(
      Effect.annotateLogs({ subsystem: "wallet", ...name === "" ? {} : { wallet: name } })
    )
    : Effect.void

/** Builds a wallet for the lifetime of the scope. The caller has to register its follower with the chain. */
export const make = (
  options: WalletOptions
): Effect.Effect<Wallet, WalletDamaged | StorageFailure, WalletServices | Scope.Scope> =>
  Effect.gen(function*() {
    const { file, name } = options
    const chain = yield* Chain
    const mempool = yield* Mempool
    const fees = yield* FeeEstimator
    const status = yield* SyncStatus
    const names = yield* NameDb
    const events = yield* PubSub.sliding<WalletEvent>(EVENT_BACKLOG)
    const publish = (event: WalletEvent): Effect.Effect<void> =>
      Effect.zipRight(PubSub.publish(events, event), noteEvent(name, event))
    /** Requests for maintenance; a pending request stands for all. */
    const calls = yield* Queue.sliding<void>(1)

    const ring = yield* KeyRing.make(file.document)
    const ledger = new Ledger({ params: chain.params, own: (script) => ring.own(script) })
    const vault = yield* makeVault(file)
    const locked = new Set(file.document.lockedCoins.map(keyOfLocked))
    const parts: LiveParts = { file, ring, ledger, vault, chain, mempool, fees, status, publish, locked }

    const index = yield* WalletIndex.make({
      filename: options.indexFile,
      pageSize: options.pageSize,
      chain,
      ledger,
      ring,
      file,
      name: name === "" ? "wallet" : `wallet ${name}`,
      fresh: options.fresh,
      added: ({ txid }) => publish({ _tag: "TransactionAdded", txid }),
      arrived: Effect.asVoid(Queue.offer(calls, undefined))
    })
    const contradiction = registrationsProblem(file.document, (txid) => ledger.entry(binaryString(txid))?.transaction)
    if (contradiction !== undefined) return yield* new WalletDamaged({ file: file.path, found: contradiction })
    const pool = yield* watchPool(parts)
    const commit = makeCommit(parts)
    const payments = yield* makePayments(parts, commit)
    const offers = makeOffers(parts)
    const addresses = makeAddresses(parts)

    const common = {
      name,
      own: (script: Uint8Array) => ring.own(script),
      newAddress: addresses.newAddress,
      coins: payments.coins,
      transactions: () => ledger.transactions(),
      transaction: (txid: string) => ledger.get(keyOfTxid(txid) ?? ""),
      pay: payments.pay,
      commit,
      lastBlock: () => ledger.tip,
      encryption: vault.encryption
    }

    const core: WalletCore = {
      ...common,
      chain,
      mempool,
      fees,
      status,
      document: () => file.document,
      update: (change) => update(parts, change),
      privateKey: (script) =>
        vault.secrets.pipe(
          Effect.map((secrets) => ring.privateKeyFor(script, secrets)?.privateKey),
          Effect.catchTag("WalletWatchOnly", () => Effect.succeed(undefined))
        )
    }
    const { changes: nameChanges, step: nameStep, ...nameMethods } = yield* makeNames(core, names, {
      limitNameChains: options.limitNameChains
    })

    const said = Effect.catchAll((failure: StorageFailure) =>
      Effect.logError("wallet changes cannot be saved", { reason: failure.message })
    )
    /** Logs unexpected failures; the next block retries. Registrations must not stop for good. */
    const surviving = (work: Effect.Effect<void>): Effect.Effect<void> =>
      Effect.catchAllCause(work, (cause) =>
        Cause.isInterrupted(cause)
          ? Effect.failCause(cause)
          : Effect.logError("wallet maintenance failed unexpectedly", cause))
    const lookAfter = Effect.gen(function*() {
      if (yield* status.initialDownload) return
      yield* surviving(said(offers.step))
      yield* surviving(nameStep)
    })
    const loaded = Effect.suspend(() => mempool.info().loaded ? Effect.succeed(true) : Effect.succeed(false))
    const ready = Effect.zipWith(loaded, status.loading, (pool, loading) => pool && !loading)
    const untilReady = Effect.repeat(ready, { until: (is) => is, schedule: Schedule.spaced(LOADED_INTERVAL) })
    // Forked fibers inherit interruptibility, and these have to end with the scope.
    yield* untilReady.pipe(
      Effect.zipRight(lookAfter),
      Effect.zipRight(Effect.forever(Effect.zipRight(Queue.take(calls), lookAfter))),
      Effect.annotateLogs({ subsystem: "wallet", ...name === "" ? {} : { wallet: name } }),
      Effect.interruptible,
      Effect.forkScoped
    )
    yield* Queue.offer(calls, undefined).pipe(
      Effect.repeat(Schedule.spaced(OFFER_INTERVAL)),
      Effect.interruptible,
      Effect.forkScoped
    )
    yield* scanMissing(index).pipe(
      Effect.catchAll((failure) => Effect.logError("wallet rescan failed", { reason: failure.message })),
      Effect.annotateLogs("subsystem", "wallet"),
      Effect.interruptible,
      Effect.forkScoped
    )

    const signer: Wallet["signer"] = Effect.map(vault.secrets, (secrets) => ring.signer(secrets))
    const wallet: Wallet = {
      ...common,
      ...addresses,
      ...nameMethods,
      path: file.path,
      hasPrivateKeys: file.document.privateKeys,
      isBlank: () => file.document.blank,
      keypool: () => ring.keypool(),
      birthday: file.document.birthday,
      importDescriptor: makeImport({ ...parts, index, lookAtPool: pool.lookAtAll }),
      descriptors: (secret) =>
        secret
          ? Effect.map(vault.secrets, (secrets) => ring.descriptors(secrets))
          : Effect.sync(() => ring.descriptors()),
      signer,
      encryption: vault.encryption,
      unlockedUntil: vault.unlockedUntil,
      encrypt: vault.encrypt,
      // Operations that wait for the passphrase continue at once.
      unlock: (passphrase, seconds) => Effect.zipLeft(vault.unlock(passphrase, seconds), Queue.offer(calls, undefined)),
      lock: vault.lock,
      changePassphrase: vault.changePassphrase,
      balances: Effect.sync(() => ledger.balances()),
      conflictsOf: (txid) => ledger.conflictsOf(keyOfTxid(txid) ?? ""),
      lockCoins: makeLockCoins(parts),
      scanning: index.scanning,
      rescan: makeRescan(parts, index),
      exclusively: payments.exclusively,
      fund: payments.fund,
      abandon: makeAbandon(parts),
      bump: makeBump(parts, payments),
      names: () => ledger.names(),
      queue: offers.queue,
      enqueue: offers.enqueue,
      dequeue: offers.dequeue,
      backup: makeBackup(parts),
      follower: index.follower,
      changes: Stream.merge(Stream.fromPubSub(events), nameChanges)
    }
    return wallet
  }).pipe(Effect.withSpan("Wallet.make", { attributes: { wallet: options.name } }))
