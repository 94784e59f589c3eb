import * as Schema from "effect/Schema"
import { integerWithin, type Json, JsonNumber } from "../../json/json.ts"
import { hiddenContract } from "../../method/contract.ts"
import { boolean, hexText, int64, json, optional, refined, string, withDefault } from "../../method/params.ts"
import * as Result from "../../method/results.ts"
import { RpcError } from "../../method/RpcError.ts"
import type { Refusable } from "../../method/schema.ts"

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

const MAX_INT32 = 2 ** 31 - 1

/** Source: upstream `rpc/util.cpp`, `ParseVerbosity`, without booleans. */
const readVerbosity = (value: Json): Refusable<number> => {
  if (typeof value === "boolean") return RpcError.type("Verbosity was boolean but only integer allowed")
  if (!(value instanceof JsonNumber)) return RpcError.type("Verbosity is not a number")
  return integerWithin(value, -MAX_INT32 - 1, MAX_INT32) ?? RpcError.integerOutOfRange()
}

export const GETORPHANTXS = hiddenContract({
  name: "getorphantxs",
  right: "read",
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
  errors: ["-8 Invalid verbosity value <n>"]
})

export const GETRAWADDRMAN = hiddenContract({
  name: "getrawaddrman",
  right: "read",
  summary: "Lists all slots of the address book.",
  params: {},
  results: [{
    schema: Schema.Struct({
      new: Result.map("bucket/position", PLACE, "Addresses not connected to yet"),
      tried: Result.map("bucket/position", PLACE, "Addresses that have answered")
    })
  }],
  examples: [[]]
})

export const ADDPEERADDRESS = hiddenContract({
  name: "addpeeraddress",
  coins: "any",
  writes: true,
  summary: "Adds an address to the address book, as if its peer had announced it.",
  params: {
    address: string("The address."),
    port: int64("The port."),
    tried: withDefault(boolean("Whether the address counts as tried."), false)
  },
  results: [{
    schema: Schema.Struct({
      error: Schema.optional(Result.string("Why it was not added")),
      success: Result.boolean("Whether it was added")
    })
  }],
  examples: [["192.0.2.5", 8334, true]],
  errors: ["-30 Invalid IP address"]
})

export const SENDMSGTOPEER = hiddenContract({
  name: "sendmsgtopeer",
  coins: "any",
  writes: true,
  summary: "Sends a message of any content to a peer.",
  params: {
    peer_id: int64("Id of the peer."),
    msg_type: string("Message type, at most 12 characters."),
    msg: hexText("The payload.")
  },
  results: [{ schema: Schema.Struct({}) }],
  examples: [],
  errors: [
    "-8 Error: msg_type too long, max length is 12",
    "-8 Error parsing input for msg",
    "-1 Error: Could not send message to peer"
  ]
})
