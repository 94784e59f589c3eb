import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import { UPLOAD_CYCLE } from "../../network/peer/UploadTarget.ts"
import type { PeerManager } from "../../network/PeerManager.ts"
import {
  ADDCONNECTION,
  ADDNODE,
  type CONNECTION,
  DISCONNECTNODE,
  GETADDEDNODEINFO,
  GETCONNECTIONCOUNT,
  GETNETTOTALS,
  GETPEERINFO,
  PING,
  SETNETWORKACTIVE
} from "../contract/network/connection.ts"
import { methodHelp } from "../method/help.ts"
import { method } from "../method/method.ts"
import type { Method } from "../method/methodTable.ts"
import type * as Result from "../method/results.ts"
import { RPC_CODE, RpcError } from "../method/RpcError.ts"
import { peerJson } from "../shapes/peer.ts"
import { nodeError, usageError } from "./errors.ts"

/** reference/rpc.md 3.7. */

type Manager = typeof PeerManager.Service

export const connectionMethods = (peers: Manager): ReadonlyArray<Method> => {
  const getconnectioncount = method(
    GETCONNECTIONCOUNT,
    () => Effect.map(peers.count, ({ inbound, outbound }) => inbound + outbound)
  )

  const getpeerinfo = method(GETPEERINFO, () => Effect.map(peers.peers, (list) => list.map(peerJson)))

  const ping = method(PING, () => Effect.as(peers.ping, null))

  const getnettotals = method(GETNETTOTALS, () =>
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
    }))

  const disconnectnode = method(DISCONNECTNODE, ({ address, nodeid }) => {
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
  })

  const setnetworkactive = method(SETNETWORKACTIVE, ({ state }) => Effect.as(peers.setActive(state), state))

  return [getconnectioncount, getpeerinfo, ping, getnettotals, disconnectnode, setnetworkactive]
}

const PURPOSES = ["outbound-full-relay", "block-relay-only", "addr-fetch", "feeler"] as const

export const addedMethods = (peers: Manager, regtest: boolean): ReadonlyArray<Method> => {
  const addnode: Method = method(ADDNODE, ({ command, node, v2transport }): Effect.Effect<null, RpcError> => {
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
  })

  const getaddednodeinfo = method(GETADDEDNODEINFO, ({ node }) =>
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
    }))

  const addconnection: Method = method(ADDCONNECTION, (
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
  })

  return [addnode, getaddednodeinfo, addconnection]
}
