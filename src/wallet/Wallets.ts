import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Layer from "effect/Layer"
import * as PubSub from "effect/PubSub"
import * as Redacted from "effect/Redacted"
import * as Scope from "effect/Scope"
import * as Stream from "effect/Stream"
import { unixTime } from "../base/clock.ts"
import { Chain } from "../chain/Chain.ts"
import { ChainControl } from "../chain/ChainControl.ts"
import { equal } from "../protocol/bytes.ts"
import type { StorageFailure } from "../storage/errors.ts"
import { invalidRequest, type InvalidWalletRequest, type WalletDamaged } from "./errors.ts"
import { encryption, newDocument } from "./keys/makeDocument.ts"
import { type WalletDocument, withAvoidReuse } from "./keys/WalletDocument.ts"
import * as WalletFile from "./keys/WalletFile.ts"
import type { TransactionChange, Wallet } from "./Wallet.ts"
import * as WalletLive from "./WalletLive.ts"
import { checkName, walletPlaces } from "./walletPlaces.ts"
import type { WalletRules } from "./WalletRules.ts"

type Failure = InvalidWalletRequest | WalletDamaged | StorageFailure

export interface NewWallet {
  readonly privateKeys: boolean
  readonly blank: boolean
  /** Whether payments avoid coins of addresses that were spent from; false if omitted. */
  readonly avoidReuse?: boolean
  readonly passphrase: Redacted.Redacted<string> | undefined
}

export interface StartChoice {
  readonly name: string
  /** Whether to load it at each start; `undefined` keeps the setting. */
  readonly loadOnStart: boolean | undefined
}

/** The wallets of a node: the default wallet in wallet.json, named wallets in wallets/. */
export class Wallets extends Context.Tag("svcd/Wallets")<Wallets, {
  /** False with `-disablewallet`. */
  readonly enabled: boolean
  /** In loading order. */
  readonly loaded: () => ReadonlyArray<Wallet>
  readonly get: (name: string) => Wallet | undefined
  /** The other loaded wallets with the same keys: copies, or wallets of the same seed phrase. */
  readonly twinsOf: (name: string) => ReadonlyArray<string>
  readonly onDisk: Effect.Effect<ReadonlyArray<string>, StorageFailure>
  readonly create: (request: NewWallet & StartChoice) => Effect.Effect<Wallet, Failure>
  readonly load: (name: string, loadOnStart: boolean | undefined) => Effect.Effect<Wallet, Failure>
  readonly unload: (
    name: string,
    loadOnStart: boolean | undefined
  ) => Effect.Effect<void, InvalidWalletRequest | StorageFailure>
  /** From now on. A slow subscriber misses the oldest. */
  readonly changes: Stream.Stream<TransactionChange>
  readonly restore: (from: StartChoice & { readonly file: string }) => Effect.Effect<Wallet, Failure>
}>() {}

export interface WalletsOptions {
  readonly directory: string
  readonly chainstateDirectory: string
  readonly enabled: boolean
  /** And creates it if missing. */
  readonly loadDefault: boolean
  /** In bytes. */
  readonly pageSize: number
  /** Maximum number of unconfirmed operations per wallet and name. */
  readonly limitNameChains: number
  /** `DEFAULT_RULES` if omitted. */
  readonly rules?: WalletRules
}

interface Loaded {
  readonly wallet: Wallet
  readonly file: WalletFile.WalletFile
  readonly scope: Scope.CloseableScope
}

/** Whether two wallets have the same seed, or one is a copy of the other. */
const sharesKeys = ({ document: a }: WalletFile.WalletFile, { document: b }: WalletFile.WalletFile): boolean =>
  a.id === b.id || (a.seed !== undefined && b.seed !== undefined && equal(a.seed.fingerprint, b.seed.fingerprint))

const twinsAmong = (loaded: ReadonlyMap<string, Loaded>, name: string): ReadonlyArray<string> => {
  const file = loaded.get(name)?.file
  if (file === undefined) return []
  return [...loaded].flatMap(([other, each]) => other !== name && sharesKeys(each.file, file) ? [other] : [])
}

/** Maximum backlog of a subscriber; a rescan emits many changes at once. */
const CHANGE_BACKLOG = 10_000

/** The reference node's text (`wallet/wallet.cpp`, `CWallet::AttachChain`). */
export const BEHIND_PRUNED = "Prune: last wallet synchronisation goes beyond pruned data. You need to -reindex " +
  "(download the whole blockchain again in case of a pruned node)"

const DISABLED = invalidRequest("missing", "wallets are disabled: the node runs with -disablewallet")

const disabled: Context.Tag.Service<Wallets> = {
  enabled: false,
  loaded: () => [],
  get: () => undefined,
  twinsOf: () => [],
  onDisk: Effect.succeed([]),
  create: () => DISABLED,
  load: () => DISABLED,
  unload: () => DISABLED,
  restore: () => DISABLED,
  changes: Stream.never
}

/** With a passphrase, the secrets are sealed before the first write. */
const made = (
  network: WalletDocument["network"],
  request: NewWallet
): Effect.Effect<WalletDocument, InvalidWalletRequest> =>
  Effect.gen(function*() {
    const { avoidReuse = false, blank, passphrase, privateKeys } = request
    const made = yield* newDocument({ network, now: yield* unixTime, privateKeys, blank })
    const document = withAvoidReuse(made, avoidReuse)
    if (passphrase === undefined || Redacted.value(passphrase) === "") return document
    return (yield* encryption(document, passphrase))(document)
  }).pipe(Effect.scoped)

const makeEnabled = (
  options: WalletsOptions
): Effect.Effect<Context.Tag.Service<Wallets>, Failure, WalletLive.WalletServices | ChainControl | Scope.Scope> =>
  Effect.gen(function*() {
    const services = yield* Effect.context<WalletLive.WalletServices>()
    const chain = yield* Chain
    const control = yield* ChainControl
    const scope = yield* Effect.scope
    const network = chain.params.network.name
    const { indexOf, makeFolder, onDisk, pathOf, remember, requireFree, startList } = walletPlaces(options)
    const loaded = new Map<string, Loaded>()
    const oneAtATime = (yield* Effect.makeSemaphore(1)).withPermits(1)
    let starting = true
    const changes = yield* PubSub.sliding<TransactionChange>(CHANGE_BACKLOG)

    /** The wallet stops following the chain before its scope closes anything. */
    const start = (
      name: string,
      file: WalletFile.WalletFile,
      fresh: boolean
    ): Effect.Effect<Wallet, Failure> =>
      Effect.gen(function*() {
        const own = yield* Scope.fork(scope, { _tag: "Sequential" })
        // Runs last, and flushes the file.
        yield* Scope.addFinalizer(own, file.close())
        const wallet = yield* WalletLive.make({
          name,
          file,
          fresh,
          indexFile: indexOf(name),
          pageSize: options.pageSize,
          changed: (change) => PubSub.publish(changes, change),
          limitNameChains: options.limitNameChains,
          ...options.rules === undefined ? {} : { rules: options.rules }
        }).pipe(
          // Own scope first: the services include the scope of the layer, which ends with the node.
          Scope.extend(own),
          Effect.provide(services),
          Effect.tap(({ follower }) => Scope.addFinalizer(own, control.unregister(follower))),
          Effect.tap(({ follower }) => starting ? Effect.void : control.register(follower)),
          Effect.catchTag("BlocksPruned", () => invalidRequest("behind-pruned", BEHIND_PRUNED)),
          Effect.onError((cause) => Scope.close(own, Exit.failCause(cause)))
        )
        loaded.set(name, { wallet, file, scope: own })
        const twins = twinsAmong(loaded, name)
        if (twins.length > 0) {
          const fields = { wallet: name, others: twins }
          yield* Effect.logWarning("wallets with the same keys are loaded: unload all but one of them", fields)
        }
        return wallet
      })

    const make = (name: string, document: WalletDocument, fresh: boolean) =>
      Effect.gen(function*() {
        yield* makeFolder(name)
        const file = yield* WalletFile.create(pathOf(name), document)
        return yield* start(name, file, fresh)
      })

    const loadFrom = (name: string): Effect.Effect<Wallet, Failure> =>
      Effect.gen(function*() {
        const path = pathOf(name)
        if (!(yield* WalletFile.isThere(path))) return yield* invalidRequest("missing", `${path} does not exist`)
        return yield* start(name, yield* WalletFile.open(path, network), false)
      })

    /** A missing named wallet is logged, and the others load. */
    const loadAtStart = Effect.gen(function*() {
      const { load, withoutDefault } = yield* startList
      if (options.loadDefault && !withoutDefault) {
        if (yield* WalletFile.isThere(pathOf(""))) yield* loadFrom("")
        else {
          yield* make("", yield* made(network, { privateKeys: true, blank: false, passphrase: undefined }), true)
          yield* Effect.logInfo("wallet created", { file: pathOf("") })
        }
      }
      for (const name of load) {
        yield* Effect.zipRight(checkName(name), loadFrom(name)).pipe(
          Effect.catchTag(
            "InvalidWalletRequest",
            ({ reason }) => Effect.logWarning("wallet cannot be loaded", { wallet: name, reason })
          )
        )
      }
    })
    yield* Effect.annotateLogs(loadAtStart, "subsystem", "wallet")
    starting = false

    const adding = (
      { loadOnStart, name }: StartChoice,
      work: Effect.Effect<Wallet, Failure>
    ): Effect.Effect<Wallet, Failure> =>
      oneAtATime(
        checkName(name).pipe(
          Effect.zipRight(Effect.suspend(() =>
            loaded.has(name) ? invalidRequest("exists", `Wallet "${name}" is already loaded.`) : work
          )),
          Effect.tap(() =>
            remember(name, loadOnStart)
          ),
          Effect.uninterruptible
        )
      )

    const unload: Context.Tag.Service<Wallets>["unload"] = (name, loadOnStart) =>
      oneAtATime(
        Effect.gen(function*() {
          const found = loaded.get(name)
          if (found === undefined) {
            return yield* invalidRequest("missing", "Requested wallet does not exist or is not loaded")
          }
          yield* remember(name, loadOnStart)
          loaded.delete(name)
          yield* Scope.close(found.scope, Exit.void)
        }).pipe(Effect.uninterruptible)
      ).pipe(Effect.withSpan("svcd.wallet.unload"))

    return {
      enabled: true,
      loaded: () => [...loaded.values()].map(({ wallet }) => wallet),
      get: (name) => loaded.get(name)?.wallet,
      twinsOf: (name) => twinsAmong(loaded, name),
      onDisk,
      changes: Stream.fromPubSub(changes),
      create: (request) =>
        adding(
          request,
          Effect.gen(function*() {
            yield* requireFree(request.name)
            return yield* make(request.name, yield* made(network, request), true)
          })
        ).pipe(Effect.withSpan("svcd.wallet.create")),
      load: (name, loadOnStart) =>
        adding({ name, loadOnStart }, loadFrom(name)).pipe(Effect.withSpan("svcd.wallet.load")),
      unload,
      restore: ({ file: source, ...place }) =>
        adding(
          place,
          Effect.gen(function*() {
            yield* requireFree(place.name)
            if (!(yield* WalletFile.isThere(source))) {
              return yield* invalidRequest("missing", "Backup file does not exist")
            }
            const { document } = yield* WalletFile.read(source, network)
            return yield* make(place.name, document, false)
          })
        ).pipe(Effect.withSpan("svcd.wallet.restore"))
    }
  })

const make = (
  options: WalletsOptions
): Effect.Effect<Context.Tag.Service<Wallets>, Failure, WalletLive.WalletServices | ChainControl | Scope.Scope> =>
  options.enabled ? makeEnabled(options) : Effect.succeed(disabled)

/** The caller must register the layer's wallets (`Wallet.follower`) with the chain, before the mempool. */
export const layer = (
  options: WalletsOptions
): Layer.Layer<Wallets, Failure, WalletLive.WalletServices | ChainControl> => Layer.scoped(Wallets, make(options))
