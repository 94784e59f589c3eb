import * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as PubSub from "effect/PubSub"
import * as Queue from "effect/Queue"
import * as Schedule from "effect/Schedule"
import type * as Scope from "effect/Scope"
import * as Stream from "effect/Stream"
import { UNSEEN_WORDS } from "../base/recoveryWords.ts"
import { Scheduler } from "../base/Scheduler.ts"
import { withLoneSpan } from "../base/spans.ts"
import { attempt } from "../chain/attempt.ts"
import { Chain } from "../chain/Chain.ts"
import { ChainCoins } from "../chain/ChainCoins.ts"
import { SyncStatus } from "../chain/SyncStatus.ts"
import { FeeEstimator } from "../mempool/fees/FeeEstimator.ts"
import { Mempool } from "../mempool/Mempool.ts"
import { completeNames } from "../names/completeNames.ts"
import { NameDb } from "../names/NameDb.ts"
import { type Bytes, displayHash } from "../protocol/bytes.ts"
import { txidKey } from "../protocol/keys.ts"
import type { DataHealth } from "../storage/DataHealth.ts"
import type { StorageFailure } from "../storage/errors.ts"
import { WalletDamaged } from "./errors.ts"
import { makeAddresses } from "./keys/addresses.ts"
import { WORDS_REACH } from "./keys/AddressUse.ts"
import { registrationsProblem } from "./keys/documentCheck.ts"
import { makeImport, scanMissing } from "./keys/imports.ts"
import { KeyRing, LOOKAHEAD } from "./keys/KeyRing.ts"
import { makeRecovery } from "./keys/recovery.ts"
import { makeVault } from "./keys/Vault.ts"
import { birthtimeOf, isPhraseKept, withAvoidReuse } from "./keys/WalletDocument.ts"
import type { WalletFile } from "./keys/WalletFile.ts"
import type { WalletKeys } from "./keys/WalletKeys.ts"
import type { IndexStore } from "./ledger/IndexStore.ts"
import { Ledger } from "./ledger/Ledger.ts"
import { keyOfLocked, makeLedger } from "./ledger/makeLedger.ts"
import { openStore } from "./ledger/openStore.ts"
import { watchPool } from "./ledger/poolWatch.ts"
import * as WalletIndex from "./ledger/WalletIndex.ts"
import { makeNames } from "./names/makeNames.ts"
import { makePayments } from "./payments/makePayments.ts"
import type { TransactionChange, Wallet, WalletEvent } from "./Wallet.ts"
import { update, type WalletParts } from "./WalletParts.ts"
import { DEFAULT_RULES, type WalletRules } from "./WalletRules.ts"

const makeKeys = (parts: WalletParts): WalletKeys => {
  const { file, ring, vault } = parts
  return {
    ...makeAddresses(parts),
    own: (script) => ring.own(script),
    hasPrivateKeys: file.document.privateKeys,
    isBlank: () => file.document.blank,
    keypool: () => ring.keypool(),
    birthday: file.document.birthday,
    birthtime: () => birthtimeOf(file.document),
    importDescriptor: makeImport(parts),
    refill: (size) => Effect.flatMap(ring.refill(size), (grew) => grew ? update(parts, ring.save) : Effect.void),
    descriptors: (secret) =>
      secret
        ? Effect.map(vault.secrets, (secrets) => ring.descriptors(secrets))
        : Effect.sync(() => ring.descriptors()),
    knowledge: ring.signer(undefined),
    signer: Effect.map(vault.secrets, (secrets) => ring.signer(secrets))
  }
}

export interface WalletOptions {
  /** `""` for the default wallet. */
  readonly name: string
  readonly file: WalletFile
  readonly indexFile: string
  readonly pageSize: number
  /** Called for each new transaction or state change. */
  readonly changed?: (change: TransactionChange) => Effect.Effect<void>
  readonly fresh: boolean
  /** Maximum number of unconfirmed operations of this node per name. */
  readonly limitNameChains: number
  /** `DEFAULT_RULES` if omitted. */
  readonly rules?: WalletRules
}

export type WalletServices = Chain | ChainCoins | Mempool | FeeEstimator | SyncStatus | NameDb | DataHealth | Scheduler

/** Maximum backlog of a subscriber, which then misses the oldest events. */
const EVENT_BACKLOG = 1_024

/** Maintenance also runs without new blocks, to see when a rebroadcast is due. */
const LOOK_INTERVAL = "1 minute"

/** Maximum time a caller waits for the wallet's own work. */
const SETTLE_LIMIT = "5 seconds"

const LOADED_INTERVAL = "200 millis"

/** Reminds the owner of an unseen seed phrase. Coins of the private network are worthless. */
const remindOfWords = ({ document }: WalletFile): Effect.Effect<void> =>
  isPhraseKept(document) !== false || document.network === "regtest" ? Effect.void : Effect.logWarning(UNSEEN_WORDS)

const annotations = (name: string) => ({ subsystem: "wallet", ...name === "" ? {} : { wallet: name } })

/** Registrations log their own events. */
const noteEvent = (name: string, event: WalletEvent): Effect.Effect<void> =>
  event._tag === "TransactionAdded"
    ? Effect.logDebug("wallet transaction", { txid: displayHash(event.txid) }).pipe(
      Effect.annotateLogs(annotations(name))
    )
    : Effect.void

const tell = (
  { changed = () => Effect.void, name }: WalletOptions,
  ledger: Ledger,
  event: WalletEvent
): Effect.Effect<void> => {
  if (event._tag === "RegistrationMoved") return Effect.void
  const state = ledger.entry(txidKey(event.txid))?.state
  const block = state?.type === "confirmed" ? { height: state.height, hash: state.hash } : undefined
  return changed({ wallet: name, txid: event.txid, block })
}

/** Scripts derived earlier; empty for a damaged file, which is repaired later. */
const knownScripts = (store: IndexStore): Effect.Effect<ReadonlyMap<string, Bytes>> =>
  Effect.catchAll(attempt(() => store.scripts()), () => Effect.succeed(new Map<string, Bytes>()))

/** Opens the stores, which the chain brings to the tip later, and the services over them. */
const makeParts = (options: WalletOptions, arrived: Effect.Effect<void>, announce: WalletParts["publish"]) =>
  Effect.gen(function*() {
    const { file, name, rules = DEFAULT_RULES } = options
    const chain = yield* Chain
    const store = yield* openStore(options.indexFile, options.pageSize)
    const { keypool = LOOKAHEAD, reach = WORDS_REACH } = rules
    const ring = yield* KeyRing.make(file.document, keypool, {
      seed: Math.max(keypool, reach),
      records: yield* knownScripts(store)
    })
    const vault = yield* makeVault(file, {
      isOwn: (script) => ring.own(script)?.spendable === true,
      maxFee: rules.maxTxFee
    })
    ring.deriveWith(vault.opened)
    const ledger = new Ledger({
      params: chain.params,
      own: (script) => ring.own(script),
      spendUnconfirmed: rules.spendZeroConfChange
    })
    const publish: WalletParts["publish"] = (event) => Effect.zipRight(announce(event), tell(options, ledger, event))
    const index = yield* WalletIndex.make({
      store,
      chain,
      ledger,
      ring,
      file,
      name: name === "" ? "wallet" : `wallet ${name}`,
      fresh: options.fresh,
      added: ({ txid }) => publish({ _tag: "TransactionAdded", txid }),
      moved: ({ txid }) => publish({ _tag: "TransactionMoved", txid }),
      arrived
    })
    yield* attempt(() => store.putScripts(ring.takeRecords()))
    const contradiction = registrationsProblem(file.document, (txid) => ledger.entry(txidKey(txid))?.transaction)
    if (contradiction !== undefined) return yield* new WalletDamaged({ file: file.path, found: contradiction })
    const parts: WalletParts = {
      chain,
      chainCoins: yield* ChainCoins,
      mempool: yield* Mempool,
      fees: yield* FeeEstimator,
      status: yield* SyncStatus,
      nameDb: yield* NameDb,
      askNames: (yield* completeNames()).ask,
      rules,
      file,
      ring,
      vault,
      ledger,
      index,
      locked: new Set(file.document.lockedCoins.flatMap((coin) => keyOfLocked(coin) ?? [])),
      privateKey: (script) =>
        vault.secrets.pipe(
          Effect.map((secrets) => ring.privateKeyFor(script, secrets)?.privateKey),
          Effect.catchTag("WalletWatchOnly", () => Effect.succeed(undefined))
        ),
      publish
    }
    return parts
  })

/** Logs unexpected failures; the next block retries, because registrations must not stop for good. */
const surviving = (work: Effect.Effect<void>): Effect.Effect<void> =>
  Effect.catchAllCause(work, (cause) =>
    Cause.isInterrupted(cause)
      ? Effect.failCause(cause)
      : Effect.logError("wallet maintenance failed unexpectedly", cause))

/** Requests for maintenance; one pending request stands for all. */
interface Calls {
  readonly queue: Queue.Queue<void>
  /** Closed from a request until its work is done. The start counts as a request. */
  readonly idle: Effect.Latch
  busy: boolean
  /** Opened by a caller that finds the node ready before the wallet has checked. */
  readonly start: Effect.Latch
}

const makeCalls: Effect.Effect<Calls> = Effect.gen(function*() {
  return {
    queue: yield* Queue.sliding<void>(1),
    idle: yield* Effect.makeLatch(),
    busy: true,
    start: yield* Effect.makeLatch()
  }
})

const callOf = (calls: Calls): Effect.Effect<void> =>
  Effect.suspend(() => {
    calls.busy = true
    calls.idle.unsafeClose()
    return Effect.asVoid(Queue.offer(calls.queue, undefined))
  })

/** Whether the node has loaded and the wallet has its blocks, so that it can broadcast and continue registrations. */
const isReady = ({ chain, ledger, mempool, status }: WalletParts): Effect.Effect<boolean> =>
  Effect.zipWith(
    status.loading,
    chain.tip,
    (loading, { height }) => !loading && mempool.info().loaded && ledger.tip.height >= height
  )

/** Waits for the requested work, unless the node is still loading. */
const settledOf = (parts: WalletParts, { busy, idle, start }: Calls): Effect.Effect<void> => {
  if (!busy) return Effect.void
  const wait = Effect.zipRight(start.open, Effect.timeoutOption(idle.await, SETTLE_LIMIT))
  return Effect.whenEffect(wait, isReady(parts))
}

/** Runs maintenance in fibers of the scope: at the start and on request. */
const maintain = (
  parts: WalletParts,
  calls: Calls,
  steps: { readonly offers: Effect.Effect<void, StorageFailure>; readonly names: Effect.Effect<void> }
): Effect.Effect<void, never, Scheduler | Scope.Scope> =>
  Effect.gen(function*() {
    const { status } = parts
    const said = Effect.catchAll((failure: StorageFailure) =>
      Effect.logError("wallet changes cannot be saved", { reason: failure.message })
    )
    const lookAfter = Effect.gen(function*() {
      if (yield* status.initialDownload) return
      yield* surviving(said(steps.offers))
      yield* surviving(steps.names)
    })
    const ready = isReady(parts)
    const untilReady = Effect.repeat(ready, { until: (is) => is, schedule: Schedule.spaced(LOADED_INTERVAL) })
    // Forked fibers inherit interruptibility, and these must end with the scope.
    const attend = Effect.gen(function*() {
      yield* lookAfter
      if (Option.getOrElse(calls.queue.unsafeSize(), () => 0) > 0) return
      calls.busy = false
      calls.idle.unsafeOpen()
    })
    yield* Effect.raceFirst(untilReady, calls.start.await).pipe(
      Effect.zipRight(attend),
      Effect.zipRight(Effect.forever(Effect.zipRight(Queue.take(calls.queue), attend))),
      Effect.interruptible,
      Effect.forkScoped
    )
    const scheduler = yield* Scheduler
    yield* Effect.interruptible(scheduler.repeat(Queue.offer(calls.queue, undefined), () => LOOK_INTERVAL))
    yield* scanMissing(parts).pipe(
      Effect.catchAll((failure) => Effect.logError("wallet rescan failed", { reason: failure.message })),
      Effect.interruptible,
      Effect.forkScoped
    )
  })

/** The caller must register the follower with the chain. */
export const make = (
  options: WalletOptions
): Effect.Effect<Wallet, WalletDamaged | StorageFailure, WalletServices | Scope.Scope> =>
  Effect.gen(function*() {
    const { file, limitNameChains, name } = options
    const events = yield* PubSub.sliding<WalletEvent>(EVENT_BACKLOG)
    const publish = (event: WalletEvent): Effect.Effect<void> =>
      Effect.zipRight(PubSub.publish(events, event), noteEvent(name, event))
    const calls = yield* makeCalls
    const call = callOf(calls)

    const parts = yield* makeParts(options, call, publish)
    yield* watchPool(parts)
    yield* Effect.annotateLogs(remindOfWords(file), annotations(name))
    const keys = makeKeys(parts)
    const { payments, step: offers } = yield* makePayments(parts)
    const { step, ...names } = yield* makeNames({ ...parts, keys, payments }, {
      limitNameChains,
      addressType: parts.rules.addressType,
      autoRenew: parts.rules.autoRenew,
      broadcasts: parts.rules.walletBroadcast
    })
    yield* maintain(parts, calls, { offers, names: step }).pipe(Effect.annotateLogs(annotations(name)))

    const { opened: ____, sealingKey: ___, secrets: _, secretsFor: __, ...vault } = parts.vault
    const wallet: Wallet = {
      name,
      path: file.path,
      rules: parts.rules,
      keys,
      ledger: makeLedger(parts),
      payments,
      names,
      vault: {
        ...vault,
        // Operations waiting for the passphrase continue at once.
        unlock: (passphrase, seconds, options) =>
          Effect.zipLeft(vault.unlock(passphrase, seconds, options), call).pipe(Effect.withSpan("svcd.wallet.unlock"))
      },
      recovery: makeRecovery(parts),
      avoidsReuse: () => file.document.avoidReuse === true,
      setAvoidReuse: (on) => update(parts, (document) => withAvoidReuse(document, on)),
      follower: parts.index.follower,
      settled: Effect.suspend(() => settledOf(parts, calls)),
      changes: Stream.fromPubSub(events)
    }
    return wallet
  }).pipe(withLoneSpan("svcd.wallet.open"))
