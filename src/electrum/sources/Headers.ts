import * as Effect from "effect/Effect"
import { monotonic } from "../../base/clock.ts"
import { turnOfEventLoop } from "../../base/turns.ts"
import type { Chain } from "../../chain/Chain.ts"
import { NO_HEADER } from "../../chain/index/HeaderTree.ts"
import { encodeBlockHeader } from "../../protocol/block.ts"
import type { Bytes } from "../../protocol/bytes.ts"
import { badRequest, type ElectrumError, internalError } from "../protocol/ElectrumError.ts"
import { withCommas } from "../protocol/pythonText.ts"
import { type HeaderBranch, HeaderMerkle } from "./HeaderMerkle.ts"

/** HeaderSource of the best chain for clients. */
export interface HeaderSource {
  readonly tip: () => number
  /** With their proofs of work. The list ends at the tip, at `most` headers or bytes, and before a missing block. */
  readonly list: (range: HeaderRange) => Effect.Effect<ReadonlyArray<Bytes>, ElectrumError>
  readonly one: (height: number) => Effect.Effect<Bytes, ElectrumError>
  /** Proof of a header in the merkle tree of the headers 0 to `checkpoint`. */
  readonly proof: (
    place: { readonly height: number; readonly checkpoint: number }
  ) => Effect.Effect<HeaderBranch, ElectrumError>
}

export interface HeaderRange {
  readonly from: number
  readonly count: number
  /** Bytes. */
  readonly room: number
}

/** Milliseconds of work between turns of the event loop. */
const SLICE = 5

/** HeaderSource read from the disk at a time. */
const PIECE = 32

export const outOfRange = (height: number): ElectrumError => badRequest(`height ${withCommas(height)} out of range`)

export const makeHeaders = (chain: Pick<typeof Chain.Service, "fullHeaders" | "tree">): HeaderSource => {
  const { fullHeaders, tree } = chain
  const merkle = new HeaderMerkle({
    hashAt: (height) => {
      const id = tree.at(height)
      return id === NO_HEADER ? undefined : tree.hash(id)
    }
  })

  const tip = (): number => tree.height(tree.tip())

  const list: HeaderSource["list"] = ({ count, from, room }) =>
    Effect.gen(function*() {
      const found: Array<Bytes> = []
      let bytes = 0
      const end = Math.min(from + count, tip() + 1)
      for (let at = from; at < end; at += PIECE) {
        const heights = Array.from({ length: Math.min(PIECE, end - at) }, (_, i) => at + i)
        const ids = heights.map((height) => tree.at(height)).filter((id) => id !== NO_HEADER)
        const read = yield* Effect.mapError(fullHeaders(ids), internalError)
        for (const header of read) {
          const encoded = encodeBlockHeader(header)
          bytes += encoded.length
          if (bytes > room) return found
          found.push(encoded)
        }
        if (read.length < heights.length) return found
        if (at + PIECE < end) yield* turnOfEventLoop
      }
      return found
    })

  /** Builds the tree, which takes seconds on first use, in slices. */
  const built = (length: number): Effect.Effect<void> =>
    Effect.gen(function*() {
      for (;;) {
        const end = monotonic() + SLICE
        do {
          if (!merkle.extend(length)) return
        } while (monotonic() < end)
        yield* turnOfEventLoop
      }
    })

  return {
    tip,
    list,
    one: (height) =>
      Effect.flatMap(
        list({ from: height, count: 1, room: Infinity }),
        ([header]) => header === undefined ? outOfRange(height) : Effect.succeed(header)
      ),
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
