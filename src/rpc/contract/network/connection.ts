import * as Schema from "effect/Schema"
import { chainContract, hiddenContract, networkContract, rawContract } from "../../method/contract.ts"
import { boolean, hash, int32, int64, optional, string, withDefault } from "../../method/params.ts"
import * as Result from "../../method/results.ts"
import { PEER } from "../../shapes/peer.ts"

export const GETCONNECTIONCOUNT = networkContract({
  name: "getconnectioncount",
  right: "read",
  summary: "Returns the number of connected peers.",
  params: {},
  results: [{ schema: Result.integer("Number of peers") }],
  examples: [[]]
})

export const GETPEERINFO = networkContract({
  name: "getpeerinfo",
  right: "read",
  summary: "Lists the connected peers with their state.",
  params: {},
  results: [{ schema: Schema.Array(PEER) }],
  examples: [[]]
})

export const PING = networkContract({
  name: "ping",
  right: "read",
  summary: "Sends a ping to every peer; getpeerinfo then returns the round-trip times.",
  params: {},
  results: [{ schema: Result.nothing("") }],
  examples: [[]]
})

export const GETNETTOTALS = networkContract({
  name: "getnettotals",
  right: "read",
  summary: "Returns the network traffic since the start.",
  params: {},
  results: [{
    schema: Schema.Struct({
      totalbytesrecv: Result.integer("Bytes received"),
      totalbytessent: Result.integer("Bytes sent"),
      timemillis: Result.integer("Current time in milliseconds since 1970"),
      uploadtarget: Schema.Struct({
        timeframe: Result.integer("Seconds of a cycle"),
        target: Result.integer("Bytes per cycle (-maxuploadtarget); 0: no limit"),
        target_reached: Result.boolean("Whether the target is reached"),
        serve_historical_blocks: Result.boolean("Whether peers get blocks older than a week"),
        bytes_left_in_cycle: Result.integer("Bytes left in this cycle; 0 without a limit"),
        time_left_in_cycle: Result.integer("Seconds left in this cycle; 0 without a limit")
      })
    })
  }],
  examples: [[]]
})

export const DISCONNECTNODE = networkContract({
  name: "disconnectnode",
  coins: "any",
  writes: true,
  summary: "Disconnects a peer, by its address or its id.",
  params: {
    address: optional(string("Address and port, as in getpeerinfo.")),
    nodeid: optional(int64("Id, as in getpeerinfo."))
  },
  results: [{ schema: Result.nothing("") }],
  examples: [["192.0.2.5:8334"], ["", 1]],
  errors: ["-29 Node not found in connected nodes", "-32602 Only one of address and nodeid should be provided."]
})

export const SETNETWORKACTIVE = networkContract({
  name: "setnetworkactive",
  coins: "any",
  writes: true,
  summary: "Switches the network off or on.",
  params: { state: boolean("Whether the network is on.") },
  results: [{ schema: Result.boolean("The new state") }],
  examples: [[false]]
})

export const CONNECTION = Schema.Struct({
  address: Result.string("Address and port of the peer"),
  connection_type: Result.string("Connection type")
})

export const ADDNODE = networkContract({
  name: "addnode",
  coins: "any",
  writes: true,
  summary: "Adds a peer to keep connected, removes it, or connects to it once.",
  params: {
    node: string("Address or host name, with a port if it is not the network's default."),
    command: string("add, remove or onetry."),
    v2transport: optional(boolean("Whether to try version 2 of the transport; svcd does not support it."))
  },
  results: [{ schema: Result.nothing("") }],
  examples: [["192.0.2.5:8334", "onetry"]],
  errors: [
    "-23 Error: Node already added",
    "-24 Error: Node could not be removed. It has not been added previously.",
    "-8 Error: v2transport requested but not enabled (see -v2transport)"
  ]
})

export const GETADDEDNODEINFO = networkContract({
  name: "getaddednodeinfo",
  right: "read",
  summary: "Lists the peers added by -addpeer or addnode, and whether they are connected.",
  params: { node: optional(string("One added peer; all by default.")) },
  results: [{
    schema: Schema.Array(Schema.Struct({
      addednode: Result.string("Address or host name as the operator added it"),
      connected: Result.boolean("Whether it is connected"),
      addresses: Schema.Array(Schema.Struct({
        address: Result.string("Address and port"),
        connected: Result.string("inbound or outbound")
      }))
    }))
  }],
  examples: [[]],
  errors: ["-24 Error: Node has not been added."]
})

export const ADDCONNECTION = hiddenContract({
  name: "addconnection",
  coins: "any",
  writes: true,
  summary: "Opens a connection of a given type to a peer. For tests; only on regtest.",
  params: {
    address: string("Address and port."),
    connection_type: string("outbound-full-relay, block-relay-only, addr-fetch or feeler."),
    v2transport: boolean("Whether to use version 2 of the transport; svcd does not support it.")
  },
  results: [{ schema: CONNECTION }],
  examples: [],
  errors: [
    "-1 addconnection is for regression testing (-regtest mode) only.",
    "-8 Error: Adding v2transport connections requires -v2transport init flag to be set."
  ]
})

export const SETBAN = networkContract({
  name: "setban",
  coins: "any",
  writes: true,
  summary: "Adds or removes a ban of an address or a range. A new ban disconnects matching peers.",
  params: {
    subnet: string("An address, or a range as in 192.0.2.0/24."),
    command: string("add or remove."),
    bantime: withDefault(
      int64("Duration of the ban in seconds, or with absolute, its end time; 0 for -bantime, a day by default."),
      0
    ),
    absolute: withDefault(boolean("Whether bantime is a time instead of a duration."), false)
  },
  results: [{ schema: Result.nothing("") }],
  examples: [["192.0.2.6", "add", 86400], ["192.0.2.0/24", "remove"]],
  errors: [
    "-30 Error: Invalid IP/Subnet",
    "-23 Error: IP/Subnet already banned",
    "-8 Error: Absolute timestamp is in the past",
    "-30 Error: Unban failed. Requested address/subnet was not previously manually banned."
  ]
})

export const LISTBANNED = networkContract({
  name: "listbanned",
  right: "read",
  summary: "Lists the banned addresses and ranges.",
  params: {},
  results: [{
    schema: Schema.Array(Schema.Struct({
      address: Result.string("Address or range"),
      ban_created: Result.time("Start of the ban"),
      banned_until: Result.time("End of the ban"),
      ban_duration: Result.integer("Seconds of the whole ban"),
      time_remaining: Result.integer("Seconds left")
    }))
  }],
  examples: [[]]
})

export const CLEARBANNED = networkContract({
  name: "clearbanned",
  coins: "any",
  writes: true,
  summary: "Removes all bans.",
  params: {},
  results: [{ schema: Result.nothing("") }],
  examples: [[]]
})

export const GETNODEADDRESSES = networkContract({
  name: "getnodeaddresses",
  right: "read",
  summary: "Returns randomly chosen addresses of known nodes.",
  params: {
    count: withDefault(int32("Maximum number; 0 for all."), 1),
    network: optional(string("ipv4, ipv6, onion, i2p or cjdns."))
  },
  results: [{
    schema: Schema.Array(Schema.Struct({
      time: Result.time("Time at which the address was last seen"),
      services: Result.integer("Services of the node, as bits"),
      address: Result.string("Address"),
      port: Result.integer("Port"),
      network: Result.string("Network of the address")
    }))
  }],
  examples: [[8], [0, "ipv4"]],
  errors: ["-8 Address count out of range", "-8 Network not recognized: <x>"]
})

export const GETADDRMANINFO = networkContract({
  name: "getaddrmaninfo",
  right: "read",
  summary: "Counts the addresses of known nodes by network.",
  params: {},
  results: [{
    schema: Result.map(
      "network",
      Schema.Struct({
        new: Result.integer("Received from peers, not connected to yet"),
        tried: Result.integer("Connected to before"),
        total: Result.integer("Both")
      })
    )
  }],
  examples: [[]]
})

/** Reasons of upstream `net_processing.cpp`, `FetchBlock`. */
export const PEER_BLOCK_REFUSALS = {
  loading: "Loading blocks ...",
  "no peer": "Peer does not exist",
  "no witnesses": "Pre-SegWit peer"
} as const

/** A new block could be stored long before the blocks below it, and pruning by height would then delete it. */
export const NOT_YET =
  "In prune mode, only blocks that the node has already synced previously can be fetched from a peer"

export const GETBLOCKFROMPEER = chainContract({
  name: "getblockfrompeer",
  coins: "any",
  writes: true,
  summary: "Requests a block with a known header from one peer. The node disconnects a peer that does not answer.",
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

export const GETPRIVATEBROADCASTINFO = rawContract({
  name: "getprivatebroadcastinfo",
  coins: "any",
  right: "names",
  summary: "Lists privately broadcast transactions. svcd has none, so the list is empty.",
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

export const ABORTPRIVATEBROADCAST = rawContract({
  name: "abortprivatebroadcast",
  coins: "any",
  writes: true,
  summary: "Aborts a private broadcast of getprivatebroadcastinfo. svcd has none.",
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
