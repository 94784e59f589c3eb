import * as Effect from "effect/Effect"
import * as Scope from "effect/Scope"
import { Chain } from "../../chain/Chain.ts"
import { ChainCoins } from "../../chain/ChainCoins.ts"
import type { Coin } from "../../consensus/view.ts"
import { displayHash, fromBinaryString, toHex } from "../../protocol/bytes.ts"
import { prevoutIndex, prevoutTxid } from "../../protocol/transaction.ts"
import { SCANTXOUTSET } from "../contract/chain/scan.ts"
import { Amount } from "../json/encodeJson.ts"
import { readInTurns } from "../method/inTurns.ts"
import { method } from "../method/method.ts"
import type { Methods } from "../method/methodTable.ts"
import { RpcError } from "../method/RpcError.ts"
import { ReadThread } from "../reader/ReadThread.ts"
import { storageError } from "./errors.ts"
import { OneScan } from "./OneScan.ts"
import { inferredDescriptor, type ScanScripts, scanScriptSteps } from "./scanObjects.ts"

/** Source: upstream `rpc/blockchain.cpp`, `scantxoutset` (reference/rpc.md 3.2). */

/** Percent of the set before a key, which begins with its txid. */
const percentBefore = (key: Uint8Array): number =>
  Math.floor((0x100 * (key[0] ?? 0) + (key[1] ?? 0)) * 100 / 65_536 + 0.5)

export const scanMethods: Methods<Chain | ChainCoins | ReadThread> = Effect.gen(function*() {
  const chain = yield* Chain
  const coins = yield* ChainCoins
  const { network } = chain.params
  const scan = new OneScan()
  const reader = yield* ReadThread

  /** Records the progress. Returns whether to continue. */
  const reached = (key: Uint8Array): boolean => {
    scan.progress = percentBefore(key)
    return !scan.aborted
  }

  /** No block is connected meanwhile. */
  const searchHere = (scripts: ScanScripts) =>
    coins.atRest(({ searchCoins, tip }) =>
      Effect.gen(function*() {
        const found: Array<readonly [outpoint: string, coin: Coin]> = []
        let txouts = 0
        yield* searchCoins(scripts, (step) => {
          found.push(...step.found)
          txouts += step.count
          return step.last === undefined ? !scan.aborted : reached(step.last)
        })
        return { tip, found, txouts }
      })
    )

  /** Searches what is stored now, while the node continues to connect blocks. */
  const searchAside = ({ keys, lengths, tails }: ScanScripts) =>
    Effect.scoped(Effect.gen(function*() {
      const scope = yield* Effect.scope
      const wanted = { keys: new Set(keys.keys()), lengths, tails }
      const { job, tip } = yield* coins.atRest(({ file, tip }) =>
        Effect.map(
          Scope.extend(reader.begin({ type: "coinSearch", file, scripts: wanted }, { reached }), scope),
          (job) => ({ job, tip })
        )
      )
      const { count, found } = yield* job.found
      return { tip, found, txouts: count }
    }))

  const scantxoutset = method(SCANTXOUTSET, ({ action, scanobjects }, { turns }) => {
    const start = Effect.gen(function*() {
      if (scanobjects === undefined) {
        return yield* RpcError.misc("scanobjects argument is required for the start action")
      }
      const scripts = yield* readInTurns(turns, scanScriptSteps(network, scanobjects))
      const { found, tip, txouts } = yield* searchAside(scripts).pipe(
        Effect.catchTag("NotRead", () => searchHere(scripts)),
        Effect.mapError((error) => error._tag === "RpcError" ? error : storageError(error))
      )
      const { tree } = chain
      const last = tree.find(tip.hash)
      const unspents = found.map(([key, coin]) => {
        const outpoint = fromBinaryString(key)
        return {
          txid: displayHash(prevoutTxid(outpoint)),
          vout: prevoutIndex(outpoint),
          scriptPubKey: toHex(coin.script),
          desc: inferredDescriptor(network, scripts, coin.script),
          amount: new Amount(coin.value),
          coinbase: coin.coinbase,
          height: coin.height,
          blockhash: displayHash(tree.hash(tree.ancestor(last, coin.height))),
          confirmations: tip.height - coin.height + 1
        }
      })
      return {
        success: !scan.aborted,
        txouts,
        height: tip.height,
        bestblock: displayHash(tip.hash),
        unspents,
        total_amount: new Amount(unspents.reduce((sum, { amount }) => sum + amount.units, 0))
      }
    })
    return scan.act(action, { start, status: () => ({ progress: scan.progress }) })
  })

  return [scantxoutset]
})
