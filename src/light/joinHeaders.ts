import * as Effect from "effect/Effect"
import type { Chain } from "../chain/Chain.ts"
import type { ChainSink } from "../chain/ChainSink.ts"
import { GENESIS } from "../chain/index/BlockIndex.ts"
import { NO_HEADER } from "../chain/index/HeaderTree.ts"
import type { BlockHeader } from "../protocol/block.ts"
import { equal } from "../protocol/bytes.ts"
import type { HeaderId } from "../protocol/keys.ts"
import type { LightNode } from "./LightPart.ts"

/** Headers offered to the chain at once. */
const BATCH = 2_000

/** A light part, and the whole chain checked behind it. */
export interface Joined {
  readonly light: {
    readonly chain: Pick<LightNode["chain"], "header" | "tree">
    readonly span: Pick<LightNode["span"], "first">
  }
  readonly chain: Pick<typeof Chain.Service, "tree">
  readonly sink: Pick<typeof ChainSink.Service, "acceptHeaders">
}

/** The next headers of the best light chain after a height, up to the first with another hash than stored. */
const headersAfter = ({ light: { chain } }: Joined, best: HeaderId, height: number): ReadonlyArray<BlockHeader> => {
  const { header: headerOf, tree } = chain
  const headers: Array<BlockHeader> = []
  for (let at = height + 1; at <= Math.min(height + BATCH, tree.height(best)); at++) {
    const id = tree.ancestor(best, at)
    const header = headerOf(id)
    if (!equal(header.hash, tree.hash(id))) break
    headers.push({ header, auxpow: undefined })
  }
  return headers
}

/**
 * Gives the headers of the best light chain to the whole chain, once that has the first of them. The light part has
 * checked proofs of work without storing them; all other rules are applied again. Peers send what the chain refuses or
 * the light part lacks. Nothing is stored, so a restart repeats this. Returns the number of new headers; `undefined`
 * while it is too early.
 */
export const joinHeaders = (joined: Joined): Effect.Effect<number | undefined> =>
  Effect.gen(function*() {
    const { chain, light, sink } = joined
    const { tree } = light.chain
    // The window begins when a peer has sent all its headers, and these have the network's minimum work.
    if (light.span.first() === Infinity || chain.tree.find(tree.hash(GENESIS)) === NO_HEADER) return undefined
    const best = tree.best()
    const isKnown = chain.tree.find(tree.hash(best)) !== NO_HEADER
    let [added, height] = [0, isKnown ? tree.height(best) : tree.height(GENESIS)]
    while (height < tree.height(best)) {
      const headers = headersAfter(joined, best, height)
      const accepted = yield* sink.acceptHeaders(headers, true)
      added += accepted.added
      height += headers.length
      if (headers.length > 0 && accepted.reject === undefined) continue
      yield* Effect.logWarning("headers of the light start are unusable: the rest comes from peers", {
        height,
        reason: accepted.reject?.reason ?? "a header is damaged"
      })
      break
    }
    if (added > 0) yield* Effect.logInfo("headers above the anchor come from the light start", { headers: added })
    return added
  })
