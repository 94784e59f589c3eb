import * as Effect from "effect/Effect"
import * as Stream from "effect/Stream"
import { Chain } from "../../chain/Chain.ts"
import { ChainSink } from "../../chain/ChainSink.ts"
import { NO_HEADER } from "../../chain/index/HeaderTree.ts"
import { SyncStatus } from "../../chain/SyncStatus.ts"
import { targetOf } from "../../consensus/difficulty.ts"
import {
  type ConsensusParams,
  MAX_BLOCK_SIGOPS_COST,
  MAX_BLOCK_SIZE,
  MAX_BLOCK_WEIGHT,
  WITNESS_SCALE_FACTOR
} from "../../consensus/params.ts"
import { Mempool } from "../../mempool/Mempool.ts"
import { type BlockTemplate, commitmentScript, type Outline } from "../../mempool/mining/blockTemplate.ts"
import { Miner } from "../../mempool/mining/Miner.ts"
import { PeerManager } from "../../network/PeerManager.ts"
import { type Bytes, displayHash, equal, toHex } from "../../protocol/bytes.ts"
import { txidKey } from "../../protocol/keys.ts"
import { prevoutTxid } from "../../protocol/transaction.ts"
import { GETBLOCKTEMPLATE, type Known, type TEMPLATE } from "../contract/mining/blockTemplate.ts"
import type { Json } from "../json/json.ts"
import { method } from "../method/method.ts"
import type { Method } from "../method/methodTable.ts"
import type * as Result from "../method/results.ts"
import { RPC_CODE, RpcError } from "../method/RpcError.ts"
import { compactBits, decodeHexBlock, wide } from "./chainMethods.ts"
import { miningError, storageError } from "./errors.ts"

/** BIP 22, 23 and 145. Upstream `rpc/mining.cpp`. */

/**
 * A soft fork without effect, for tests of voting (BIP 9; upstream `kernel/chainparams.cpp`, `DEPLOYMENT_TESTDUMMY`).
 * Only the private network votes, from the second period of 144 blocks on. Its bit is part of the chain ID, so voting
 * never ends.
 */
const TESTDUMMY = { bit: 28, start: 144 }

/** Until the first check for new transactions in a long poll, and between later checks. */
const FIRST_LOOK = "60 seconds"
const NEXT_LOOK = "10 seconds"

const invalidMode = RpcError.invalidParameter("Invalid mode")

const transactionsJson = ({ selection, transactions }: BlockTemplate, scale: number) => {
  const positions = new Map(transactions.map(({ txidKey }, at) => [txidKey, at]))
  return selection.entries.map(({ fee, sigopCost, transaction }) => ({
    data: toHex(transaction.bytes),
    txid: displayHash(transaction.txid),
    hash: displayHash(transaction.wtxid),
    depends: transaction.inputs.flatMap(({ prevout }) => positions.get(txidKey(prevoutTxid(prevout))) ?? []),
    fee,
    sigops: sigopCost / scale,
    weight: transaction.weight
  }))
}

const templateJson = (
  template: BlockTemplate,
  { changes, now }: { readonly now: Outline; readonly changes: number },
  { activation, network, powLimit }: ConsensusParams
): Result.ValueOf<typeof TEMPLATE> => {
  const { coinbase, height, prevHash, transactions, version } = template
  const segwit = height >= activation.segwit
  // Before segwit, signature operations and sizes are unscaled.
  const scale = segwit ? 1 : WITNESS_SCALE_FACTOR
  const previous = displayHash(prevHash)
  return {
    capabilities: ["proposal"],
    version,
    rules: ["csv", ...(segwit ? ["!segwit"] : []), ...(height >= activation.taproot ? ["taproot"] : [])],
    vbavailable: network.name === "regtest" && height >= TESTDUMMY.start ? { testdummy: TESTDUMMY.bit } : {},
    vbrequired: 0,
    previousblockhash: previous,
    transactions: transactionsJson(template, scale),
    coinbaseaux: {},
    coinbasevalue: coinbase.outputs[0]?.value ?? 0,
    longpollid: `${previous}${changes}`,
    target: wide(targetOf(now.bits, powLimit) ?? 0n),
    mintime: now.minTime,
    mutable: ["time", "transactions", "prevblock"],
    noncerange: "00000000ffffffff",
    sigoplimit: MAX_BLOCK_SIGOPS_COST / scale,
    sizelimit: MAX_BLOCK_SIZE / scale,
    ...(segwit ? { weightlimit: MAX_BLOCK_WEIGHT } : {}),
    curtime: now.time,
    bits: compactBits(now.bits),
    height,
    default_witness_commitment: toHex(commitmentScript(transactions))
  }
}

export const blockTemplateMethod: Effect.Effect<
  Method,
  never,
  Chain | ChainSink | Mempool | Miner | PeerManager | SyncStatus
> = Effect.gen(function*() {
  const chain = yield* Chain
  const sink = yield* ChainSink
  const mempool = yield* Mempool
  const miner = yield* Miner
  const peers = yield* PeerManager
  const status = yield* SyncStatus
  const { params, tree } = chain
  let lastChanges = 0

  /** `null` if the proposed block is valid. */
  const judge = (data: Json | undefined): Effect.Effect<string | null, RpcError> =>
    Effect.gen(function*() {
      if (typeof data !== "string") return yield* RpcError.type("Missing data String key for proposal")
      const block = yield* decodeHexBlock(data)
      const known = tree.find(block.hash)
      if (known !== NO_HEADER) {
        if (tree.isFailed(known)) return "duplicate-invalid"
        return tree.wasConnected(known) ? "duplicate" : "duplicate-inconclusive"
      }
      const verdict = yield* Effect.mapError(sink.judge(block), storageError)
      return verdict?.reason ?? null
    })

  /** The test networks allow mining at any time. */
  const checkReady: Effect.Effect<void, RpcError> = Effect.gen(function*() {
    if (params.network.name !== "mainnet") return
    const { inbound, outbound } = yield* peers.count
    if (inbound + outbound === 0) {
      return yield* new RpcError({ code: RPC_CODE.notConnected, message: "Namecoin Core is not connected!" })
    }
    if (yield* status.initialDownload) {
      const message = "Namecoin Core is in initial sync and waiting for blocks..."
      return yield* new RpcError({ code: RPC_CODE.initialDownload, message })
    }
  })

  const isTip = (tip: Bytes): boolean => equal(tree.hash(tree.tip()), tip)

  /** The polls catch a change before the event subscription starts. */
  const tipChanged = ({ tip }: Known): Effect.Effect<void> =>
    Stream.merge(chain.events, Stream.tick("1 second")).pipe(
      Stream.takeWhile(() => isTip(tip)),
      Stream.runDrain
    )

  const poolChanged = ({ changes }: Known): Effect.Effect<void> =>
    Effect.gen(function*() {
      yield* Effect.sleep(FIRST_LOOK)
      while (mempool.info().changes === changes) yield* Effect.sleep(NEXT_LOOK)
    })

  const waitForNews = (given: Known | "now"): Effect.Effect<void> => {
    const known = given === "now" ? { tip: tree.hash(tree.tip()).slice(), changes: lastChanges } : given
    return Effect.raceFirst(tipChanged(known), poolChanged(known))
  }

  return method(
    GETBLOCKTEMPLATE,
    ({ template_request: { data, longpollid, mode = "template", rules } }) =>
      Effect.gen(function*() {
        if (mode === "proposal") return yield* judge(data)
        if (mode !== "template") return yield* invalidMode
        yield* checkReady
        if (longpollid !== undefined) yield* waitForNews(longpollid)
        if (!rules.has("segwit")) {
          return yield* RpcError.invalidParameter(
            "getblocktemplate must be called with the segwit rule set (call with {\"rules\": [\"segwit\"]})"
          )
        }
        const { changes, template } = yield* Effect.mapError(miner.template, miningError)
        lastChanges = changes
        return templateJson(template, { now: yield* miner.outline, changes }, params)
      })
  )
})
