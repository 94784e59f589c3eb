import * as Effect from "effect/Effect"
import { monotonic } from "../../base/clock.ts"
import type { JsonValue } from "../../rpc/json/encodeJson.ts"
import { type Json, JsonObject } from "../../rpc/json/json.ts"
import { badRequest } from "../protocol/ElectrumError.ts"
import { type FeeHistogram, feeHistogram } from "../protocol/feeHistogram.ts"
import { nonNegativeInteger } from "../protocol/parameters.ts"
import { VERSION_1_6 } from "../protocol/versions.ts"
import type { ElectrumMethod, Sources } from "./method.ts"
import { takes } from "./method.ts"

const MODES: ReadonlyArray<string> = ["CONSERVATIVE", "ECONOMICAL"]

/** Milliseconds for which a histogram serves all clients: it reads the whole pool. */
const KEPT = 10_000

const memberOf = (value: Json, name: string): Json => value instanceof JsonObject ? value.get(name) ?? null : null

/** Without an estimate, as ElectrumX. */
const NO_ESTIMATE = -1

/** Histograms of the pool, for some time each. */
const keptHistogram = (pool: Sources["pool"]): () => FeeHistogram => {
  let kept: { readonly at: number; readonly of: number; readonly histogram: FeeHistogram } | undefined
  return () => {
    const { changes } = pool.info()
    const now = monotonic()
    if (kept === undefined || (kept.of !== changes && now - kept.at > KEPT)) {
      const paid = Array.from(pool.entries(), ({ fee, vsize }) => ({ fee, size: vsize }))
      kept = { at: now, of: changes, histogram: feeHistogram(paid) }
    }
    return kept.histogram
  }
}

/** Methods about fees and the pool. */
export const electrumMempool = ({ node, pool }: Sources): ReadonlyArray<ElectrumMethod> => {
  const histogram = keptHistogram(pool)
  return [
    {
      name: "mempool.get_fee_histogram",
      group: "mempool",
      signature: takes(),
      call: (_, { charge }) =>
        Effect.sync((): JsonValue => {
          charge(1)
          return histogram()
        })
    },
    {
      name: "mempool.get_info",
      group: "mempool",
      since: VERSION_1_6,
      signature: takes(),
      call: (_, { charge }) =>
        Effect.suspend(() => {
          charge(1)
          return Effect.map(node.ask("getmempoolinfo"), (info) => ({
            mempoolminfee: memberOf(info, "mempoolminfee"),
            minrelaytxfee: memberOf(info, "minrelaytxfee"),
            incrementalrelayfee: memberOf(info, "incrementalrelayfee")
          }))
        })
    },
    {
      name: "blockchain.relayfee",
      group: "mempool",
      until: VERSION_1_6,
      signature: takes(),
      call: (_, { charge }) =>
        Effect.suspend(() => {
          charge(1)
          return Effect.map(node.ask("getnetworkinfo"), (info) => memberOf(info, "relayfee"))
        })
    },
    {
      name: "blockchain.estimatefee",
      group: "mempool",
      signature: takes(["number"], ["mode"]),
      call: ([givenNumber, givenMode], { charge }) =>
        Effect.gen(function*() {
          const target = yield* nonNegativeInteger(givenNumber)
          const mode = typeof givenMode === "string" ? givenMode.toUpperCase() : undefined
          if (mode !== undefined && !MODES.includes(mode)) {
            return yield* badRequest(`unknown estimatefee mode: ${mode.slice(0, 100)}`)
          }
          charge(0.1)
          const asked = mode === undefined ? [target] : [target, mode]
          const rate = memberOf(yield* node.ask("estimatesmartfee", asked), "feerate")
          return rate ?? NO_ESTIMATE
        })
    }
  ]
}
