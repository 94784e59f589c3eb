import * as Schema from "effect/Schema"
import { contract } from "../../method/contract.ts"
import { boolean, int32, int64, optional, string, withDefault } from "../../method/params.ts"
import * as Result from "../../method/results.ts"

export const SETBAN = contract({
  name: "setban",
  coins: "any",
  writes: true,
  group: "Network",
  summary: "Adds or removes a ban of an address or a range. A new ban disconnects the peers that it covers.",
  params: {
    subnet: string("An address, or a range as in 192.0.2.0/24."),
    command: string("add or remove."),
    bantime: withDefault(
      int64("Seconds of the ban, or, with absolute, the time of its end; 0 for that of -bantime, by default a day."),
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

export const LISTBANNED = contract({
  name: "listbanned",
  right: "read",
  group: "Network",
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

export const CLEARBANNED = contract({
  name: "clearbanned",
  coins: "any",
  writes: true,
  group: "Network",
  summary: "Removes all bans.",
  params: {},
  results: [{ schema: Result.nothing("") }],
  examples: [[]]
})

export const GETNODEADDRESSES = contract({
  name: "getnodeaddresses",
  right: "read",
  group: "Network",
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

export const GETADDRMANINFO = contract({
  name: "getaddrmaninfo",
  right: "read",
  group: "Network",
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
