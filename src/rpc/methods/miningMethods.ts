import * as Effect from "effect/Effect"
import { Chain } from "../../chain/Chain.ts"
import { ChainSink } from "../../chain/ChainSink.ts"
import { type HeaderTree, NO_HEADER } from "../../chain/index/HeaderTree.ts"
import type { SyncStatus } from "../../chain/SyncStatus.ts"
import { Warnings } from "../../chain/Warnings.ts"
import { difficultyOf, targetOf } from "../../consensus/difficulty.ts"
import { Mempool } from "../../mempool/Mempool.ts"
import { Miner } from "../../mempool/mining/Miner.ts"
import type { PeerManager } from "../../network/PeerManager.ts"
import { type BlockHeader, readBlockHeader } from "../../protocol/block.ts"
import { displayHash, fromHex } from "../../protocol/bytes.ts"
import type { HeaderId } from "../../protocol/keys.ts"
import { decodedOr, Reader } from "../../protocol/Reader.ts"
import { DEFAULT_LOOKUP, GETMININGINFO, GETNETWORKHASHPS, SUBMITHEADER } from "../contract/mining/mining.ts"
import { Amount } from "../json/encodeJson.ts"
import { method } from "../method/method.ts"
import type { Methods } from "../method/methodTable.ts"
import { RpcError } from "../method/RpcError.ts"
import { auxMethods } from "./auxMethods.ts"
import { blockTemplateMethod } from "./blockTemplateMethod.ts"
import { compactBits, wide } from "./chainMethods.ts"
import { generateMethods } from "./generateMethods.ts"

/** reference/rpc.md 3.5. */

/**
 * Hashes per second of the last `lookup` blocks, or with -1 since the last change of difficulty. Source: upstream
 * `rpc/mining.cpp`, `GetNetworkHashPS`.
 */
export const networkHashRate = (
  tree: HeaderTree,
  last: HeaderId,
  { interval, lookup }: { readonly lookup: number; readonly interval: number }
): number => {
  const height = tree.height(last)
  if (height === 0) return 0
  const count = Math.min(height, lookup === -1 ? height % interval + 1 : lookup)
  let first = last
  let earliest = tree.time(last)
  let latest = earliest
  for (let i = 0; i < count; i++) {
    first = tree.parent(first)
    const time = tree.time(first)
    earliest = Math.min(earliest, time)
    latest = Math.max(latest, time)
  }
  return latest === earliest ? 0 : Number(tree.chainwork(last) - tree.chainwork(first)) / (latest - earliest)
}

const decodeHeader = (hex: string): Effect.Effect<BlockHeader, RpcError> =>
  Effect.suspend(() => {
    const failed = RpcError.deserialization("Block header decode failed")
    const bytes = fromHex(hex)
    if (bytes === undefined) return failed
    return decodedOr(() => Effect.succeed(readBlockHeader(new Reader(bytes))), () => failed)
  })

const infoMethods: Methods<Chain | ChainSink | Mempool | Miner | Warnings> = Effect.gen(function*() {
  const chain = yield* Chain
  const sink = yield* ChainSink
  const mempool = yield* Mempool
  const miner = yield* Miner
  const warnings = yield* Warnings
  const { params: { network, powLimit, retargetInterval }, tree } = chain

  const targetJson = (bits: number) => ({
    bits: compactBits(bits),
    difficulty: difficultyOf(bits),
    target: wide(targetOf(bits, powLimit) ?? 0n)
  })

  const getmininginfo = method(GETMININGINFO, () =>
    Effect.gen(function*() {
      const { header, height } = yield* chain.tip
      const next = yield* miner.outline
      const last = miner.last()
      return {
        blocks: height,
        ...(last === undefined ? {} : { currentblockweight: last.weight, currentblocktx: last.transactions }),
        ...targetJson(header.bits),
        networkhashps: networkHashRate(tree, tree.tip(), { lookup: DEFAULT_LOOKUP, interval: retargetInterval }),
        pooledtx: mempool.info().size,
        blockmintxfee: new Amount(miner.limits.minFeeRate),
        chain: network.chainName,
        next: { height: next.height, ...targetJson(next.bits) },
        warnings: yield* warnings.current
      }
    }))

  const getnetworkhashps = method(GETNETWORKHASHPS, ({ height, nblocks }) =>
    Effect.suspend(() => {
      if (nblocks < -1 || nblocks === 0) {
        return RpcError.invalidParameter("Invalid nblocks. Must be a positive number or -1.")
      }
      const last = height === -1 ? tree.tip() : height < 0 ? NO_HEADER : tree.at(height)
      return last === NO_HEADER
        ? RpcError.invalidParameter("Block does not exist at specified height")
        : Effect.succeed(networkHashRate(tree, last, { lookup: nblocks, interval: retargetInterval }))
    }))

  const submitheader = method(SUBMITHEADER, ({ hexdata }) =>
    Effect.gen(function*() {
      const header = yield* decodeHeader(hexdata)
      const { prevHash } = header.header
      if (tree.find(prevHash) === NO_HEADER) {
        return yield* RpcError.verifyError(`Must submit previous header (${displayHash(prevHash)}) first`)
      }
      const { reject } = yield* sink.acceptHeaders([header])
      return reject === undefined ? null : yield* RpcError.verifyError(reject.reason)
    }))

  return [getmininginfo, getnetworkhashps, submitheader]
})

export const miningMethods: Methods<Chain | ChainSink | Mempool | Miner | PeerManager | SyncStatus | Warnings> = Effect
  .map(
    Effect.all([infoMethods, auxMethods, generateMethods, blockTemplateMethod]),
    ([info, aux, generate, template]) => [...info, ...aux, ...generate, template]
  )
