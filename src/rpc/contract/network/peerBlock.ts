import * as Schema from "effect/Schema"
import { contract } from "../../method/contract.ts"
import { hash, int64 } from "../../method/params.ts"
import * as Result from "../../method/results.ts"

/** Why no block was requested, in the words of upstream `net_processing.cpp`, `FetchBlock`. */
export const PEER_BLOCK_REFUSALS = {
  loading: "Loading blocks ...",
  "no peer": "Peer does not exist",
  "no witnesses": "Pre-SegWit peer"
} as const

/** A new block could be stored long before the blocks below it: pruning, which goes by height, would delete it. */
export const NOT_YET =
  "In prune mode, only blocks that the node has already synced previously can be fetched from a peer"

export const GETBLOCKFROMPEER = contract({
  name: "getblockfrompeer",
  coins: "any",
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
    ...Object.values(PEER_BLOCK_REFUSALS).map((text) => `-1 ${text}`)
  ]
})

export const GETPRIVATEBROADCASTINFO = contract({
  name: "getprivatebroadcastinfo",
  coins: "any",
  right: "names",
  group: "Raw transactions",
  summary: "Lists the transactions that are sent over connections of their own. svcd sends none so: the list is empty.",
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
  examples: [[]]
})

export const ABORTPRIVATEBROADCAST = contract({
  name: "abortprivatebroadcast",
  coins: "any",
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
  errors: ["-5 Transaction not in private broadcast queue. Check getprivatebroadcastinfo."]
})
