import * as Effect from "effect/Effect"
import { type HeaderTree, NO_HEADER } from "../../chain/index/HeaderTree.ts"
import type { BookPlace } from "../../network/addresses/BookTables.ts"
import type { PeerManager } from "../../network/PeerManager.ts"
import { formatNetAddress, parseNetAddress } from "../../network/wire/addressText.ts"
import { displayHash, fromHex, toHex } from "../../protocol/bytes.ts"
import { peerId } from "../../protocol/keys.ts"
import {
  ABORTPRIVATEBROADCAST,
  GETBLOCKFROMPEER,
  GETPRIVATEBROADCASTINFO,
  NOT_YET,
  PEER_BLOCK_REFUSALS
} from "../contract/network/connection.ts"
import { ADDPEERADDRESS, GETORPHANTXS, GETRAWADDRMAN, SENDMSGTOPEER } from "../contract/network/peerTest.ts"
import { method } from "../method/method.ts"
import type { Method } from "../method/methodTable.ts"
import { RPC_CODE, RpcError } from "../method/RpcError.ts"
import { rpcNetwork } from "../shapes/peer.ts"
import { nodeError } from "./errors.ts"

/** Source: upstream `rpc/net.cpp`, `rpc/mempool.cpp` (reference/rpc.md 3.10). */

type Manager = typeof PeerManager.Service

/** By the source's `networkGroup`. */
const sourceNetwork = (source: string): string => {
  const [kind = ""] = source.split(":")
  if (kind === "seed") return "internal"
  return kind === "unroutable" ? "not_publicly_routable" : kind === "torv3" ? "onion" : kind
}

const placeJson = ({ address: { address, port, services, source, time } }: BookPlace) => ({
  address: formatNetAddress(address),
  port,
  services: Number(services),
  time,
  network: rpcNetwork(address.network),
  source,
  source_network: sourceNetwork(source)
})

const MAX_PORT = 65_535

/** Maximum length of a command (protocol). */
const MAX_COMMAND = 12

export const peerTestMethods = (peers: Manager): ReadonlyArray<Method> => {
  const getorphantxs = method(GETORPHANTXS, ({ verbosity = 0 }) =>
    Effect.gen(function*() {
      const orphans = yield* peers.orphans
      if (verbosity === 0) return orphans.map(({ transaction }) => displayHash(transaction.txid))
      if (verbosity !== 1 && verbosity !== 2) {
        return yield* RpcError.invalidParameter(`Invalid verbosity value ${verbosity}`)
      }
      return orphans.map(({ from, transaction }) => ({
        txid: displayHash(transaction.txid),
        wtxid: displayHash(transaction.wtxid),
        bytes: transaction.size,
        vsize: transaction.virtualSize,
        weight: transaction.weight,
        from,
        ...(verbosity === 2 ? { hex: toHex(transaction.bytes) } : {})
      }))
    }))

  const getrawaddrman = method(GETRAWADDRMAN, () =>
    Effect.map(peers.bookPlaces, (places) => {
      const tableOf = (name: "new" | "tried") =>
        Object.fromEntries(
          places.filter(({ table }) => table === name)
            .map((place) => [`${place.bucket}/${place.position}`, placeJson(place)])
        )
      return { new: tableOf("new"), tried: tableOf("tried") }
    }))

  const addpeeraddress = method(ADDPEERADDRESS, ({ address, port, tried }) =>
    Effect.gen(function*() {
      if (port < 0 || port > MAX_PORT) return yield* RpcError.integerOutOfRange()
      const parsed = parseNetAddress(address)
      if (parsed === undefined) return yield* nodeError(RPC_CODE.invalidIpOrSubnet, "Invalid IP address")
      const outcome = yield* peers.learn({ address: parsed, port }, tried ? "tried" : "new")
      if (outcome === "added") return { success: true }
      return { error: outcome === "not new" ? "failed-adding-to-new" : "failed-adding-to-tried", success: false }
    }))

  const sendmsgtopeer = method(SENDMSGTOPEER, ({ msg, msg_type: command, peer_id }) =>
    Effect.gen(function*() {
      if (Buffer.byteLength(command) > MAX_COMMAND) {
        return yield* RpcError.invalidParameter(`Error: msg_type too long, max length is ${MAX_COMMAND}`)
      }
      const payload = fromHex(msg)
      if (payload === undefined) return yield* RpcError.invalidParameter("Error parsing input for msg")
      const isSent = yield* peers.sendRaw(peer_id, { command, payload })
      return isSent ? {} : yield* RpcError.misc("Error: Could not send message to peer")
    }))

  return [getorphantxs, getrawaddrman, addpeeraddress, sendmsgtopeer]
}

interface PeerBlockServices {
  readonly peers: Pick<typeof PeerManager.Service, "fetchBlock">
  readonly tree: HeaderTree
  readonly prunes: boolean
}

/** reference/rpc.md 3.2, 3.6. */
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
