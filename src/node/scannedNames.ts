import * as Effect from "effect/Effect"
import * as Stream from "effect/Stream"
import type { NotSynced } from "../client/errors.ts"
import { isTooWeak, type Requirement } from "../client/readiness.ts"
import { fixedPart, recordAt } from "../client/record.ts"
import { type Freshness, freshnessOf, type NameRecord } from "../client/records.ts"
import type { ConsensusParams } from "../consensus/params.ts"
import type { NameAnswer } from "../light/NameAnswers.ts"
import { type NameQuery, queryMatcher } from "../names/search/nameQuery.ts"

/** A search without indexes, which reads the names of a window one by one. */

export interface ScannedSearch<E> {
  readonly query: NameQuery
  readonly params: ConsensusParams
  /** Freshness of the window. Each name has its own proof. */
  readonly asOf: Freshness
  readonly options: Requirement
  readonly refuse: (asOf: Freshness) => Effect.Effect<never, NotSynced>
  /** The freshness after all names: the window may begin again meanwhile, and lack names. */
  readonly atEnd: Effect.Effect<Freshness, E>
}

export const findScanned = <E>(
  scan: Stream.Stream<NameAnswer, E>,
  { asOf, atEnd, options, params, query, refuse }: ScannedSearch<E>
): Stream.Stream<NameRecord, E | NotSynced> => {
  const matches = queryMatcher(query, { tipHeight: asOf.height, params })
  return scan.pipe(
    Stream.filter(({ record }) => matches(record)),
    Stream.mapConcatEffect(({ proof, record }): Effect.Effect<ReadonlyArray<NameRecord>, NotSynced> => {
      const fixed = fixedPart(record, params)
      const shown = freshnessOf({ ...asOf, proof })
      if (fixed === undefined) return Effect.succeed([])
      return isTooWeak(shown, options) ? refuse(shown) : Effect.succeed([recordAt(fixed, shown, params)])
    }),
    Stream.concat(
      Stream.execute(
        Effect.flatMap(atEnd, (now) => now.synced && now.height >= asOf.height ? Effect.void : refuse(now))
      )
    )
  )
}
