import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import type { BookPlace } from "../../network/addresses/BookTables.ts"
import type { PeerManager } from "../../network/PeerManager.ts"
import { formatNetAddress, parseNetAddress } from "../../network/wire/addressText.ts"
import { displayHash, fromHex, toHex } from "../../protocol/bytes.ts"
import { integerWithin, type Json, JsonNumber } from "../json/json.ts"
import { method } from "../method/method.ts"
import type { Method } from "../method/methodTable.ts"
import { boolean, hexText, int64, json, optional, refined, string, withDefault } from "../method/params.ts"
import * as Result from "../method/results.ts"
import { RPC_CODE, RpcError } from "../method/RpcError.ts"
import type { Refusable } from "../method/schema.ts"
import { rpcNetwork } from "../shapes/peer.ts"
import { nodeError } from "./peerErrors.ts"

/** Methods for tests of the network (reference/rpc.md 3.10). Source: upstream `rpc/net.cpp`, `rpc/mempool.cpp`. */

type Manager = typeof PeerManager.Service

const ORPHAN = {
  txid: Result.hex("Txid"),
  wtxid: Result.hex("Hash with witnesses"),
  bytes: Result.integer("Bytes"),
  vsize: Result.integer("Virtual bytes"),
  weight: Result.integer("Weight units"),
  from: Schema.Array(Result.integer("Id of a peer that announced it"))
}

const PLACE = Schema.Struct({
  address: Result.string("The address"),
  port: Result.integer("Its port"),
  services: Result.integer("Services that the node offers"),
  time: Result.time("When it was last seen"),
  network: Result.string("ipv4, ipv6, onion, i2p or cjdns"),
  source: Result.string("Its source: the network group of a peer, or seed and its name"),
  source_network: Result.string("Network of that peer; internal for a seed, not_publicly_routable for a local peer")
})

/** The network of a source, by its group (`networkGroup`). */
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

/** Length of the name of a message (protocol). */
const MAX_COMMAND = 12

const MAX_INT32 = 2 ** 31 - 1

/** Source: upstream `rpc/util.cpp`, `ParseVerbosity`, without booleans. */
const readVerbosity = (value: Json): Refusable<number> => {
  if (typeof value === "boolean") return RpcError.type("Verbosity was boolean but only integer allowed")
  if (!(value instanceof JsonNumber)) return RpcError.type("Verbosity is not a number")
  return integerWithin(value, -MAX_INT32 - 1, MAX_INT32) ?? RpcError.integerOutOfRange()
}

export const peerTestMethods = (peers: Manager): ReadonlyArray<Method> => {
  const getorphantxs = method({
    name: "getorphantxs",
    right: "read",
    group: "Hidden",
    summary: "Lists the transactions that wait for their parents.",
    params: {
      verbosity: optional(
        refined(json("0: txids; 1: objects; 2: objects with the transactions.", { words: "numeric" }), readVerbosity),
        "0"
      )
    },
    results: [
      { when: "verbosity is 0", schema: Schema.Array(Result.hex("Txid")) },
      { when: "verbosity is 1", schema: Schema.Array(Schema.Struct(ORPHAN)) },
      {
        when: "verbosity is 2",
        schema: Schema.Array(Schema.Struct({ ...ORPHAN, hex: Result.hex("The transaction") }))
      }
    ],
    examples: [[], [2]],
    errors: ["-8 Invalid verbosity value <n>"],
    handler: ({ verbosity = 0 }) =>
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
      })
  })

  const getrawaddrman = method({
    name: "getrawaddrman",
    right: "read",
    group: "Hidden",
    summary: "Lists all places in the book of addresses.",
    params: {},
    results: [{
      schema: Schema.Struct({
        new: Result.map("bucket/position", PLACE, "Addresses that have not answered yet"),
        tried: Result.map("bucket/position", PLACE, "Addresses that have answered")
      })
    }],
    examples: [[]],
    handler: () =>
      Effect.map(peers.bookPlaces, (places) => {
        const tableOf = (name: "new" | "tried") =>
          Object.fromEntries(
            places.filter(({ table }) => table === name)
              .map((place) => [`${place.bucket}/${place.position}`, placeJson(place)])
          )
        return { new: tableOf("new"), tried: tableOf("tried") }
      })
  })

  const addpeeraddress = method({
    name: "addpeeraddress",
    writes: true,
    group: "Hidden",
    summary: "Adds an address to the book of addresses, as if its peer had announced it.",
    params: {
      address: string("The address."),
      port: int64("The port."),
      tried: withDefault(boolean("Whether the address counts as one that has answered."), false)
    },
    results: [{
      schema: Schema.Struct({
        error: Schema.optional(Result.string("Why it was not added")),
        success: Result.boolean("Whether it was added")
      })
    }],
    examples: [["192.0.2.5", 8334, true]],
    errors: ["-30 Invalid IP address"],
    handler: ({ address, port, tried }) =>
      Effect.gen(function*() {
        if (port < 0 || port > MAX_PORT) return yield* RpcError.integerOutOfRange()
        const parsed = parseNetAddress(address)
        if (parsed === undefined) return yield* nodeError(RPC_CODE.invalidIpOrSubnet, "Invalid IP address")
        const outcome = yield* peers.learn({ address: parsed, port }, tried ? "tried" : "new")
        if (outcome === "added") return { success: true }
        return { error: outcome === "not new" ? "failed-adding-to-new" : "failed-adding-to-tried", success: false }
      })
  })

  const sendmsgtopeer = method({
    name: "sendmsgtopeer",
    writes: true,
    group: "Hidden",
    summary: "Sends a message of any content to a peer.",
    params: {
      peer_id: int64("Id of the peer."),
      msg_type: string("Name of the message, at most 12 characters."),
      msg: hexText("The payload.")
    },
    results: [{ schema: Schema.Struct({}) }],
    examples: [],
    errors: [
      "-8 Error: msg_type too long, max length is 12",
      "-8 Error parsing input for msg",
      "-1 Error: Could not send message to peer"
    ],
    handler: ({ msg, msg_type: command, peer_id }) =>
      Effect.gen(function*() {
        if (Buffer.byteLength(command) > MAX_COMMAND) {
          return yield* RpcError.invalidParameter(`Error: msg_type too long, max length is ${MAX_COMMAND}`)
        }
        const payload = fromHex(msg)
        if (payload === undefined) return yield* RpcError.invalidParameter("Error parsing input for msg")
        const isSent = yield* peers.sendRaw(peer_id, { command, payload })
        return isSent ? {} : yield* RpcError.misc("Error: Could not send message to peer")
      })
  })

  return [getorphantxs, getrawaddrman, addpeeraddress, sendmsgtopeer]
}
