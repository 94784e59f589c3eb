import { layer as layerOfClient, PgClient, type PgClientConfig } from "@effect/sql-pg/PgClient"
import type { SqlError } from "@effect/sql/SqlError"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Layer from "effect/Layer"
import type * as Scope from "effect/Scope"
import * as Stream from "effect/Stream"
import { nextTurn } from "../base/turns.ts"
import {
  DatabaseUnavailable,
  type NotSynced,
  type OperationFailure,
  type ReadFailure,
  type ResolveFailure,
  WalletDisabled
} from "../client/errors.ts"
import { FOUND_AT_ONCE, pagesOfNames, wantedNames } from "../client/findNames.ts"
import { endWithScope, Lifespan } from "../client/Lifespan.ts"
import { NameClient } from "../client/NameClient.ts"
import type { FindFilter, ListFilter, ResolveOptions } from "../client/options.ts"
import { provingNothing } from "../client/proveName.ts"
import { isTooWeak, notSynced, progressOf, readyOf, type Requirement, requiring } from "../client/readiness.ts"
import { recordAt } from "../client/record.ts"
import { type Freshness, freshnessOf, type NameRecord, type OperationResult } from "../client/records.ts"
import { resolvingDomains } from "../client/resolveDomain.ts"
import { absentName, listing, nameBytes } from "../client/text.ts"
import { type ConsensusParams, paramsOf } from "../consensus/params.ts"
import { PROOF_LEVELS, type ProofLevel } from "../light/proof.ts"
import type { SyncReport } from "../light/syncReport.ts"
import { NameExpired, requestedName } from "../names/errors.ts"
import { queryMatcher } from "../names/search/nameQuery.ts"
import { type Bytes, EMPTY, toHex } from "../protocol/bytes.ts"
import { type NetworkName, networks } from "../protocol/networks.ts"
import { postgresFailed } from "./failures.ts"
import { versionFault } from "./openSchema.ts"
import { pgChanges } from "./pgChanges.ts"
import { PgEvents } from "./pgEvents.ts"
import { type FoundRows, PgNames } from "./pgNames.ts"
import { bytesOf, fixedPartOf, type FoundNameRow, nameEntryIn, rowsOf, type StateRow } from "./pgNames.ts"

/** A read-only `NameClient` over an export, primary or replica (docs/postgres.md). */

/** Seconds of silence after which an exporter, which checks its daemon every five seconds, counts as stopped. */
const LONGEST_SILENCE = 60

/** Milliseconds between checks of the tables for waiting callers. */
const INTERVAL = 1_000

const RESOLVED_AT_ONCE = 500

const LISTED_AT_ONCE = 1_000

const NO_WALLET = "names in PostgreSQL are read-only: register and update with a client over the daemon"

const isProofLevel = (word: string): word is ProofLevel => PROOF_LEVELS.some((level) => level === word)

export const reportOf = (state: StateRow | undefined): SyncReport => {
  const { at, complete, daemon_height, proof } = state ??
    { at: -1, complete: false, daemon_height: -1, proof: "work" }
  const synced = state !== undefined && complete && state.synced && at >= daemon_height && state.age < LONGEST_SILENCE
  return {
    phase: synced ? "ready" : "blocks",
    proof: isProofLevel(proof) ? proof : "work",
    height: Math.max(0, at),
    headers: Math.max(0, at, daemon_height),
    synced,
    percent: synced ? 100 : Math.min(99.9, 100 * Math.max(0, at) / Math.max(1, daemon_height)),
    secondsLeft: synced ? 0 : undefined,
    window: undefined
  }
}

interface Asked {
  readonly name: Bytes
  readonly key: string
  readonly resume: (found: Effect.Effect<Resolved, DatabaseUnavailable>) => void
}

interface Resolved {
  readonly state: StateRow | undefined
  readonly row: FoundNameRow | undefined
}

type Read = <A, E>(
  effect: Effect.Effect<A, E | SqlError>
) => Effect.Effect<A, Exclude<E, SqlError> | DatabaseUnavailable>

/** Concurrent requests share one statement. */
const resolving = (names: PgNames, read: Read) => {
  let waiting: Array<Asked> = []

  const ask = (asked: ReadonlyArray<Asked>): Effect.Effect<void> => {
    const wanted = new Map(asked.map(({ key, name }) => [key, name]))
    return Effect.map(
      Effect.either(read<FoundRows | undefined, never>(names.resolve([...wanted.values()]))),
      (found) => {
        if (Either.isLeft(found)) {
          for (const { resume } of asked) resume(found.left)
          return
        }
        const rows = new Map(found.right?.names.map((row) => [toHex(bytesOf(row.name)), row]))
        for (const { key, resume } of asked) resume(Effect.succeed({ state: found.right?.state, row: rows.get(key) }))
      }
    )
  }

  return (name: Bytes): Effect.Effect<Resolved, DatabaseUnavailable> =>
    Effect.async((resume) => {
      const asked = { name, key: toHex(name), resume }
      waiting.push(asked)
      if (waiting.length === 1) {
        // Callers of this turn of the event loop come first.
        nextTurn(() => {
          const all = waiting
          waiting = []
          for (let from = 0; from < all.length; from += RESOLVED_AT_ONCE) {
            Effect.runFork(ask(all.slice(from, from + RESOLVED_AT_ONCE)))
          }
        })
      }
    })
}

interface ReadingParts {
  readonly names: PgNames
  readonly params: ConsensusParams
  readonly requireProof: ProofLevel | undefined
  readonly read: Read
}

const reading = ({ names, params, read, requireProof }: ReadingParts) => {
  const tooWeak = (state: StateRow | undefined, options: Requirement): NotSynced => {
    const report = reportOf(state)
    return notSynced(freshnessOf(report), report, options)
  }

  const resolveRow = resolving(names, read)

  const resolveName = (name: string, given: ResolveOptions = {}): Effect.Effect<NameRecord, ResolveFailure> =>
    Effect.gen(function*() {
      const bytes = yield* nameBytes(name)
      const options = requiring(given, { requireProof })
      const { row, state } = yield* resolveRow(bytes)
      const asOf = freshnessOf(reportOf(state))
      if (isTooWeak(asOf, options)) return yield* tooWeak(state, options)
      const fixed = row === undefined ? undefined : fixedPartOf(row)
      const record = fixed === undefined ? undefined : recordAt(fixed, asOf, params)
      if (record !== undefined && !record.expired) return record
      // The name may be in a missing block.
      if (!asOf.synced) return yield* tooWeak(state, {})
      return yield* record === undefined
        ? absentName(bytes)
        : new NameExpired({ ...requestedName(bytes), updateHeight: record.height })
    })

  const recordsOf = (
    { names, state }: FoundRows
  ): { readonly asOf: Freshness; readonly records: ReadonlyArray<NameRecord> } => {
    const asOf = freshnessOf(reportOf(state))
    return {
      asOf,
      records: names.flatMap((row) => {
        const fixed = fixedPartOf(row)
        return fixed === undefined ? [] : [recordAt(fixed, asOf, params)]
      })
    }
  }

  const listNames = (filter: ListFilter = {}): Effect.Effect<ReadonlyArray<NameRecord>, ReadFailure> =>
    Effect.gen(function*() {
      const { most, options: given, prefix } = yield* listing(filter)
      if (most === 0) return []
      const options = requiring(given, { requireProof })
      const found: Array<NameRecord> = []
      for (let after: Bytes | undefined;;) {
        const pageSize = Math.min(LISTED_AT_ONCE, most)
        const page = yield* read<FoundRows | undefined, never>(names.list({ prefix, after, limit: pageSize }))
        const { asOf, records } = page === undefined
          ? { asOf: freshnessOf(reportOf(undefined)), records: [] }
          : recordsOf(page)
        if (isTooWeak(asOf, options)) return yield* tooWeak(page?.state, options)
        found.push(...records.filter(({ expired }) => !expired))
        const last = page?.names.at(-1)
        const isEnd = last === undefined || (page?.names.length ?? 0) < pageSize
        if (!isEnd && found.length < most) {
          after = bytesOf(last.name)
          continue
        }
        // An empty list means "there are none", which is unknown while blocks are missing.
        if (!asOf.synced && found.length === 0) return yield* tooWeak(page?.state, {})
        return found.slice(0, most)
      }
    })

  const findNames = ({ requireProof: asked, ...filter }: FindFilter): Stream.Stream<NameRecord, ReadFailure> => {
    const options = requiring({ requireProof: asked }, { requireProof })
    return Stream.unwrap(Effect.map(wantedNames(filter, params.network), ({ query }) => {
      let after: Bytes = EMPTY
      return pagesOfNames((cursor) =>
        Effect.gen(function*() {
          if (cursor === undefined) after = EMPTY
          const page = yield* read<FoundRows | undefined, never>(names.find({ query, after, limit: FOUND_AT_ONCE }))
          if (page === undefined) {
            const missing = tooWeak(undefined, {})
            return { records: [], next: undefined, missing, isPartial: false }
          }
          const asOf = freshnessOf(reportOf(page.state))
          if (isTooWeak(asOf, options)) return yield* tooWeak(page.state, options)
          const matches = queryMatcher(query, { tipHeight: asOf.height, params })
          const { records } = recordsOf({ ...page, names: page.names.filter((row) => matches(nameEntryIn(row))) })
          const last = page.names.at(-1)
          const isEnd = last === undefined || page.names.length < FOUND_AT_ONCE
          if (!isEnd) after = bytesOf(last.name)
          const missing = asOf.synced ? undefined : tooWeak(page.state, {})
          return { records, next: isEnd ? undefined : toHex(after), missing, isPartial: false }
        })
      )
    }))
  }

  const report = Effect.map(read<StateRow | undefined, never>(names.state), reportOf)

  return { resolveName, listNames, findNames, report }
}

const noWallet: Effect.Effect<OperationResult, OperationFailure> = Effect.suspend(() =>
  new WalletDisabled({ reason: NO_WALLET })
)

interface Head {
  readonly version: number
  readonly network: NetworkName | null
}

const isNetwork = (word: string | null): word is NetworkName => word !== null && Object.hasOwn(networks, word)

export interface ClientParts {
  readonly schema: string
  readonly requireProof: ProofLevel | undefined
  readonly server: string
}

/** The scope closes the client. */
export const make = (
  client: PgClient,
  { requireProof, schema, server }: ClientParts
): Effect.Effect<typeof NameClient.Service, DatabaseUnavailable, Scope.Scope> =>
  Effect.gen(function*() {
    const read: Read = (effect) =>
      Effect.catchIf(
        effect,
        isSqlError,
        (cause) => new DatabaseUnavailable({ server, reason: postgresFailed(server, cause).reason })
      )
    const broken = (reason: string) => new DatabaseUnavailable({ server, reason })
    const [table] = yield* read<ReadonlyArray<{ readonly found: boolean }>, never>(
      rowsOf(client, "SELECT to_regclass($1) IS NOT NULL AS found", [`${schema}.version`])
    )
    if (table?.found !== true) return yield* broken(`there is no export in the schema ${schema}: run svcd-export first`)
    const [head] = yield* read<ReadonlyArray<Head>, never>(
      rowsOf(client, `SELECT v.version, c.network FROM ${schema}.version v LEFT JOIN ${schema}.cursor c ON true`)
    )
    const fault = versionFault(schema, head?.version ?? 0)
    if (fault !== undefined) return yield* broken(fault.message)
    if (head === undefined || !isNetwork(head.network)) return yield* broken(`the export in ${schema} is empty`)

    const params = paramsOf(networks[head.network])
    const lifespan = new Lifespan()
    const { findNames, listNames, report, resolveName } = reading({
      names: new PgNames(client, schema),
      params,
      requireProof,
      read
    })
    const events = new PgEvents(client, { schema, params })
    const changes = yield* pgChanges({ client, events, schema, report, read })
    const source = {
      report,
      interval: INTERVAL,
      best: "full",
      peers: Effect.succeed(undefined),
      requireProof
    } as const
    const freshness = Effect.map(report, freshnessOf)
    const resolveDomain = resolvingDomains({ resolveName, freshness })
    yield* endWithScope(lifespan)
    return NameClient.of({
      mode: "postgres",
      resolveName: (name, options) => lifespan.during(resolveName(name, options)),
      proveName: (name, options) => lifespan.during(provingNothing(resolveName)(name, options)),
      resolveDomain: (host, type, options) => lifespan.during(resolveDomain(host, type, options)),
      listNames: (filter) => lifespan.during(listNames(filter)),
      findNames: (filter) => lifespan.stream(findNames(filter)),
      changes: (filter) => lifespan.stream(changes(filter)),
      registerName: () => lifespan.guard(noWallet),
      updateName: () => lifespan.guard(noWallet),
      freshness: lifespan.during(freshness),
      progress: lifespan.stream(progressOf(source)),
      ready: (wanted) => lifespan.during(readyOf(source, wanted)),
      failure: lifespan.failure
    })
  })

const isSqlError = (error: unknown): error is SqlError =>
  typeof error === "object" && error !== null && "_tag" in error && error._tag === "SqlError"

/** With its own connections. The scope closes both. */
export const openOwn = (
  config: PgClientConfig,
  parts: ClientParts
): Effect.Effect<typeof NameClient.Service, DatabaseUnavailable, Scope.Scope> =>
  Effect.gen(function*() {
    const { server } = parts
    const context = yield* Effect.mapError(
      Layer.build(layerOfClient(config)),
      (cause) => new DatabaseUnavailable({ server, reason: postgresFailed(server, cause).reason })
    )
    return yield* make(Context.get(context, PgClient), parts)
  })
