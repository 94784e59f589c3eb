import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import type * as Scope from "effect/Scope"
import * as Stream from "effect/Stream"
import { paramsOf } from "../consensus/params.ts"
import { NameExpired, NameNotFound } from "../names/errors.ts"
import { type Bytes, equal, toHex } from "../protocol/bytes.ts"
import { printable } from "../protocol/nameText.ts"
import { networks } from "../protocol/networks.ts"
import type { JsonValue } from "../rpc/json/encodeJson.ts"
import { RPC_CODE } from "../rpc/method/RpcError.ts"
import type { RpcFailure } from "../rpc/RpcClient.ts"
import type { DecodedConfig } from "./config.ts"
import * as DaemonChanges from "./daemonChanges.ts"
import * as DaemonOperations from "./daemonOperations.ts"
import * as DaemonRpc from "./DaemonRpc.ts"
import { type DaemonFailure, InvalidConfig, NotSynced, type ReadFailure, type ResolveFailure } from "./errors.ts"
import { endWithScope, Lifespan } from "./Lifespan.ts"
import { type Freshness, type ListFilter, NameClient, type NameRecord, type ResolveOptions } from "./NameClient.ts"
import { tooOld } from "./record.ts"
import { REGISTER_WAITS, UPDATE_WAITS } from "./registering.ts"
import { type ChainInfo, chainInfo, list, nameReply, reading, type ShownName } from "./replies.ts"
import { limitOf, nameBytes, namespaceBytes, operationBytes } from "./text.ts"

/** A `NameClient` over the JSON-RPC of a daemon: svcd or the reference node (reference/rpc.md 8). */

/** Milliseconds between two polls for blocks. */
const INTERVAL = 1_000

/** Names requested in one call. */
const PAGE = 1_000

/** Names in hexadecimal digits have one form, whatever their bytes and the daemon's encoding settings. */
const HEX = { nameEncoding: "hex", valueEncoding: "hex" } as const

const INFO = { method: "getblockchaininfo", params: [] } as const

export interface DaemonClientOptions {
  /** Milliseconds between two polls for blocks. */
  readonly interval?: number
  /** Milliseconds before the first retry of a call. */
  readonly firstPause?: number
}

/** Why opening a client over a daemon fails. */
export type DaemonOpenFailure = InvalidConfig | DaemonFailure

const notSynced = ({ height }: Freshness) => new NotSynced({ height })

/** Checks the network of the daemon, and refuses a network other than the caller wants. */
const checkNetwork = (
  { address }: DaemonRpc.DaemonRpc,
  { chain, network }: ChainInfo,
  wanted: string
): Effect.Effect<void, InvalidConfig> =>
  network === wanted
    ? Effect.void
    : new InvalidConfig({
      field: "network",
      reason: `the daemon at ${address} is on ${network ?? chain}, not ${wanted}`
    })

/** The part of a configuration that a client over a daemon needs. */
export type DaemonClientConfig = Pick<DecodedConfig, "daemon" | "network">

/** Opens a client over a daemon that answers and is on the right network. The scope closes it. */
export const make = (
  { daemon, network: wanted }: DaemonClientConfig,
  { firstPause, interval = INTERVAL }: DaemonClientOptions = {}
): Effect.Effect<typeof NameClient.Service, DaemonOpenFailure, Scope.Scope> =>
  Effect.gen(function*() {
    const scope = yield* Effect.scope
    const params = paramsOf(networks[wanted])
    const lifespan = new Lifespan()
    const rpc = yield* DaemonRpc.make(daemon, firstPause)

    const info: Effect.Effect<ChainInfo, DaemonFailure> = rpc.read(INFO.method).pipe(
      Effect.mapError(DaemonRpc.refused),
      Effect.flatMap((reply) => reading(INFO.method, reply, chainInfo))
    )
    yield* checkNetwork(rpc, yield* info, wanted)

    /** Makes a read in one round trip with a preceding read of the daemon's freshness. */
    const withFreshness = (method: string, args: ReadonlyArray<JsonValue>) =>
      Effect.gen(function*() {
        const [told, outcome] = yield* rpc.readAll([INFO, { method, params: args }])
        if (told === undefined || outcome === undefined) {
          return yield* Effect.dieMessage("a batch has as many replies as calls")
        }
        if (Either.isLeft(told)) return yield* Effect.fail(DaemonRpc.refused(told.left))
        const { asOf } = yield* reading(INFO.method, told.right, chainInfo)
        return { asOf, outcome }
      })

    /** The record of a name, expired or not; `undefined` if the name is not registered. */
    const show = (name: Bytes) =>
      Effect.gen(function*() {
        const options = { ...HEX, allowExpired: true }
        const { asOf, outcome } = yield* withFreshness("name_show", [toHex(name), options])
        if (Either.isRight(outcome)) {
          return { asOf, shown: yield* reading("name_show", outcome.right, nameReply) }
        }
        const failure: RpcFailure = outcome.left
        if (failure.code === RPC_CODE.wallet) return { asOf, shown: undefined }
        // The daemon is in initial download. svcd returns this error only for a name that it does not find.
        if (failure.code === RPC_CODE.initialDownload) return { asOf: { ...asOf, synced: false }, shown: undefined }
        return yield* Effect.fail(DaemonRpc.refused(failure))
      })

    const recordOf = ({ expired, expiresIn, shown }: ShownName, asOf: Freshness): NameRecord | undefined =>
      shown === undefined ? undefined : { ...shown, expiresIn, expired, asOf }

    /**
     * Whether a daemon that shows an expired name also confirms the expiry. svcd does not while its names are behind.
     */
    const confirmsExpiry = (name: Bytes): Effect.Effect<boolean, DaemonFailure> =>
      Effect.matchEffect(rpc.read("name_show", [toHex(name), { ...HEX, allowExpired: false }]), {
        // A daemon that does not know the option returns the record again.
        onSuccess: () => Effect.succeed(true),
        onFailure: (failure) => {
          if (failure._tag !== "RpcFailure") return Effect.fail(DaemonRpc.refused(failure))
          return Effect.succeed(failure.code !== RPC_CODE.initialDownload)
        }
      })

    const resolveName = (name: string, options: ResolveOptions = {}): Effect.Effect<NameRecord, ResolveFailure> =>
      Effect.gen(function*() {
        const bytes = yield* nameBytes(name)
        const { asOf, shown } = yield* show(bytes)
        const old = tooOld(asOf, options)
        if (old !== undefined) return yield* old
        const record = shown === undefined ? undefined : recordOf(shown, asOf)
        if (record !== undefined && !record.expired) return record
        // While blocks are missing, a missing or expired name may have been registered in one of them.
        if (!asOf.synced || (record !== undefined && !(yield* confirmsExpiry(bytes)))) return yield* notSynced(asOf)
        return yield* record === undefined
          ? new NameNotFound({ requested: printable(bytes) })
          : new NameExpired({ requested: printable(bytes), updateHeight: record.height })
      })

    const page = (start: Bytes, prefix: Bytes) =>
      Effect.gen(function*() {
        const given = { ...HEX, prefix: toHex(prefix) }
        const { asOf, outcome } = yield* withFreshness("name_scan", [toHex(start), PAGE, given])
        if (Either.isLeft(outcome)) {
          return yield* outcome.left.code === RPC_CODE.initialDownload
            ? notSynced(asOf)
            : Effect.fail(DaemonRpc.refused(outcome.left))
        }
        return { asOf, names: yield* reading("name_scan", outcome.right, list(nameReply)) }
      })

    /** All names with a prefix, in pages. Each page begins with the last name of the page before. */
    const scan = (prefix: Bytes): Stream.Stream<NameRecord, ReadFailure> =>
      Stream.paginateEffect({ start: prefix, seen: undefined as Bytes | undefined }, ({ seen, start }) =>
        Effect.map(page(start, prefix), ({ asOf, names }) => {
          const fresh = names.filter(({ name }) =>
            seen === undefined || !equal(name, seen)
          )
          const last = fresh.at(-1)?.name
          const isEnd = last === undefined || names.length < PAGE
          // Older daemons ignore the `prefix` option and return names with any prefix.
          const records = fresh.filter(({ expired, name }) => !expired && startsWith(name, prefix))
            .flatMap((shown) => recordOf(shown, asOf) ?? [])
          return [records, isEnd ? Option.none() : Option.some({ start: last, seen: last })] as const
        })).pipe(Stream.flattenIterables)

    const listNames = ({ limit, namespace }: ListFilter = {}): Effect.Effect<ReadonlyArray<NameRecord>, ReadFailure> =>
      Effect.gen(function*() {
        const [prefix, most] = [yield* namespaceBytes(namespace), yield* limitOf(limit)]
        if (most === 0) return []
        return Array.from(yield* Stream.runCollect(Stream.take(scan(prefix), most)))
      })

    const current = (name: Bytes): Effect.Effect<NameRecord | undefined, DaemonFailure> =>
      Effect.map(show(name), ({ asOf, shown }) => shown === undefined ? undefined : recordOf(shown, asOf))

    const changes = DaemonChanges.make({ rpc, params, interval, current })
    const operations = DaemonOperations.make({ rpc, lifespan, scope, interval })

    yield* endWithScope(lifespan)
    return NameClient.of({
      mode: "daemon",
      resolveName: (name, options) => lifespan.during(resolveName(name, options)),
      listNames: (filter) => lifespan.during(listNames(filter)),
      registerName: (name, value, options = {}) =>
        Effect.suspend(() =>
          Effect.flatMap(
            operationBytes({ name, value, waitFor: options.waitFor }, REGISTER_WAITS),
            (given) => operations.register({ name, nameBytes: given.name, value: given.value }, options)
          )
        ),
      updateName: (name, value, options = {}) =>
        Effect.suspend(() =>
          Effect.flatMap(
            operationBytes({ name, value, waitFor: options.waitFor }, UPDATE_WAITS),
            (given) => operations.update({ name, nameBytes: given.name, value: given.value }, options)
          )
        ),
      changes: ({ namespace = "" } = {}) =>
        lifespan.stream(Stream.filter(changes, ({ name }) => name.startsWith(namespace))),
      freshness: lifespan.during(Effect.map(info, ({ asOf }) => asOf)),
      failure: lifespan.failure
    })
  })

/** Provides a client over a daemon for the lifetime of the layer. */
export const layer = (config: DaemonClientConfig): Layer.Layer<NameClient, DaemonOpenFailure> =>
  Layer.scoped(NameClient, make(config))

const startsWith = (name: Bytes, prefix: Bytes): boolean =>
  name.length >= prefix.length && equal(name.subarray(0, prefix.length), prefix)
