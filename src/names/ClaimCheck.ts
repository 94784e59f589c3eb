import * as Effect from "effect/Effect"
import { turnOfEventLoop } from "../base/turns.ts"
import type { NameClaim } from "../consensus/view.ts"
import type { Bytes } from "../protocol/bytes.ts"
import { type Height, type NameKey, nameOfKey } from "../protocol/keys.ts"
import { printable } from "../protocol/nameText.ts"
import type { StorageFailure } from "../storage/errors.ts"
import { firstOperationAt, plain } from "./NameEntry.ts"
import { type NamesFile, query } from "./NamesFile.ts"

export interface CheckResult {
  readonly names: number
  /** The first differences found, as text. */
  readonly faults: ReadonlyArray<string>
}

/** A comparison in progress. The chain must not change between the first claim and the result. */
export interface ClaimCheck {
  /**
   * Compares claims with the current records: each name once, in any order and number of lists. Never throws: an
   * unreadable file fails the result.
   */
  readonly add: (claims: ReadonlyArray<readonly [name: NameKey, claim: NameClaim]>) => void
  /** Ends the comparison, and finds names without a claim and inconsistent histories. Run once. */
  readonly result: Effect.Effect<CheckResult, StorageFailure>
}

const MAX_FAULTS = 20

/** Names per turn of the event loop. */
const NAMES_AT_ONCE = 2_000

const contradiction = (
  name: Bytes,
  { height, outpoint }: NameClaim,
  found: NameClaim | undefined
): string | undefined => {
  const shown = printable(name)
  if (found === undefined) return `name ${shown} is claimed at height ${height}, but has no record`
  if (found.height !== height) {
    return `name ${shown} is claimed at height ${height}, but its record is from height ${found.height}`
  }
  return found.outpoint === outpoint
    ? undefined
    : `name ${shown} is claimed by an output that is not the output of its record`
}

/** Selects records that do not match their operations. */
const BROKEN = `
  SELECT n.name FROM names n LEFT JOIN operations o ON o.id = n.operation
  WHERE n.id BETWEEN ? AND ? AND (
    o.id IS NULL OR o.name_id <> n.id OR o.address <> n.address
    OR EXISTS (SELECT 1 FROM operations p WHERE p.name_id = n.id AND p.id > n.operation)
  )
  LIMIT ${MAX_FAULTS}`

/** Selects operations above the last block, or without a name. */
const STRAY = "SELECT id FROM operations WHERE id >= ? UNION ALL SELECT id FROM operations WHERE name_id > ? LIMIT 1"

const TOTALS = `
  SELECT count(*) FILTER (WHERE operation >= ?) AS names, coalesce(max(id), 0) AS last,
    coalesce((SELECT height FROM cursor), -1) AS height
  FROM names`

interface Totals {
  /** From the height of the comparison on. */
  readonly names: number
  /** The largest id of a name. */
  readonly last: number
  readonly height: Height
}

const faultsWithin = (
  file: NamesFile,
  { claims, from: lowest }: { readonly claims: number; readonly from: Height }
): Effect.Effect<ReadonlyArray<string>, StorageFailure> =>
  file.snapshot((connection) =>
    Effect.gen(function*() {
      const faults: Array<string> = []
      const [{ height, last, names } = { names: 0, last: 0, height: -1 }] = yield* query<Totals>(connection, TOTALS, [
        firstOperationAt(lowest)
      ])
      if (names !== claims) faults.push(`there are records of ${names} names, and claims of ${claims}`)
      for (let from = 1; from <= last; from += NAMES_AT_ONCE) {
        for (
          const row of yield* query<{ readonly name: Buffer }>(connection, BROKEN, [from, from + NAMES_AT_ONCE - 1])
        ) {
          faults.push(`name ${printable(plain(row.name))} does not agree with its operations`)
        }
        yield* turnOfEventLoop
      }
      const stray = yield* query(connection, STRAY, [firstOperationAt(height + 1), last])
      if (stray.length > 0) faults.push("there are operations without a name, or above the last block")
      return faults
    })
  )

/** Names of an operation below the height `from` are not compared. */
export const makeClaimCheck = (file: NamesFile, from: Height): ClaimCheck => {
  const faults: Array<string> = []
  let names = 0
  let reading: Effect.Effect<void, StorageFailure> = Effect.void
  return {
    add: (claims) => {
      if (reading !== Effect.void) return
      try {
        for (const [key, claim] of claims) {
          if (claim.height < from) continue
          names++
          const name = nameOfKey(key)
          const fault = contradiction(name, claim, file.points.claim(name))
          if (fault !== undefined && faults.length < MAX_FAULTS) faults.push(fault)
        }
      } catch (cause) {
        reading = file.failed(cause)
      }
    },
    result: Effect.suspend(() => reading).pipe(
      Effect.zipRight(Effect.suspend(() => faultsWithin(file, { claims: names, from }))),
      Effect.map((within) => ({ names, faults: [...faults, ...within].slice(0, MAX_FAULTS) }))
    )
  }
}
