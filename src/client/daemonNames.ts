import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Option from "effect/Option"
import * as Stream from "effect/Stream"
import { NameExpired, requestedName } from "../names/errors.ts"
import { type Bytes, equal, toHex } from "../protocol/bytes.ts"
import type { Network } from "../protocol/networks.ts"
import { NAME_FIND } from "../rpc/contract/names/find.ts"
import { NAME_SCAN, NAME_SHOW } from "../rpc/contract/names/name.ts"
import { RPC_CODE } from "../rpc/method/RpcError.ts"
import { type DaemonRpc, refused } from "./DaemonRpc.ts"
import type { DaemonSync } from "./daemonSync.ts"
import { type DaemonFailure, DaemonRefused, NotSynced, type ReadFailure, type ResolveFailure } from "./errors.ts"
import { FOUND_AT_ONCE, pagesOfNames, stillIndexing, wantedNames } from "./findNames.ts"
import type { FindFilter, ListFilter, ResolveOptions } from "./options.ts"
import { isTooWeak, notSynced, type Requirement, requiring } from "./readiness.ts"
import { type Freshness, freshnessOf, type NameRecord, recordOf } from "./records.ts"
import { foundReply, list, nameReply, reading, type ShownName } from "./replies.ts"
import { absentName, listing, nameBytes } from "./text.ts"

const PAGE = 1_000

const NO_SEARCH = "the daemon cannot search names: it is not svcd, or older than its search"

/** In hex, the form does not depend on the name's bytes and the daemon's encoding settings. */
const HEX = { nameEncoding: "hex", valueEncoding: "hex" } as const

const startsWith = (name: Bytes, prefix: Bytes): boolean =>
  name.length >= prefix.length && equal(name.subarray(0, prefix.length), prefix)

export interface DaemonNamesParts extends Requirement {
  readonly rpc: DaemonRpc
  readonly sync: DaemonSync
  readonly network: Network
}

export const makeDaemonNames = ({ network, requireProof, rpc, sync }: DaemonNamesParts) => {
  /** The proof to ask for; only svcd knows the option. */
  const asking = ({ requireProof }: Requirement): Requirement =>
    requireProof === undefined || !sync.tells() ? {} : { requireProof }

  const shownRecord = ({ expired, expiresIn, proof, shown }: ShownName, asOf: Freshness): NameRecord | undefined =>
    shown === undefined ? undefined : recordOf(shown, { expiresIn, expired, asOf: freshnessOf({ ...asOf, proof }) })

  const show = (name: Bytes, options: Requirement) =>
    Effect.gen(function*() {
      const given = { ...HEX, allowExpired: true, ...asking(options) }
      const { outcome, report } = yield* sync.withReport(NAME_SHOW, { name: toHex(name), options: given })
      // The requested proof holds for a missing record, too.
      const asOf = freshnessOf({ ...report, proof: options.requireProof ?? report.proof })
      if (Either.isRight(outcome)) {
        const record = shownRecord(yield* reading(NAME_SHOW, outcome.right, nameReply), asOf)
        return { report, asOf: record?.asOf ?? asOf, record }
      }
      const { code } = outcome.left
      if (code === RPC_CODE.wallet) return { report, asOf, record: undefined }
      // svcd's error for a name that it cannot find yet, or only with a weaker proof.
      if (code === RPC_CODE.initialDownload) {
        const proof = report.synced ? "work" : asOf.proof
        return { report, asOf: freshnessOf({ ...asOf, synced: false, proof }), record: undefined }
      }
      return yield* Effect.fail(refused(outcome.left))
    })

  /** Whether a daemon that shows an expired name also confirms the expiry. svcd does not while its names are behind. */
  const confirmsExpiry = (name: Bytes): Effect.Effect<boolean, DaemonFailure> =>
    Effect.matchEffect(rpc.call(NAME_SHOW, { name: toHex(name), options: { ...HEX, allowExpired: false } }), {
      // A daemon that does not know the option returns the record again.
      onSuccess: () => Effect.succeed(true),
      onFailure: (failure) => {
        if (failure._tag !== "RpcFailure") return Effect.fail(refused(failure))
        return Effect.succeed(failure.code !== RPC_CODE.initialDownload)
      }
    })

  const resolveName = (name: string, given: ResolveOptions = {}): Effect.Effect<NameRecord, ResolveFailure> =>
    Effect.gen(function*() {
      const bytes = yield* nameBytes(name)
      const options = requiring(given, { requireProof })
      const { asOf, record, report } = yield* show(bytes, options)
      if (isTooWeak(asOf, options)) return yield* notSynced(asOf, report, options)
      if (record !== undefined && !record.expired) return record
      // A missing block may register a missing or expired name.
      if (!asOf.synced || (record !== undefined && !(yield* confirmsExpiry(bytes)))) {
        return yield* notSynced(asOf, report)
      }
      return yield* record === undefined
        ? absentName(bytes)
        : new NameExpired({ ...requestedName(bytes), updateHeight: record.height })
    })

  const page = (start: Bytes, prefix: Bytes, options: Requirement) =>
    Effect.gen(function*() {
      const given = { ...HEX, prefix: toHex(prefix), ...asking(options) }
      const { outcome, report } = yield* sync.withReport(NAME_SCAN, {
        start: toHex(start),
        count: PAGE,
        options: given
      })
      const asOf = freshnessOf(report)
      if (Either.isLeft(outcome)) {
        return yield* outcome.left.code === RPC_CODE.initialDownload
          ? notSynced(report.synced ? { ...asOf, proof: "work" } : asOf, report, options)
          : Effect.fail(refused(outcome.left))
      }
      return { asOf, names: yield* reading(NAME_SCAN, outcome.right, list(nameReply)) }
    })

  /** Each page begins with the last name of the page before. */
  const scan = (prefix: Bytes, options: Requirement): Stream.Stream<NameRecord, ReadFailure> =>
    Stream.paginateEffect(
      { start: prefix, seen: undefined as Bytes | undefined },
      ({ seen, start }) =>
        Effect.map(page(start, prefix, options), ({ asOf, names }) => {
          const fresh = names.filter(({ name }) => seen === undefined || !equal(name, seen))
          const last = fresh.at(-1)?.name
          const isEnd = last === undefined || names.length < PAGE
          // Older daemons ignore `prefix`.
          const records = fresh.filter(({ expired, name }) => !expired && startsWith(name, prefix))
            .flatMap((shown) => shownRecord(shown, asOf) ?? [])
          return [records, isEnd ? Option.none() : Option.some({ start: last, seen: last })] as const
        })
    ).pipe(Stream.flattenIterables)

  const listNames = (filter: ListFilter = {}): Effect.Effect<ReadonlyArray<NameRecord>, ReadFailure> =>
    Effect.gen(function*() {
      const { most, options: given, prefix } = yield* listing(filter)
      if (most === 0) return []
      const found = scan(prefix, requiring(given, { requireProof }))
      return Array.from(yield* Stream.runCollect(Stream.take(found, most)))
    })

  const findNames = ({ requireProof: asked, ...filter }: FindFilter): Stream.Stream<NameRecord, ReadFailure> => {
    const options = requiring({ requireProof: asked }, { requireProof })
    return Stream.unwrap(
      Effect.map(wantedNames(filter, network), ({ conditions }) =>
        pagesOfNames((cursor) =>
          Effect.gen(function*() {
            const place = cursor === undefined ? {} : { cursor }
            const given = { ...HEX, ...conditions, ...place, limit: FOUND_AT_ONCE }
            const { outcome, report } = yield* sync.withReport(NAME_FIND, { query: given })
            const asOf = freshnessOf(report)
            if (Either.isLeft(outcome)) {
              const { code, message } = outcome.left
              // A daemon with a window of names has no indexes.
              if (code === RPC_CODE.misc) {
                return yield* new NotSynced({ height: asOf.height, reason: message })
              }
              return yield* new DaemonRefused({ code, reason: code === RPC_CODE.methodNotFound ? NO_SEARCH : message })
            }
            const { complete, indexed, names, next } = yield* reading(NAME_FIND, outcome.right, foundReply)
            const records = names.flatMap((shown) => shownRecord(shown, asOf) ?? [])
            const weak = records.find((record) => isTooWeak(record.asOf, options))
            if (weak !== undefined) return yield* notSynced(weak.asOf, report, options)
            const isPartial = indexed < 1
            const missing = isPartial ? stillIndexing(asOf, indexed) : complete ? undefined : notSynced(asOf, report)
            return { records, next, missing, isPartial }
          })
        ))
    )
  }

  const current = (name: Bytes): Effect.Effect<NameRecord | undefined, DaemonFailure> =>
    Effect.map(show(name, {}), ({ record }) => record)

  return { resolveName, listNames, findNames, current }
}
