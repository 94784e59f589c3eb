import * as Effect from "effect/Effect"
import { Chain } from "../../chain/Chain.ts"
import type { HeaderInfo } from "../../chain/index/headerInfo.ts"
import { binaryString } from "../../protocol/bytes.ts"

/** Several times the number of blocks on the page. */
const KEPT = 32

/** Weights of stored blocks, each of which is read once; `undefined` for a block that is not stored. */
export const makeBlockWeights = Effect.gen(function*() {
  const chain = yield* Chain
  const known = new Map<string, number | undefined>()
  return ({ hash, size }: HeaderInfo): Effect.Effect<number | undefined> =>
    Effect.gen(function*() {
      const key = binaryString(hash)
      if (size === 0) return undefined
      if (known.has(key)) return known.get(key)
      const weight = yield* Effect.orElseSucceed(Effect.map(chain.block(hash), ({ weight }) => weight), () => undefined)
      known.set(key, weight)
      for (const oldest of known.keys()) {
        if (known.size <= KEPT) break
        known.delete(oldest)
      }
      return weight
    })
})
