import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { UPLOAD_CYCLE } from "../../network/peer/UploadTarget.ts"
import type { PeerManager } from "../../network/PeerManager.ts"
import { methodHelp } from "../method/help.ts"
import { method } from "../method/method.ts"
import type { Method } from "../method/methodTable.ts"
import { boolean, int64, optional, string } from "../method/params.ts"
import * as Result from "../method/results.ts"
import { RPC_CODE, RpcError } from "../method/RpcError.ts"
import { PEER, peerJson } from "../shapes/peer.ts"
import { nodeError, usageError } from "./peerErrors.ts"

/** Methods for connections and for peers that the operator adds (reference/rpc.md 3.7). */

type Manager = typeof PeerManager.Service

export const connectionMethods = (peers: Manager): ReadonlyArray<Method> => {
  const getconnectioncount = method({
    name: "getconnectioncount",
    right: "read",
    group: "Network",
    summary: "Returns the number of connected peers.",
    params: {},
    results: [{ schema: Result.integer("Number of peers") }],
    examples: [[]],
    handler: () => Effect.map(peers.count, ({ inbound, outbound }) => inbound + outbound)
  })

  const getpeerinfo = method({
    name: "getpeerinfo",
    right: "read",
    group: "Network",
    summary: "Lists the connected peers with their state.",
    params: {},
    results: [{ schema: Schema.Array(PEER) }],
    examples: [[]],
    handler: () => Effect.map(peers.peers, (list) => list.map(peerJson))
  })

  const ping = method({
    name: "ping",
    right: "read",
    group: "Network",
    summary: "Sends a ping to every peer; getpeerinfo then returns the round trips.",
    params: {},
    results: [{ schema: Result.nothing("") }],
    examples: [[]],
    handler: () => Effect.as(peers.ping, null)
  })

  const getnettotals = method({
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
    examples: [[]],
    handler: () =>
      Effect.gen(function*() {
        const { received, sent } = yield* peers.totals
        const upload = yield* peers.upload
        return {
          totalbytesrecv: received,
          totalbytessent: sent,
          timemillis: yield* Clock.currentTimeMillis,
          uploadtarget: {
            timeframe: UPLOAD_CYCLE,
            target: upload.target,
            target_reached: upload.isReached,
            serve_historical_blocks: upload.servesOldBlocks,
            bytes_left_in_cycle: upload.bytesLeft,
            time_left_in_cycle: upload.secondsLeft
          }
        }
      })
  })

  const disconnectnode = method({
    name: "disconnectnode",
    writes: true,
    group: "Network",
    summary: "Disconnects a peer, given by its address or by its id.",
    params: {
      address: optional(string("Address and port, as in getpeerinfo.")),
      nodeid: optional(int64("Id, as in getpeerinfo."))
    },
    results: [{ schema: Result.nothing("") }],
    examples: [["192.0.2.5:8334"], ["", 1]],
    errors: ["-29 Node not found in connected nodes", "-32602 Only one of address and nodeid should be provided."],
    handler: ({ address, nodeid }) => {
      // With an empty address, the id selects the peer. An empty address alone matches no peer.
      const which = nodeid === undefined
        ? (address === undefined ? undefined : { name: address })
        : (address === undefined || address === "" ? { id: nodeid } : undefined)
      if (which === undefined) {
        return nodeError(RPC_CODE.invalidParams, "Only one of address and nodeid should be provided.")
      }
      return peers.disconnect(which).pipe(
        Effect.as(null),
        Effect.mapError(() => nodeError(RPC_CODE.nodeNotConnected, "Node not found in connected nodes"))
      )
    }
  })

  const setnetworkactive = method({
    name: "setnetworkactive",
    writes: true,
    group: "Network",
    summary: "Switches the network off or on.",
    params: { state: boolean("Whether the network is on.") },
    results: [{ schema: Result.boolean("The new state") }],
    examples: [[false]],
    handler: ({ state }) => Effect.as(peers.setActive(state), state)
  })

  return [getconnectioncount, getpeerinfo, ping, getnettotals, disconnectnode, setnetworkactive]
}

const CONNECTION = Schema.Struct({
  address: Result.string("Address and port of the peer"),
  connection_type: Result.string("Connection type")
})

/** The connection types that a caller may request. */
const PURPOSES = ["outbound-full-relay", "block-relay-only", "addr-fetch", "feeler"] as const

export const addedMethods = (peers: Manager, regtest: boolean): ReadonlyArray<Method> => {
  const addnode: Method = method({
    name: "addnode",
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
    ],
    handler: ({ command, node, v2transport }): Effect.Effect<null, RpcError> => {
      if (command !== "add" && command !== "remove" && command !== "onetry") return usageError(() => addnode)
      if (v2transport === true) {
        return RpcError.invalidParameter("Error: v2transport requested but not enabled (see -v2transport)")
      }
      if (command === "onetry") return Effect.as(peers.connectOnce(node), null)
      return command === "add"
        ? Effect.flatMap(
          peers.add(node),
          (added) => added ? Effect.succeed(null) : nodeError(RPC_CODE.nodeAlreadyAdded, "Error: Node already added")
        )
        : Effect.flatMap(peers.remove(node), (removed) =>
          removed
            ? Effect.succeed(null)
            : nodeError(
              RPC_CODE.nodeNotAdded,
              "Error: Node could not be removed. It has not been added previously."
            ))
    }
  })

  const getaddednodeinfo = method({
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
    errors: ["-24 Error: Node has not been added."],
    handler: ({ node }) =>
      Effect.flatMap(peers.added, (all) => {
        const list = node === undefined ? all : all.filter((one) => one.node === node)
        if (node !== undefined && list.length === 0) {
          return nodeError(RPC_CODE.nodeNotAdded, "Error: Node has not been added.")
        }
        return Effect.succeed(list.map(({ connected, node }) => ({
          addednode: node,
          connected: connected !== undefined,
          addresses: connected === undefined
            ? []
            : [{ address: connected.address, connected: connected.inbound ? "inbound" : "outbound" }]
        })))
      })
  })

  const addconnection: Method = method({
    name: "addconnection",
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
    ],
    handler: (
      { address, connection_type, v2transport }
    ): Effect.Effect<Result.ValueOf<typeof CONNECTION>, RpcError> => {
      if (!regtest) return RpcError.misc("addconnection is for regression testing (-regtest mode) only.")
      const type = PURPOSES.find((known) => known === connection_type.trim())
      if (type === undefined) return RpcError.invalidParameter(methodHelp(addconnection))
      if (v2transport) {
        return RpcError.invalidParameter(
          "Error: Adding v2transport connections requires -v2transport init flag to be set."
        )
      }
      return Effect.as(peers.connectOnce(address, type), { address, connection_type: type })
    }
  })

  return [addnode, getaddednodeinfo, addconnection]
}
