import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { type HeaderTree, NO_HEADER } from "../../chain/index/HeaderTree.ts"
import type { PeerManager } from "../../network/PeerManager.ts"
import { peerId } from "../../protocol/keys.ts"
import { method } from "../method/method.ts"
import type { Method } from "../method/methodTable.ts"
import { hash, int64 } from "../method/params.ts"
import * as Result from "../method/results.ts"
import { RpcError } from "../method/RpcError.ts"

/** Why no block was requested, in the words of upstream `net_processing.cpp`, `FetchBlock`. */
const REFUSALS = {
  loading: "Loading blocks ...",
  "no peer": "Peer does not exist",
  "no witnesses": "Pre-SegWit peer"
} as const

/** A new block could be stored long before the blocks below it: pruning, which goes by height, would delete it. */
const NOT_YET = "In prune mode, only blocks that the node has already synced previously can be fetched from a peer"

interface PeerBlockServices {
  readonly peers: Pick<typeof PeerManager.Service, "fetchBlock">
  readonly tree: HeaderTree
  /** Whether the node deletes old blocks. */
  readonly prunes: boolean
}

/** Blocks and transactions of single peers (reference/rpc.md 3.2, 3.6). */
export const peerBlockMethods = ({ peers, prunes, tree }: PeerBlockServices): ReadonlyArray<Method> => {
  const getblockfrompeer = method({
    name: "getblockfrompeer",
    writes: true,
    group: "Blockchain",
    summary: "Requests a block whose header is known from one peer. The node disconnects a peer that does not answer.",
    params: { blockhash: hash("The block."), peer_id: int64("Id of the peer, as in getpeerinfo.") },
    results: [{ schema: Schema.Struct({}) }],
    examples: [["000000000062b72c5e2ceb45fbc8587e807c155b0da735e6483dfba2f0a9c770", 0]],
    errors: [
      "-1 Block header missing",
      `-1 ${NOT_YET}`,
      "-1 Block already downloaded",
      ...Object.values(REFUSALS).map((text) => `-1 ${text}`)
    ],
    handler: ({ blockhash, peer_id }) =>
      Effect.gen(function*() {
        const id = tree.find(blockhash)
        if (id === NO_HEADER) return yield* RpcError.misc("Block header missing")
        if (prunes && tree.height(id) > tree.height(tree.tip())) return yield* RpcError.misc(NOT_YET)
        if (tree.hasBlock(id)) return yield* RpcError.misc("Block already downloaded")
        const outcome = yield* peers.fetchBlock(peerId(peer_id), id)
        return outcome === "asked" ? {} : yield* RpcError.misc(REFUSALS[outcome])
      })
  })

  const getprivatebroadcastinfo = method({
    name: "getprivatebroadcastinfo",
    right: "names",
    group: "Raw transactions",
    summary:
      "Lists the transactions that are sent over connections of their own. svcd sends none so: the list is empty.",
    params: {},
    results: [{
      schema: Schema.Struct({
        transactions: Schema.Array(Schema.Struct({
          txid: Result.hex("Txid"),
          wtxid: Result.hex("Hash with witnesses"),
          hex: Result.hex("The transaction"),
          peers: Schema.Array(Schema.Struct({
            address: Result.string("Address of the peer"),
            sent: Result.time("When it was sent"),
            received: Schema.optional(Result.time("When the peer confirmed it"))
          }))
        }))
      })
    }],
    examples: [[]],
    handler: () => Effect.succeed({ transactions: [] })
  })

  const abortprivatebroadcast = method({
    name: "abortprivatebroadcast",
    writes: true,
    group: "Raw transactions",
    summary: "Gives up a transaction of getprivatebroadcastinfo. svcd has none.",
    params: { id: hash("Txid, or hash with witnesses.") },
    results: [{
      schema: Schema.Struct({
        removed_transactions: Schema.Array(Schema.Struct({
          txid: Result.hex("Txid"),
          wtxid: Result.hex("Hash with witnesses"),
          hex: Result.hex("The transaction")
        }))
      })
    }],
    examples: [["4fe1cfd5439d1fadb8cce35a4888595c161d7a1922d6191433b4d3e1d1030fa4"]],
    errors: ["-5 Transaction not in private broadcast queue. Check getprivatebroadcastinfo."],
    handler: () =>
      RpcError.invalidAddressOrKey("Transaction not in private broadcast queue. Check getprivatebroadcastinfo.")
  })

  return [getblockfrompeer, getprivatebroadcastinfo, abortprivatebroadcast]
}
