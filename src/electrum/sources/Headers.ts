import * as Effect from "effect/Effect"
import { monotonic } from "../../base/clock.ts"
import { SLICE_MS, turnOfEventLoop } from "../../base/turns.ts"
import type { Chain } from "../../chain/Chain.ts"
import { NO_HEADER } from "../../chain/index/HeaderTree.ts"
import { RecordCache } from "../../names/RecordCache.ts"
import { encodeBlockHeader } from "../../protocol/block.ts"
import { binaryString, type Bytes, equal } from "../../protocol/bytes.ts"
import { hash256 } from "../../protocol/hash.ts"
import { HEADER_SIZE } from "../../protocol/header.ts"
import { badRequest, type ElectrumError, internalError } from "../protocol/ElectrumError.ts"
import { withCommas } from "../protocol/pythonText.ts"
import { type HeaderBranch, HeaderMerkle } from "./HeaderMerkle.ts"

/** HeaderSource of the best chain for clients. */
export interface HeaderSource {
  readonly tip: () => number
  /**
   * Headers of one chain with their proofs of work. The list ends at the tip, and before the bytes that there is room
   * for. Fails for a block that is not stored, as on a pruned node: a shorter list would say that the chain ends there.
   */
  readonly list: (range: HeaderRange) => Effect.Effect<ReadonlyArray<Bytes>, ElectrumError>
  readonly one: (height: number) => Effect.Effect<Bytes, ElectrumError>
  /** Proof of a header in the merkle tree of the headers 0 to `checkpoint`. */
  readonly proof: (
    place: { readonly height: number; readonly checkpoint: number }
  ) => Effect.Effect<HeaderBranch, ElectrumError>
  /** Whether a header, as `list` gives it, is still in the best chain. */
  readonly isAt: (height: number, header: Bytes) => boolean
}

export interface HeaderRange {
  readonly from: number
  readonly count: number
  /** Bytes. */
  readonly room: number
}

/** Headers read from the disk at a time. */
const PIECE = 32

const KEPT_HEADERS = 20_000
const KEPT_BYTES = 4 * 1024 * 1024

/** Bytes of a kept header besides its own. */
const AROUND = 200

export const outOfRange = (height: number): ElectrumError => badRequest(`height ${withCommas(height)} out of range`)

/** `isPruned`: as on a node with `-prune`, which does not get the block back. */
export const notStored = (height: number, isPruned: boolean): ElectrumError =>
  badRequest(
    `the block at height ${withCommas(height)} ${
      isPruned
        ? "was pruned on this server; ask one that keeps all blocks"
        : "is not stored on this server; ask another one"
    }`
  )

export const makeHeaders = (chain: Pick<typeof Chain.Service, "fullHeaders" | "tree">): HeaderSource => {
  const { fullHeaders, tree } = chain
  const merkle = new HeaderMerkle({
    hashAt: (height) => {
      const id = tree.at(height)
      return id === NO_HEADER ? undefined : tree.hash(id)
    }
  })

  const kept = new RecordCache<Bytes>(KEPT_HEADERS, { bytes: KEPT_BYTES, sizeOf: ({ length }) => length + AROUND })

  const tip = (): number => tree.height(tree.tip())

  const list: HeaderSource["list"] = ({ count, from, room }) =>
    Effect.gen(function*() {
      const found: Array<Bytes> = []
      let bytes = 0
      // All before the first is read: a reorg between two pieces would make a list of two chains.
      const ids = Array.from({ length: Math.max(0, Math.min(count, tip() + 1 - from)) }, (_, i) => tree.at(from + i))
      for (let at = 0; at < ids.length; at += PIECE) {
        const piece = ids.slice(at, at + PIECE)
        const read = yield* Effect.mapError(fullHeaders(piece.filter((id) => id !== NO_HEADER)), internalError)
        for (const header of read) {
          const encoded = encodeBlockHeader(header)
          bytes += encoded.length
          if (bytes > room) return found
          found.push(encoded)
        }
        const missing = piece[read.length]
        if (missing !== undefined) return yield* notStored(from + at + read.length, tree.isPruned(missing))
        if (at + PIECE < ids.length) yield* turnOfEventLoop
      }
      return found
    })

  /** Builds the tree, which takes seconds on first use, in slices. */
  const built = (length: number): Effect.Effect<void> =>
    Effect.gen(function*() {
      for (;;) {
        const end = monotonic() + SLICE_MS
        do {
          if (!merkle.extend(length)) return
        } while (monotonic() < end)
        yield* turnOfEventLoop
      }
    })

  return {
    tip,
    list,
    isAt: (height, header) => {
      const id = tree.at(height)
      return id !== NO_HEADER && equal(tree.hash(id), hash256(header.subarray(0, HEADER_SIZE)))
    },
    one: (height) =>
      Effect.suspend(() => {
        const id = tree.at(height)
        const known = id === NO_HEADER ? undefined : kept.get(binaryString(tree.hash(id)))
        if (known !== undefined) return Effect.succeed(known)
        return Effect.flatMap(list({ from: height, count: 1, room: Infinity }), ([header]) => {
          if (header === undefined) return outOfRange(height)
          kept.put(binaryString(hash256(header.subarray(0, HEADER_SIZE))), header)
          return Effect.succeed(header)
        })
      }),
    proof: ({ checkpoint, height }) =>
      Effect.suspend(() => {
        const limit = tip()
        if (height > checkpoint || checkpoint > limit) {
          return badRequest(
            `require header height ${withCommas(height)} <= cp_height ${withCommas(checkpoint)} <= ` +
              `chain height ${withCommas(limit)}`
          )
        }
        const length = checkpoint + 1
        return Effect.flatMap(built(length), () => {
          const found = merkle.branch({ index: height, length })
          return found === undefined ? outOfRange(checkpoint) : Effect.succeed(found)
        })
      })
  }
}
