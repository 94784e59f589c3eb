import { assert } from "@effect/vitest"
import { Context, Effect, Layer, Logger } from "effect"
import { join } from "node:path"
import type { Worker } from "node:worker_threads"
import * as ExpiringNames from "../../src/alerts/ExpiringNames.ts"
import * as AlertMail from "../../src/alerts/mail/AlertMail.ts"
import * as WatchList from "../../src/alerts/WatchList.ts"
import * as NodeClock from "../../src/base/NodeClock.ts"
import * as Scheduler from "../../src/base/Scheduler.ts"
import * as Indexes from "../../src/chain/indexes/Indexes.ts"
import * as SyncStatus from "../../src/chain/SyncStatus.ts"
import * as TxIndex from "../../src/chain/TxIndex.ts"
import * as Warnings from "../../src/chain/Warnings.ts"
import type { UserRight } from "../../src/config/accessKinds.ts"
import { type ConsensusParams, regtestParams } from "../../src/consensus/params.ts"
import * as LightPart from "../../src/light/LightPart.ts"
import * as NameAnswers from "../../src/light/NameAnswers.ts"
import * as SyncReporter from "../../src/light/SyncReporter.ts"
import * as FeeEstimator from "../../src/mempool/fees/FeeEstimator.ts"
import * as Mempool from "../../src/mempool/Mempool.ts"
import * as Miner from "../../src/mempool/mining/Miner.ts"
import * as ScriptBook from "../../src/mempool/scripts/ScriptBook.ts"
import * as NameEvents from "../../src/names/events/NameEvents.ts"
import * as NameDb from "../../src/names/NameDb.ts"
import { displayHash } from "../../src/protocol/bytes.ts"
import * as Publishers from "../../src/publish/Publishers.ts"
import { AnswerOptions } from "../../src/rpc/AnswerOptions.ts"
import * as DeskLinks from "../../src/rpc/DeskLinks.ts"
import { encodeJson, type JsonValue } from "../../src/rpc/json/encodeJson.ts"
import { type Json, JsonObject } from "../../src/rpc/json/json.ts"
import { parseJson } from "../../src/rpc/json/readJson.ts"
import * as Lifecycle from "../../src/rpc/Lifecycle.ts"
import { checkAnswer } from "../../src/rpc/method/answerFault.ts"
import {
  type CallContext,
  type Method,
  type MethodTable,
  methodTable,
  type UserRights
} from "../../src/rpc/method/methodTable.ts"
import { RpcError } from "../../src/rpc/method/RpcError.ts"
import { MOST_WORK } from "../../src/rpc/method/work.ts"
import { allMethods } from "../../src/rpc/methods/all.ts"
import * as ReadThread from "../../src/rpc/reader/ReadThread.ts"
import { SlowLane } from "../../src/rpc/SlowLane.ts"
import * as DataHealth from "../../src/storage/DataHealth.ts"
import * as Wallets from "../../src/wallet/Wallets.ts"
import * as Webhooks from "../../src/webhooks/Webhooks.ts"
import { chainLayer, chainOf, temporaryDirectory, type TestChain } from "./chain.ts"
import { withCheapScrypt } from "./cheapScrypt.ts"
import { eventually } from "./eventually.ts"
import { fillChain } from "./filledChain.ts"
import { noWallets } from "./noWallets.ts"
import { noPeers } from "./peers.ts"
import { threadsLayer } from "./threads.ts"

/** The ways to call a method. */
export interface Calls {
  /** Calls a method with parameters by position. */
  readonly call: (method: string, ...params: ReadonlyArray<unknown>) => Effect.Effect<Answer, RpcError>
  /** Calls a method with parameters as JSON text. */
  readonly callText: (method: string, params: string) => Effect.Effect<Answer, RpcError>
  /** The error with which a call by position is refused. */
  readonly refusal: (method: string, ...params: ReadonlyArray<unknown>) => Effect.Effect<Refusal>
  readonly refusalOfText: (method: string, params: string) => Effect.Effect<Refusal>
}

/**
 * The methods of a daemon on a real chain in a directory of its own, called as the dispatcher calls them. Every result
 * is checked against the method's description of it.
 */
export class MethodNode extends Context.Tag("test/MethodNode")<
  MethodNode,
  Calls & {
    readonly chain: TestChain
    readonly names: typeof NameDb.NameDb.Service
    readonly pool: typeof Mempool.Mempool.Service
    readonly fees: typeof FeeEstimator.FeeEstimator.Service
    readonly txIndex: typeof TxIndex.TxIndex.Service
    readonly indexes: typeof Indexes.Indexes.Service
    readonly scripts: typeof ScriptBook.ScriptBook.Service
    readonly status: typeof SyncStatus.SyncStatus.Service
    readonly expiring: typeof ExpiringNames.ExpiringNames.Service
    readonly watch: typeof WatchList.WatchList.Service
    readonly lifecycle: typeof Lifecycle.Lifecycle.Service
    readonly methods: MethodTable
    readonly reader: typeof ReadThread.ReadThread.Service
    /** The same methods without a read thread. */
    readonly here: Calls
    /** Calls on the path of a wallet. */
    readonly on: (wallet: string) => Calls
    /** Makes a table of methods on the same chain, with other options of the operator. */
    readonly withOptions: (
      options: Partial<typeof AnswerOptions.Service>
    ) => Effect.Effect<Calls>
  }
>() {}

/** A result: the text that is sent, that text read by our reader and by `JSON.parse`, and its documented form. */
export interface Answer {
  readonly text: string
  readonly json: Json
  readonly value: unknown
  /** The condition under which the method documents this form. */
  readonly when: string | undefined
}

export interface Refusal {
  readonly code: number
  readonly message: string
}

const DEFAULTS: typeof AnswerOptions.Service = {
  nameEncoding: "ascii",
  valueEncoding: "ascii",
  allowExpired: false,
  nameHistory: true,
  nameHashIndex: true
}

/** Compares an answer with the results of its method, and fails the test if it has none of them. */
const answerOf = (method: Method, result: JsonValue, rights: UserRights): Answer => {
  const text = encodeJson(result)
  const json = parseJson(text)
  if (json === undefined) return assert.fail(`${method.name} answers with something that is not JSON: ${text}`)
  const checked = checkAnswer(method, json, rights)
  return checked._tag === "Fault"
    ? assert.fail(checked.reason)
    : { text, json, value: JSON.parse(text), when: checked.when }
}

/** The context of a local caller. */
export const contextOf = (methods: MethodTable): CallContext => ({
  wallet: undefined,
  peer: "127.0.0.1:1",
  remote: false,
  share: [],
  user: undefined,
  rights: undefined,
  methods,
  turns: new SlowLane().open(),
  room: Number.MAX_SAFE_INTEGER,
  work: { bytes: MOST_WORK },
  running: () => []
})

/** The listener refuses such a call before it reaches the dispatcher. */
const FORBIDDEN = RpcError.methodNotFound()

/**
 * `rights`: what the caller may do. A call that needs more is refused with -32601, as none of a method is. `wallet`: the
 * wallet in the path.
 */
export const callsOf = (methods: MethodTable, rights?: ReadonlySet<UserRight>, wallet?: string): Calls => {
  const context = { ...contextOf(methods), rights, wallet }
  const callText = (name: string, params: string): Effect.Effect<Answer, RpcError> =>
    Effect.suspend(() => {
      const method = methods.get(name) ?? assert.fail(`no method ${name}`)
      const given = parseJson(params)
      if (!Array.isArray(given) && !(given instanceof JsonObject)) return assert.fail(`no parameters: ${params}`)
      if (rights !== undefined && !method.rightsFor(given).every((right) => rights.has(right))) return FORBIDDEN
      return Effect.map(withCheapScrypt(method.call(given, context)), (result) => answerOf(method, result, rights))
    })
  const refusalOfText = (name: string, params: string): Effect.Effect<Refusal> =>
    callText(name, params).pipe(
      Effect.matchEffect({
        onSuccess: ({ text }) => Effect.dieMessage(`${name} ${params} answers ${text.slice(0, 200)}`),
        onFailure: ({ code, message }) => Effect.succeed({ code, message })
      })
    )
  const textOf = (params: ReadonlyArray<unknown>): string => JSON.stringify(params)
  return {
    callText,
    refusalOfText,
    call: (name: string, ...params: ReadonlyArray<unknown>) => callText(name, textOf(params)),
    refusal: (name: string, ...params: ReadonlyArray<unknown>) => refusalOfText(name, textOf(params))
  }
}

export interface MethodNodeOptions {
  /** Blocks of `regtest-names`; none where it is `false`. */
  readonly blocks?: boolean
  readonly txIndex?: boolean
  /** Whether it has all optional indexes. */
  readonly indexes?: boolean
  readonly params?: ConsensusParams
  readonly options?: Partial<typeof AnswerOptions.Service>
  /** The light part; none by default. */
  readonly light?: Layer.Layer<LightPart.LightPart>
  /** Whether it has wallets, the default one loaded. */
  readonly wallets?: boolean
  /** Whether the node is still loading data. */
  readonly loading?: boolean
  /** Starts the read thread; none by default. */
  readonly reader?: () => Worker
}

/** The tip of `regtest-names`. */
const TIP = "c8497e03e7decb23935810c77cb8617b509de2239bdde5a8b1e2cb37a5783e7b"

/** Records the time that is set. Tests have a clock of their own, which must not be replaced. */
const clockNobodyKeeps = Layer.sync(NodeClock.MockTime, () => {
  let now: number | undefined
  return NodeClock.MockTime.of({
    set: (seconds) => Effect.sync(() => void (now = seconds)),
    current: Effect.sync(() => now)
  })
})

const readerOf = ({ reader }: MethodNodeOptions, namesFile: string) =>
  reader === undefined ? ReadThread.layerAbsent : Layer.provide(ReadThread.layer({ namesFile }), threadsLayer(reader))

const make = (options: MethodNodeOptions) =>
  Effect.gen(function*() {
    const directory = yield* temporaryDirectory
    const namesFile = join(directory, "names.db")
    if (options.blocks !== false) yield* fillChain(directory)
    const chainAndPool = Layer.merge(Miner.layer(), FeeEstimator.layer({ filename: undefined })).pipe(
      Layer.provideMerge(
        Mempool.layer({ filename: join(directory, "mempool.dat") })
      ),
      Layer.provideMerge(SyncStatus.layer({ offline: true })),
      Layer.provideMerge(DataHealth.layer),
      Layer.provideMerge(chainLayer(directory, options.params))
    )
    const wallets = Wallets.layer({
      directory,
      chainstateDirectory: join(directory, "chainstate"),
      enabled: true,
      loadDefault: true,
      pageSize: 4096,
      limitNameChains: 1
    })
    const stores = Layer.mergeAll(
      options.wallets === true ? wallets : noWallets,
      noPeers,
      options.indexes === true
        ? Indexes.layer({
          directory: join(directory, "chainstate"),
          pageSize: 4096,
          params: options.params ?? regtestParams,
          filters: true,
          spenders: true,
          coinStats: true,
          scripts: true
        })
        : Indexes.layerNone,
      Publishers.layerSilent,
      options.txIndex === true ? TxIndex.layer({ directory, pageSize: 4096 }) : TxIndex.layerOff,
      Lifecycle.layer,
      Webhooks.layer({
        filename: join(directory, "webhooks.db"),
        pageSize: 4096,
        choice: { configured: [], allowPrivate: false },
        nameEncoding: "ascii",
        textOf: ({ type }) => JSON.stringify({ type })
      }).pipe(Layer.provide(NameEvents.layer)),
      clockNobodyKeeps
    ).pipe(
      (layers) =>
        Layer.provideMerge(
          Layer.merge(ExpiringNames.layer, ScriptBook.layer),
          Layer.mergeAll(layers, WatchList.layerMemory, AlertMail.layerNoMail)
        ),
      Layer.provideMerge(DeskLinks.layer({ isOn: false, behindProxy: false })),
      Layer.provideMerge(SyncReporter.layer),
      Layer.provideMerge(NameAnswers.layer()),
      Layer.provideMerge(options.light ?? LightPart.layerWhole),
      Layer.provideMerge(Layer.merge(Scheduler.layer, Warnings.layer)),
      Layer.provideMerge(readerOf(options, namesFile)),
      Layer.provideMerge(Layer.merge(chainAndPool, NameDb.layer({ filename: namesFile, pageSize: 4096 }))),
      Layer.provideMerge(DataHealth.layer),
      Layer.provide(Logger.remove(Logger.defaultLogger))
    )
    const context = yield* Layer.build(stores)
    const chain = chainOf(context)
    const names = Context.get(context, NameDb.NameDb)
    const status = Context.get(context, SyncStatus.SyncStatus)
    const { follower } = Context.get(context, TxIndex.TxIndex)
    yield* chain.control.register(names.follower)
    if (follower !== undefined) yield* chain.control.register(follower)
    yield* Effect.forEach(Context.get(context, Indexes.Indexes).followers, chain.control.register, { discard: true })
    for (const { cursor, name } of Context.get(context, Indexes.Indexes).followers) {
      const { height } = yield* chain.tip
      yield* eventually(`${name} is at the tip`, Effect.map(cursor, (at) => at?.height === height))
    }
    for (const wallet of Context.get(context, Wallets.Wallets).loaded()) yield* chain.control.register(wallet.follower)
    const pool = Context.get(context, Mempool.Mempool)
    yield* chain.control.register(pool.follower)
    if (options.blocks !== false) assert.strictEqual(displayHash((yield* chain.tip).hash), TIP)
    if (options.loading !== true) {
      yield* pool.load
      yield* status.loaded
    }
    const tableFor = (decided: Partial<typeof AnswerOptions.Service>) =>
      allMethods.pipe(
        Effect.provideService(AnswerOptions, { ...DEFAULTS, ...options.options, ...decided }),
        Effect.provide(context),
        Effect.map((list) => methodTable(list))
      )
    const methods = yield* tableFor({})
    const here = allMethods.pipe(
      Effect.provide(ReadThread.layerAbsent),
      Effect.provideService(AnswerOptions, { ...DEFAULTS, ...options.options }),
      Effect.provide(context),
      Effect.map((list) => callsOf(methodTable(list)))
    )
    return MethodNode.of({
      chain,
      names,
      pool,
      fees: Context.get(context, FeeEstimator.FeeEstimator),
      txIndex: Context.get(context, TxIndex.TxIndex),
      indexes: Context.get(context, Indexes.Indexes),
      scripts: Context.get(context, ScriptBook.ScriptBook),
      status,
      expiring: Context.get(context, ExpiringNames.ExpiringNames),
      watch: Context.get(context, WatchList.WatchList),
      lifecycle: Context.get(context, Lifecycle.Lifecycle),
      methods,
      here: yield* here,
      on: (wallet) => callsOf(methods, undefined, wallet),
      reader: Context.get(context, ReadThread.ReadThread),
      ...callsOf(methods),
      withOptions: (decided) => Effect.map(tableFor(decided), callsOf)
    })
  })

/** A node with the chain of `regtest-names`, or with the genesis block alone. */
export const methodNode = (options: MethodNodeOptions = {}) =>
  Layer.scoped(MethodNode, Effect.orDie(make({ params: regtestParams, ...options })))
