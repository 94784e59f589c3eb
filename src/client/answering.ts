import * as Effect from "effect/Effect"
import type { ConsensusParams } from "../consensus/params.ts"
import type { ProofLevel } from "../light/proof.ts"
import type { SyncReport } from "../light/syncReport.ts"
import { NameExpired, requestedName } from "../names/errors.ts"
import type { NameEntry } from "../names/NameEntry.ts"
import type { Bytes } from "../protocol/bytes.ts"
import type { Height } from "../protocol/keys.ts"
import type { NotSynced, ResolveFailure } from "./errors.ts"
import type { ResolveOptions } from "./options.ts"
import { isTooWeak, notSynced, type Requirement } from "./readiness.ts"
import { fixedPart, recordAt } from "./record.ts"
import { type FixedPart, type Freshness, freshnessOf, type NameRecord } from "./records.ts"
import { absentName } from "./text.ts"

export interface AnsweringParts {
  readonly params: ConsensusParams
  readonly report: Effect.Effect<SyncReport>
}

export interface Answering {
  /** The same object as long as nothing changes. */
  readonly freshness: (height: Height, synced: boolean, proof: ProofLevel) => Freshness
  readonly textOf: (record: NameEntry) => FixedPart | undefined
  /** Fails when the answer is older, or has a weaker proof, than the caller requires. */
  readonly tooWeak: (asOf: Freshness, options: Requirement) => Effect.Effect<never, NotSynced>
  // positional: an answer from memory runs it, 100,000 times a second
  readonly answer: (
    name: Bytes,
    stored: NameEntry | undefined,
    asOf: Freshness,
    options: ResolveOptions
  ) => Effect.Effect<NameRecord, ResolveFailure>
}

export const makeAnswering = ({ params, report }: AnsweringParts): Answering => {
  let said = freshnessOf({ height: 0, synced: false, proof: "full" })

  /** Cached, because the text of a record costs more than its lookup. */
  const texts = new WeakMap<NameEntry, FixedPart>()

  const textOf = (record: NameEntry): FixedPart | undefined => {
    const known = texts.get(record)
    if (known !== undefined) return known
    const made = fixedPart(record, params)
    if (made !== undefined) texts.set(record, made)
    return made
  }

  const tooWeak = (asOf: Freshness, options: Requirement): Effect.Effect<never, NotSynced> =>
    Effect.flatMap(report, (now) => notSynced(asOf, now, options))

  return {
    freshness: (height, synced, proof) => {
      if (said.height !== height || said.synced !== synced || said.proof !== proof) {
        said = freshnessOf({ height, synced, proof })
      }
      return said
    },
    textOf,
    tooWeak,
    // positional: as its type
    answer: (name, stored, asOf, options) => {
      if (isTooWeak(asOf, options)) return tooWeak(asOf, options)
      const fixed = stored === undefined ? undefined : textOf(stored)
      const record = fixed === undefined ? undefined : recordAt(fixed, asOf, params)
      if (record !== undefined && !record.expired) return Effect.succeed(record)
      // A missing block may have the name.
      if (!asOf.synced) return tooWeak(asOf, {})
      return record === undefined
        ? absentName(name)
        : new NameExpired({ ...requestedName(name), updateHeight: record.height })
    }
  }
}
