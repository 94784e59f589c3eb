import * as Effect from "effect/Effect"
import * as Schedule from "effect/Schedule"
import { unixTime } from "../../base/clock.ts"
import type { StorageFailure } from "../../storage/errors.ts"
import { InvalidWalletRequest } from "../errors.ts"
import { lookAtPool } from "../ledger/poolWatch.ts"
import type { WalletIndex } from "../ledger/WalletIndex.ts"
import { update, type WalletParts } from "../WalletParts.ts"
import { withLabels } from "./addresses.ts"
import { prepareImport } from "./importDescriptor.ts"
import type { LabelEntry } from "./WalletDocument.ts"
import type { WalletKeys } from "./WalletKeys.ts"

/** Imports of scripts into a wallet, and the rescans for them. */

/** The labels of the scripts of a descriptor without range. */
const labelsOf = (
  { ring }: WalletParts,
  { descriptor, label }: { readonly descriptor: string; readonly label: string }
): ReadonlyArray<LabelEntry> => {
  const found: Array<LabelEntry> = []
  for (const { address, parentDescriptor } of ring.all()) {
    if (address !== undefined && parentDescriptor === descriptor) found.push({ address, label, purpose: "receive" })
  }
  return found
}

export const makeImport = (parts: WalletParts): WalletKeys["importDescriptor"] => (request) =>
  Effect.gen(function*() {
    const { file, index, ledger, ring, vault } = parts
    if (index.scanning() !== undefined) {
      const reason = "Wallet is currently rescanning. Abort existing rescan or wait."
      return yield* new InvalidWalletRequest({ code: "scanning", reason })
    }
    if (index.behind()) {
      const reason = "The chain has fewer blocks than the wallet has seen. Wait until they are there again."
      return yield* new InvalidWalletRequest({ code: "scanning", reason })
    }
    const timestamp = request.timestamp ?? (yield* unixTime)
    const prepared = yield* prepareImport(file.document, { ...request, timestamp }, vault.sealingKey())
    const { change, entry, warnings } = prepared
    yield* Effect.uninterruptible(Effect.gen(function*() {
      // If the rescan below is interrupted, the next start repeats it.
      yield* index.forget(entry.descriptor)
      yield* update(parts, change)
      yield* ring.add(entry)
      const labels = entry.range === undefined && !entry.internal
        ? labelsOf(parts, { descriptor: entry.descriptor, label: entry.label })
        : []
      yield* update(parts, (document) => withLabels(document, labels))
      ledger.lookAgain("all")
    }))
    yield* lookAtPool(parts)
    yield* index.rescan(index.heightOfTime(timestamp), undefined)
    yield* index.remember(entry.descriptor)
    return warnings
  })

const isScanning = (error: InvalidWalletRequest | StorageFailure): boolean =>
  error._tag === "InvalidWalletRequest" && error.code === "scanning"

/** Interval between two attempts of a delayed rescan. */
const SEARCH_INTERVAL = "1 second"

/**
 * Rescans the chain for descriptors that were imported without a node, or whose rescan was interrupted. It waits while
 * the chain is behind the wallet.
 */
export const scanMissing = (
  index: WalletIndex
): Effect.Effect<void, InvalidWalletRequest | StorageFailure> =>
  Effect.suspend(() => {
    const { missing } = index
    if (missing.length === 0) return index.lookedThrough
    const from = missing.reduce((least, { timestamp }) => Math.min(least, timestamp), Number.POSITIVE_INFINITY)
    const sources = missing.map(({ source }) => source)
    return Effect.gen(function*() {
      yield* Effect.logInfo("rescanning the chain for imported keys", { count: sources.length })
      if (index.behind()) yield* Effect.logInfo("the rescan waits for the blocks that the wallet has seen before")
      yield* Effect.retry(
        Effect.suspend(() => {
          if (index.behind()) return new InvalidWalletRequest({ code: "scanning", reason: "the chain is behind" })
          return index.rescan(index.heightOfTime(from), undefined)
        }),
        { while: isScanning, schedule: Schedule.spaced(SEARCH_INTERVAL) }
      )
      yield* Effect.forEach(sources, index.remember, { discard: true })
      yield* index.lookedThrough
    })
  })
