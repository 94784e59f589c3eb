import * as Effect from "effect/Effect"
import type * as Stream from "effect/Stream"
import { attempt } from "../chain/attempt.ts"
import type { Cursor } from "../chain/write/Follower.ts"
import { NamesIncomplete, type ProofUnavailable } from "../names/errors.ts"
import type { NameEntry } from "../names/NameEntry.ts"
import type { NameEvidence, WantedEvidence } from "../names/nameEvidence.ts"
import { CACHED_RECORD_BYTES, recordBytes, RecordCache } from "../names/RecordCache.ts"
import type { Bytes } from "../protocol/bytes.ts"
import { type Height, type NameKey, nameKey } from "../protocol/keys.ts"
import type { StorageFailure } from "../storage/errors.ts"
import type { LightChain } from "./LightChain.ts"
import type { LinkPool } from "./LinkPool.ts"
import { NameCount } from "./NameCount.ts"
import { SignatureQueue } from "./SignatureQueue.ts"
import { evidenceInWindow } from "./windowEvidence.ts"
import type { WindowFile } from "./WindowFile.ts"
import { rowsByName } from "./windowPages.ts"
import type { WindowHead, WindowProofRow } from "./windowProofs.ts"

/** Maximum cached names, within `CACHED_RECORD_BYTES`. */
const CACHED_NAMES = 20_000

/** Operations or names read at a time. */
const PAGE = 200
const NAMES_PAGE = 5_000

export interface LightRecord {
  readonly record: NameEntry
  readonly proof: "work" | "signatures"
}

export interface WindowReaderParts {
  readonly chain: LightChain
  readonly file: WindowFile
  readonly pool: LinkPool
  /** Whether the window is up to date. Otherwise it answers as if it had no names. */
  readonly isCurrent: () => boolean
  /** Notes a failure, which ends the node. */
  readonly ends: <A>(work: Effect.Effect<A, StorageFailure>) => Effect.Effect<A, StorageFailure>
}

/** What a window keeps beside its operations, with -nameproofs. */
export interface WindowProofs {
  /** Whether the window keeps it. */
  readonly kept: boolean
  /** Fails with `NamesIncomplete` while the window is not up to date. */
  readonly prove: (
    name: Bytes,
    wanted: WantedEvidence
  ) => Effect.Effect<NameEvidence, NamesIncomplete | ProofUnavailable | StorageFailure>
  /** The operations of a block with their branches, in chain order. */
  readonly at: (height: Height) => Effect.Effect<ReadonlyArray<WindowProofRow>, StorageFailure>
  /**
   * The newest operations on the name of a script hash (`nameIndexHash`), the newest first. Fails while the window is not
   * up to date.
   */
  readonly ofScript: (
    hash: Bytes,
    limit: number
  ) => Effect.Effect<ReadonlyArray<NameEntry>, NamesIncomplete | StorageFailure>
  /** The operation in a transaction (wire order); `undefined` if the window has none. */
  readonly ofTxid: (txid: Bytes) => Effect.Effect<WindowProofRow | undefined, StorageFailure>
  /** The headers with their merged-mining proofs from a height on, as far as the window has them. */
  readonly heads: (from: Height, limit: number) => Effect.Effect<ReadonlyArray<WindowHead>, StorageFailure>
}

/** Answers from the window. The signatures of requested names are checked first. */
export interface WindowReader {
  /** The newest operation on a name, expired or not; `undefined` if the window has none or is not up to date. */
  readonly resolve: (name: Bytes) => Effect.Effect<LightRecord | undefined, StorageFailure>
  /** The same for a caller that reads many names, without priority for signatures. */
  readonly look: (name: Bytes) => Effect.Effect<LightRecord | undefined, StorageFailure>
  /** The same from memory at the present height, if cached. */
  readonly recent: (name: Bytes) => LightRecord | undefined
  /** The names with a prefix, including expired ones, in byte order. `complete` tells whether there are all. */
  readonly names: (prefix: Bytes) => Stream.Stream<Bytes, StorageFailure>
  /** The newest operation on each name with a prefix, expired or not, in byte order. */
  readonly scan: (prefix: Bytes) => Stream.Stream<LightRecord, StorageFailure>
  readonly operationsFrom: (height: Height) => Effect.Effect<ReadonlyArray<NameEntry>, StorageFailure>
  readonly proofs: WindowProofs
}

export const makeWindowReader = ({ chain, ends, file, isCurrent, pool }: WindowReaderParts) => {
  const cache = new RecordCache<LightRecord, NameKey>(CACHED_NAMES, {
    bytes: CACHED_RECORD_BYTES,
    sizeOf: ({ record }) => recordBytes(record)
  })
  const count = new NameCount(() => file.countNames())
  /** Drops these names from the cache. */
  const changed = (which: ReadonlyArray<NameKey> | "all"): void => {
    cache.freeze(which)
    cache.thaw()
    if (which === "all") count.changed()
  }
  const queue = new SignatureQueue({ chain, file, pool, changed })

  const proofOf = (name: Bytes): LightRecord["proof"] => chain.proves(file.proof(name)) ? "signatures" : "work"

  const recordOf = (record: NameEntry): LightRecord => ({ record, proof: proofOf(record.name) })

  const read = (name: Bytes): Effect.Effect<LightRecord | undefined, StorageFailure> =>
    ends(attempt(() => {
      const record = file.newest(name)
      if (record === undefined) return undefined
      queue.hurry(name)
      const found = recordOf(record)
      cache.put(nameKey(name), found)
      return found
    }))

  const tipNow = (): Cursor => ({ height: chain.height, hash: chain.tree.hash(chain.tree.tip()).slice() })

  const reader: WindowReader = {
    resolve: (name) =>
      Effect.suspend(() => {
        if (!isCurrent()) return Effect.succeed(undefined)
        const known = cache.get(nameKey(name))
        return known === undefined ? read(name) : Effect.succeed(known)
      }),
    look: (name) =>
      ends(attempt(() => {
        const record = isCurrent() ? file.newest(name) : undefined
        return record === undefined ? undefined : recordOf(record)
      })),
    recent: (name) => isCurrent() ? cache.get(nameKey(name)) : undefined,
    names: (prefix) =>
      rowsByName(prefix, {
        read: (from, limit) => ends(attempt(() => file.namesFrom(from, limit))),
        nameOf: (name) => name,
        size: NAMES_PAGE
      }),
    scan: (prefix) =>
      rowsByName(prefix, {
        read: (from, limit) => ends(attempt(() => file.newestFrom(from, limit).map(recordOf))),
        nameOf: ({ record }) => record.name,
        size: PAGE
      }),
    operationsFrom: (height) => ends(attempt(() => file.operationsFrom(height))),
    proofs: {
      kept: file.keepsProofs,
      prove: (name, wanted) =>
        Effect.gen(function*() {
          const found = yield* ends(attempt(() => {
            const low = chain.range.low
            return isCurrent() ? evidenceInWindow({ file, tip: tipNow(), low }, name, wanted) : new NamesIncomplete()
          }))
          return "_tag" in found ? yield* found : found
        }),
      at: (height) => ends(attempt(() => file.provenAt(height))),
      ofScript: (hash, limit) =>
        Effect.suspend((): Effect.Effect<ReadonlyArray<NameEntry>, NamesIncomplete | StorageFailure> =>
          file.keepsProofs && isCurrent()
            ? ends(attempt(() => file.ofScript(hash, limit)))
            : new NamesIncomplete()
        ),
      ofTxid: (txid) => ends(attempt(() => file.ofTxid(txid))),
      heads: (from, limit) => ends(attempt(() => file.heads(from, limit)))
    }
  }
  return { reader, count, queue, changed: () => changed("all") }
}
