import * as Chunk from "effect/Chunk"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Stream from "effect/Stream"
import type { Chain } from "../chain/Chain.ts"
import type { ChainCoins } from "../chain/ChainCoins.ts"
import type { SyncStatus } from "../chain/SyncStatus.ts"
import type { Cursor } from "../chain/write/Follower.ts"
import { asking, type CompleteNames, completeNames } from "../names/completeNames.ts"
import { type NameHashNotFound, type NameNotFound, NamesIncomplete } from "../names/errors.ts"
import { type NameAtOnce, NameDb, type NameEntry } from "../names/NameDb.ts"
import type { ListOptions } from "../names/nameQueries.ts"
import { byLength } from "../names/nameScan.ts"
import type { ScanOptions } from "../names/nameScan.ts"
import { type Bytes, compare, EMPTY } from "../protocol/bytes.ts"
import type { Height, NameKey } from "../protocol/keys.ts"
import type { DataHealth } from "../storage/DataHealth.ts"
import type { StorageFailure } from "../storage/errors.ts"
import { type LightNode, LightPart } from "./LightPart.ts"
import type { ProofLevel } from "./proof.ts"

/** The latest record of a name, expired or not, and its proof level. */
export interface NameAnswer {
  readonly record: NameEntry
  readonly proof: ProofLevel
}

/**
 * Answers about names, from the window of the light part while there is one, then from the whole chain. Used by
 * JSON-RPC, REST, the pages, DNS and the in-process client.
 */
export class NameAnswers extends Context.Tag("svcd/NameAnswers")<NameAnswers, {
  /** Whether a window answers because the whole chain is not checked. */
  readonly fromWindow: () => boolean
  /** The proof level of a name's absence. A window has no signatures for it but misses no name. */
  readonly proofOfAbsence: () => ProofLevel
  /** `undefined` if no such name is known; `ask` decides whether that is certain. */
  readonly resolve: (name: Bytes) => Effect.Effect<NameAnswer | undefined, StorageFailure>
  /** As in `NameDb`, from the whole chain alone; `undefined` while a window answers. */
  readonly atOnce: (name: NameKey) => NameAtOnce | undefined
  /** As in `NameDb`. A window lacks names that expired before it. */
  readonly scan: (options: ScanOptions) => Stream.Stream<NameAnswer, StorageFailure>
  readonly scanByPrefix: (
    options: ListOptions & { readonly prefix: Bytes }
  ) => Stream.Stream<NameAnswer, StorageFailure>
  /** The last block with known names. */
  readonly height: Effect.Effect<Height, StorageFailure>
  /** Whether a missing name does not exist or has expired. */
  readonly complete: Effect.Effect<boolean, StorageFailure>
  /** As in `CompleteNames`, for questions that these answers decide. */
  readonly ask: CompleteNames["ask"]
  /** Fails while a window answers, for questions that only the whole chain decides. */
  readonly wholeChain: Effect.Effect<void, NamesIncomplete>
  /** As in `NameDb`, from the whole chain alone; `undefined` if the name certainly does not exist. */
  readonly history: (
    name: Bytes
  ) => Effect.Effect<ReadonlyArray<NameEntry> | undefined, NamesIncomplete | StorageFailure>
  readonly resolveByHash: (hash: Bytes) => Effect.Effect<NameEntry | undefined, NamesIncomplete | StorageFailure>
  /** Fails for a list without the wanted names, if there may be such names. */
  readonly certainly: (
    list: { readonly listed: number; readonly wanted: number }
  ) => Effect.Effect<void, NamesIncomplete | StorageFailure>
}>() {}

/** A count for all names: streams take no infinite one. */
const ALL = Number.MAX_SAFE_INTEGER

/** The records of a window in scan order. Reads the names first, then the matching records. */
const scanWindow = (light: LightNode, options: ScanOptions): Stream.Stream<NameAnswer, StorageFailure> => {
  const { count = ALL, matches, maxHeight = Infinity, minHeight = 0, prefix = EMPTY, start = EMPTY } = options
  const fits = (name: Bytes): boolean => byLength(name, start) >= 0 && (matches === undefined || matches(name))
  const names = Effect.map(
    Stream.runCollect(Stream.filter(light.names(prefix), fits)),
    (found) => Chunk.toReadonlyArray(found).toSorted(byLength)
  )
  return Stream.unwrap(Effect.map(names, Stream.fromIterable)).pipe(
    Stream.mapEffect(light.look),
    Stream.filter((found) => found !== undefined),
    Stream.filter(({ record: { height } }) => height >= minHeight && height <= maxHeight),
    Stream.take(count)
  )
}

/** Answers over the whole chain and the light part. `syncing`, `SyncStatus` by default: whether blocks are missing. */
export const makeNameAnswers = (
  syncing?: Effect.Effect<boolean>
): Effect.Effect<
  Context.Tag.Service<NameAnswers>,
  never,
  Chain | ChainCoins | NameDb | SyncStatus | DataHealth | LightPart
> =>
  Effect.gen(function*() {
    const names = yield* NameDb
    const part = yield* LightPart
    const whole = yield* completeNames(syncing)

    /** Asks the window while there is one, else the whole chain. */
    const either = <A, E>(
      window: (light: LightNode) => Effect.Effect<A, E>,
      chain: Effect.Effect<A, E>
    ): Effect.Effect<A, E> =>
      Effect.suspend(() =>
        part.current() === undefined
          ? chain
          : Effect.scoped(Effect.flatMap(part.hold, (light) => light === undefined ? chain : window(light)))
      )

    const list = (
      window: (light: LightNode) => Stream.Stream<NameAnswer, StorageFailure>,
      chain: Stream.Stream<NameEntry, StorageFailure>
    ): Stream.Stream<NameAnswer, StorageFailure> => {
      const proved = Stream.map(chain, (record): NameAnswer => ({ record, proof: "full" }))
      return Stream.suspend(() =>
        part.current() === undefined
          ? proved
          : Stream.unwrapScoped(Effect.map(part.hold, (light) => light === undefined ? proved : window(light)))
      )
    }

    const inChain = (name: Bytes): Effect.Effect<NameAnswer | undefined, StorageFailure> =>
      names.resolve(name).pipe(
        Effect.map((record): NameAnswer => ({ record, proof: "full" })),
        Effect.catchTag("NameNotFound", () => Effect.succeed(undefined))
      )

    const tipOf = (light: LightNode): Effect.Effect<Cursor | undefined> =>
      Effect.gen(function*() {
        const { tip } = yield* light.progress
        return (yield* light.complete) ? tip : undefined
      })

    const fromWindow = () => part.current() !== undefined

    const wholeChain = Effect.suspend(() => fromWindow() ? new NamesIncomplete() : Effect.void)

    /** Asks the whole chain alone; `undefined` for a name that certainly does not exist. */
    const found = <A>(look: Effect.Effect<A, NameNotFound | NameHashNotFound | StorageFailure>) => {
      const orNone = Effect.catchTags(look, {
        NameNotFound: () => Effect.succeed(undefined),
        NameHashNotFound: () => Effect.succeed(undefined)
      })
      return Effect.zipRight(wholeChain, whole.ask(orNone, (answer) => answer === undefined))
    }

    const complete = either(({ complete }): Effect.Effect<boolean, StorageFailure> => complete, whole.complete)

    return NameAnswers.of({
      fromWindow,
      wholeChain,
      history: (name) => found(names.history(name)),
      resolveByHash: (hash) => found(names.resolveByHash(hash)),
      certainly: Effect.fnUntraced(function*({ listed, wanted }) {
        // A window that is not complete lacks names anywhere in the list.
        const isCertain = wanted <= 0 || (listed > 0 && !fromWindow())
        if (!isCertain && !(yield* complete)) return yield* new NamesIncomplete()
      }),
      proofOfAbsence: () => part.current() === undefined ? "full" : "signatures",
      resolve: (name) => either(({ resolve }) => resolve(name), inChain(name)),
      atOnce: (name) => part.current() === undefined ? names.atOnce(name) : undefined,
      scan: (options) => list((light) => scanWindow(light, options), names.scan(options)),
      scanByPrefix: (options) => {
        const { count = ALL, prefix, start = EMPTY } = options
        return list(
          ({ scan }) =>
            scan(prefix).pipe(
              Stream.filter(({ record }) => compare(record.name, start) >= 0),
              Stream.take(count)
            ),
          names.scanByPrefix(options)
        )
      },
      height: either(
        ({ progress }) => Effect.map(progress, ({ tip }): Height => tip.height),
        Effect.map(names.cursor, (cursor): Height => cursor?.height ?? 0)
      ),
      complete,
      ask: asking({
        cursor: either(({ progress }) => Effect.map(progress, ({ tip }) => tip), names.cursor),
        settled: either(tipOf, whole.settled)
      })
    })
  })

export const layer = (
  syncing?: Effect.Effect<boolean>
): Layer.Layer<NameAnswers, never, Chain | ChainCoins | NameDb | SyncStatus | DataHealth | LightPart> =>
  Layer.effect(NameAnswers, makeNameAnswers(syncing))
