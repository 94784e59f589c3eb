import * as Effect from "effect/Effect"
import { type HeaderTree, NO_HEADER } from "../../chain/index/HeaderTree.ts"
import type { PeerManager } from "../../network/PeerManager.ts"
import { peerId } from "../../protocol/keys.ts"
import {
  ABORTPRIVATEBROADCAST,
  GETBLOCKFROMPEER,
  GETPRIVATEBROADCASTINFO,
  NOT_YET,
  PEER_BLOCK_REFUSALS
} from "../contract/network/peerBlock.ts"
import { method } from "../method/method.ts"
import type { Method } from "../method/methodTable.ts"
import { RpcError } from "../method/RpcError.ts"

interface PeerBlockServices {
  readonly peers: Pick<typeof PeerManager.Service, "fetchBlock">
  readonly tree: HeaderTree
  /** Whether the node deletes old blocks. */
  readonly prunes: boolean
}

/** Blocks and transactions of single peers (reference/rpc.md 3.2, 3.6). */
export const peerBlockMethods = ({ peers, prunes, tree }: PeerBlockServices): ReadonlyArray<Method> => {
  const getblockfrompeer = method(GETBLOCKFROMPEER, ({ blockhash, peer_id }) =>
    Effect.gen(function*() {
      const id = tree.find(blockhash)
      if (id === NO_HEADER) return yield* RpcError.misc("Block header missing")
      if (prunes && tree.height(id) > tree.height(tree.tip())) return yield* RpcError.misc(NOT_YET)
      if (tree.hasBlock(id)) return yield* RpcError.misc("Block already downloaded")
      const outcome = yield* peers.fetchBlock(peerId(peer_id), id)
      return outcome === "asked" ? {} : yield* RpcError.misc(PEER_BLOCK_REFUSALS[outcome])
    }))

  const getprivatebroadcastinfo = method(GETPRIVATEBROADCASTINFO, () => Effect.succeed({ transactions: [] }))

  const abortprivatebroadcast = method(
    ABORTPRIVATEBROADCAST,
    () => RpcError.invalidAddressOrKey("Transaction not in private broadcast queue. Check getprivatebroadcastinfo.")
  )

  return [getblockfrompeer, getprivatebroadcastinfo, abortprivatebroadcast]
}
