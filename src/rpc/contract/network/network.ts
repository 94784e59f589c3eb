import * as Schema from "effect/Schema"
import { networkContract, utilContract } from "../../method/contract.ts"
import * as Result from "../../method/results.ts"
import { FEE } from "../../shapes/peer.ts"

export const GETNETWORKINFO = networkContract({
  name: "getnetworkinfo",
  right: "read",
  summary: "Returns the state of the node's network.",
  params: {},
  results: [{
    schema: Schema.Struct({
      version: Result.integer(
        "Version of Namecoin Core whose interface this is, such as 310100 for 31.1; `subversion` has the version of svcd"
      ),
      subversion: Result.string("User agent of this node"),
      protocolversion: Result.integer("Version of the network protocol"),
      localservices: Result.hex("Services of this node, 16 digits"),
      localservicesnames: Schema.Array(Result.string("Name of a service")),
      localrelay: Result.boolean("Whether peers may send transactions"),
      timeoffset: Result.integer("Always 0: svcd does not correct the clock"),
      connections: Result.integer("Connected peers"),
      connections_in: Result.integer("Inbound peers"),
      connections_out: Result.integer("Outbound peers"),
      networkactive: Result.boolean("Whether the network is on"),
      networks: Schema.Array(Schema.Struct({
        name: Result.string("ipv4, ipv6, onion, i2p or cjdns"),
        limited: Result.boolean("Whether the node does not use this network"),
        reachable: Result.boolean("Whether the node can connect to its peers"),
        proxy: Result.string("The proxy, if any"),
        proxy_randomize_credentials: Result.boolean("Whether each connection uses separate proxy credentials")
      })),
      relayfee: Result.amount(`Minimum fee rate for relay, ${FEE}`),
      incrementalfee: Result.amount(`Additional fee rate of a replacement, ${FEE}`),
      localaddresses: Schema.Array(Schema.Struct({
        address: Result.string("An address of this node"),
        port: Result.integer("Its port"),
        score: Result.integer("Confidence in this address")
      })),
      warnings: Schema.Array(Result.string("A warning"))
    })
  }],
  examples: [[]]
})

export const GETZMQNOTIFICATIONS = utilContract({
  name: "getzmqnotifications",
  right: "read",
  summary: "Returns the ZeroMQ publishers of the node (-zmqpubhashblock and others).",
  params: {},
  results: [{
    schema: Schema.Array(Schema.Struct({
      type: Result.string("pubhashblock, pubhashtx, pubrawblock, pubrawtx or pubsequence"),
      address: Result.string("Address of the publisher"),
      hwm: Result.integer("Messages kept for a slow subscriber")
    }))
  }],
  examples: [[]]
})
