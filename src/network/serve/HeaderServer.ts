import * as Effect from "effect/Effect"
import { turnOfEventLoop } from "../../base/turns.ts"
import type { Chain } from "../../chain/Chain.ts"
import type { BlockHeader } from "../../protocol/block.ts"
import type { HeaderId } from "../../protocol/keys.ts"
import type { StorageFailure } from "../../storage/errors.ts"
import type { Peer } from "../Peer.ts"
import { type GetHeaders, headersSize, isFullHeaders, isTooLongHeaders } from "../wire/messages/headers.ts"
import { headersFor } from "./servingRules.ts"

/** Headers read before other peers get a turn: 1 to 2 milliseconds of work. */
const HEADERS_A_TURN = 32

/** A long answer is thousands of objects before encoding. */
const HEADERS_AT_ONCE = 1

export interface HeaderServerOptions {
  /** Gets the last header sent to a peer, or our tip if there was none. */
  readonly served?: (peer: Peer, last: HeaderId) => Effect.Effect<void>
}

const readHeaders = (
  chain: typeof Chain.Service,
  ids: ReadonlyArray<HeaderId>,
  version: number
): Effect.Effect<ReadonlyArray<BlockHeader> | undefined, StorageFailure> =>
  Effect.gen(function*() {
    const headers: Array<BlockHeader> = []
    let size = 0
    for (let from = 0; from < ids.length; from += HEADERS_A_TURN) {
      if (from > 0) yield* turnOfEventLoop
      const wanted = ids.slice(from, from + HEADERS_A_TURN)
      const read = yield* chain.fullHeaders(wanted)
      for (const header of read) {
        headers.push(header)
        size += headersSize([header])
        if (isFullHeaders({ count: headers.length, size, peerVersion: version })) {
          return isTooLongHeaders({ size, peerVersion: version }) ? undefined : headers
        }
      }
      if (read.length < wanted.length) return undefined
    }
    return headers
  })

export const makeHeaderServer = (
  chain: typeof Chain.Service,
  { served = () => Effect.void }: HeaderServerOptions
) =>
  Effect.map(Effect.makeSemaphore(HEADERS_AT_ONCE), (slots) => {
    const { params, tree } = chain
    return (peer: Peer, question: GetHeaders): Effect.Effect<void, StorageFailure> =>
      Effect.gen(function*() {
        if ((yield* chain.progress).importing !== undefined) return
        // Sends an empty answer, so that the peer does not consider this node stalled.
        if (tree.chainwork(tree.tip()) < params.minimumChainWork && !peer.permissions.has("download")) {
          return yield* peer.send({ type: "headers", headers: [] })
        }
        const ids = headersFor(tree, params, question)
        if (ids === undefined) return
        yield* peer.ready
        yield* Effect.gen(function*() {
          if (peer.closed) return
          const headers = yield* readHeaders(chain, ids, peer.hello.version)
          // Does not wait, as a peer that does not read must not keep the slot.
          if (headers === undefined) return
          peer.post({ type: "headers", headers })
          yield* served(peer, ids[headers.length - 1] ?? tree.tip())
        }).pipe(slots.withPermits(1))
      })
  })
