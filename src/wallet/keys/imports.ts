import * as Effect from "effect/Effect"
import * as Schedule from "effect/Schedule"
import type { StorageFailure } from "../../storage/errors.ts"
import { InvalidWalletRequest } from "../errors.ts"
import { lookAtPool } from "../ledger/poolWatch.ts"
import { update, type WalletParts } from "../WalletParts.ts"
import { withLabels } from "./addresses.ts"
import { prepareImport } from "./importDescriptor.ts"
import type { LabelEntry } from "./WalletDocument.ts"
import type { WalletKeys } from "./WalletKeys.ts"

/** For a descriptor without range. */
const labelsOf = (
  { ring }: WalletParts,
  { descriptor, label }: { readonly descriptor: string; readonly label: string }
): ReadonlyArray<LabelEntry> =>
  ring.scriptsOf(descriptor).flatMap(({ address }) =>
    address === undefined ? [] : { address, label, purpose: "receive" as const }
  )

/** Upstream text (`wallet/rpc/backup.cpp`, `importdescriptors`). The rest was scanned. */
const prunedText = (timestamp: number): string =>
  `Rescan failed for descriptor with timestamp ${timestamp}. There was an error reading a block, which could contain ` +
  "transactions pertaining to the desc. As a result, transactions and coins using this desc may not appear in the " +
  "wallet. This error could be caused by pruning or data corruption (see the log for details) and could be dealt with " +
  "by downloading and rescanning the relevant blocks (see -reindex option and rescanblockchain RPC)."

export const makeImport = (parts: WalletParts): WalletKeys["importDescriptor"] => (request) =>
  Effect.gen(function*() {
    const { chain, file, index, ledger, ring, rules, vault } = parts
    if (index.scanning() !== undefined) {
      const reason = "Wallet is currently rescanning. Abort existing rescan or wait."
      return yield* new InvalidWalletRequest({ code: "scanning", reason })
    }
    if (index.behind()) {
      const reason = "The chain has fewer blocks than the wallet has seen. Wait until they are there again."
      return yield* new InvalidWalletRequest({ code: "scanning", reason })
    }
    // Upstream `wallet/rpc/backup.cpp`, `importdescriptors`: "now" is the time of the chain.
    const timestamp = request.timestamp ?? (yield* chain.tip).medianTimePast
    const prepared = yield* prepareImport(
      file.document,
      { ...request, timestamp, lookahead: rules.keypool },
      vault.sealingKey()
    )
    const { change, entries, warnings } = prepared
    yield* Effect.uninterruptible(Effect.gen(function*() {
      // The next start repeats an interrupted rescan.
      yield* Effect.forEach(entries, ({ descriptor }) => index.forget(descriptor), { discard: true })
      yield* update(parts, change)
      yield* Effect.forEach(entries, (entry) => ring.add(entry), { discard: true })
      const labels = entries.flatMap((entry) =>
        entry.range === undefined && !entry.internal
          ? labelsOf(parts, { descriptor: entry.descriptor, label: entry.label })
          : []
      )
      yield* update(parts, (document) => withLabels(document, labels))
      ledger.lookAgain("all")
    }))
    yield* lookAtPool(parts)
    const [first, stored] = [index.heightOfTime(timestamp), index.firstStored()]
    yield* index.rescan(Math.max(first, stored), undefined)
    yield* Effect.forEach(entries, ({ descriptor }) => index.remember(descriptor), { discard: true })
    if (first < stored) return yield* new InvalidWalletRequest({ code: "pruned", reason: prunedText(timestamp) })
    return warnings
  })

const isScanning = (error: InvalidWalletRequest | StorageFailure): boolean =>
  error._tag === "InvalidWalletRequest" && error.code === "scanning"

const SEARCH_INTERVAL = "1 second"

/** For descriptors imported without a node, and interrupted rescans. Waits while the chain is behind the wallet. */
export const scanMissing = (
  { index, ledger, ring }: Pick<WalletParts, "index" | "ledger" | "ring">
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
          return index.rescan(Math.max(index.heightOfTime(from), index.firstStored()), undefined)
        }),
        { while: isScanning, schedule: Schedule.spaced(SEARCH_INTERVAL) }
      )
      yield* Effect.forEach(sources, index.remember, { discard: true })
      yield* index.lookedThrough
      yield* Effect.logInfo("the chain was searched for the keys of the wallet", {
        transactions: ledger.transactions().length,
        names: ledger.names().length,
        addresses: ring.size
      })
    })
  })
