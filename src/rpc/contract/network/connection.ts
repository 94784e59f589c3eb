import * as Schema from "effect/Schema"
import { contract } from "../../method/contract.ts"
import { boolean, int64, optional, string } from "../../method/params.ts"
import * as Result from "../../method/results.ts"
import { PEER } from "../../shapes/peer.ts"

export const GETCONNECTIONCOUNT = contract({
  name: "getconnectioncount",
  right: "read",
  group: "Network",
  summary: "Returns the number of connected peers.",
  params: {},
  results: [{ schema: Result.integer("Number of peers") }],
  examples: [[]]
})

export const GETPEERINFO = contract({
  name: "getpeerinfo",
  right: "read",
  group: "Network",
  summary: "Lists the connected peers with their state.",
  params: {},
  results: [{ schema: Schema.Array(PEER) }],
  examples: [[]]
})

export const PING = contract({
  name: "ping",
  right: "read",
  group: "Network",
  summary: "Sends a ping to every peer; getpeerinfo then returns the round trips.",
  params: {},
  results: [{ schema: Result.nothing("") }],
  examples: [[]]
})

export const GETNETTOTALS = contract({
  name: "getnettotals",
  right: "read",
  group: "Network",
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

export const DISCONNECTNODE = contract({
  name: "disconnectnode",
  coins: "any",
  writes: true,
  group: "Network",
  summary: "Disconnects a peer, given by its address or by its id.",
  params: {
    address: optional(string("Address and port, as in getpeerinfo.")),
    nodeid: optional(int64("Id, as in getpeerinfo."))
  },
  results: [{ schema: Result.nothing("") }],
  examples: [["192.0.2.5:8334"], ["", 1]],
  errors: ["-29 Node not found in connected nodes", "-32602 Only one of address and nodeid should be provided."]
})

export const SETNETWORKACTIVE = contract({
  name: "setnetworkactive",
  coins: "any",
  writes: true,
  group: "Network",
  summary: "Switches the network off or on.",
  params: { state: boolean("Whether the network is on.") },
  results: [{ schema: Result.boolean("The new state") }],
  examples: [[false]]
})

export const CONNECTION = Schema.Struct({
  address: Result.string("Address and port of the peer"),
  connection_type: Result.string("Connection type")
})

export const ADDNODE = contract({
  name: "addnode",
  coins: "any",
  writes: true,
  group: "Network",
  summary: "Adds a peer to which the node keeps a connection, removes it, or connects to it once.",
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

export const GETADDEDNODEINFO = contract({
  name: "getaddednodeinfo",
  right: "read",
  group: "Network",
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

export const ADDCONNECTION = contract({
  name: "addconnection",
  coins: "any",
  writes: true,
  group: "Hidden",
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
