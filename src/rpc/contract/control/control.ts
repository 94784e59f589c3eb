import * as Schema from "effect/Schema"
import type { Json } from "../../json/json.ts"
import { controlContract, hiddenContract } from "../../method/contract.ts"
import {
  array,
  custom,
  freeText,
  hidden,
  int32,
  int64,
  notNull,
  optional,
  type ParamKind,
  refined,
  string,
  withDefault
} from "../../method/params.ts"
import * as Result from "../../method/results.ts"
import { RpcError } from "../../method/RpcError.ts"

export const HELP = controlContract({
  name: "help",
  right: "read",
  summary: "Lists all methods, or explains one of them.",
  params: { command: optional(string("The method to explain."), "all methods") },
  results: [
    { schema: Result.string("The help text") },
    {
      when: "command is dump_all_command_conversions",
      schema: Schema.Array(Schema.Array(Result.any("Method, position, parameter, and whether the parameter is text")))
    }
  ],
  examples: [[], ["getblockhash"]]
})

export const STOP = controlContract({
  name: "stop",
  coins: "any",
  writes: true,
  summary: "Shuts the node down cleanly.",
  params: { wait: hidden(optional(int32("Milliseconds to delay the answer."))) },
  results: [{ schema: Result.string("\"svcd stopping\"") }],
  examples: [[]]
})

export const UPTIME = controlContract({
  name: "uptime",
  right: "read",
  summary: "Returns the uptime of the server.",
  params: {},
  results: [{ schema: Result.integer("Seconds since the start") }],
  examples: [[]]
})

export const GETRPCINFO = controlContract({
  name: "getrpcinfo",
  right: "read",
  summary: "Returns the running calls of the RPC server.",
  params: {},
  results: [{
    schema: Schema.Struct({
      active_commands: Schema.Array(
        Schema.Struct({
          method: Result.string("Name of the method"),
          duration: Result.integer("Microseconds since it began")
        })
      ).annotations({ description: "The running calls, including this one" }),
      logpath: Result.string("The log file; empty if the log goes to standard output")
    })
  }],
  examples: [[]]
})

const memoryMode = refined(string("Format: stats; mallocinfo is not available."), (mode) => {
  if (mode === "stats") return mode
  return RpcError.invalidParameter(mode === "mallocinfo" ? "mallocinfo mode not available" : `unknown mode ${mode}`)
})

export const GETMEMORYINFO = controlContract({
  name: "getmemoryinfo",
  right: "read",
  summary: "Returns statistics of locked memory. All are zero: this node locks none.",
  params: { mode: withDefault(memoryMode, "stats") },
  results: [{
    schema: Schema.Struct({
      locked: Schema.Struct({
        used: Result.integer("Bytes in use"),
        free: Result.integer("Unused bytes"),
        total: Result.integer("All bytes"),
        locked: Result.integer("Locked bytes"),
        chunks_used: Result.integer("Allocated chunks"),
        chunks_free: Result.integer("Unused chunks")
      }).annotations({ description: "Locked memory" })
    })
  }],
  examples: [[]],
  errors: ["-8 mallocinfo mode not available", "-8 unknown mode <x>"]
})

export const LOGGING = controlContract({
  name: "logging",
  coins: "any",
  writes: true,
  summary: "Returns and changes the categories of debug messages. A category both included and excluded is off.",
  params: {
    include: optional(array(string("A category, or all."), "Categories to switch on.")),
    exclude: optional(array(string("A category, or all."), "Categories to switch off."))
  },
  results: [{ schema: Result.map("category", Result.boolean("Whether it is on")) }],
  examples: [[], [["rpc"], ["network"]]],
  errors: ["-8 unknown logging category <name>"]
})

export const RPC_DISCOVER = controlContract({
  name: "rpc.discover",
  right: "read",
  summary: "Returns an OpenRPC document that describes all methods.",
  params: {},
  results: [{ schema: Result.any("The document") }],
  examples: [[]]
})

/** The parameters of `echo` and `echojson`, which differ only on command lines: `echojson` takes JSON there. */
export const echoed = (kind: ParamKind) => {
  const anything = notNull(
    optional(custom({ words: "any", kind, description: "Any value.", read: (value): Json => value }))
  )
  return {
    arg0: anything,
    arg1: anything,
    arg2: anything,
    arg3: anything,
    arg4: anything,
    arg5: anything,
    arg6: anything,
    arg7: anything,
    arg8: anything,
    arg9: anything
  }
}

export const ECHO = hiddenContract({
  name: "echo",
  right: "read",
  summary: "Returns its arguments.",
  params: echoed("string"),
  results: [{ schema: Result.any("The arguments as an array") }],
  examples: []
})

export const ECHOJSON = hiddenContract({
  name: "echojson",
  right: "read",
  summary: "Returns its arguments.",
  params: echoed("any"),
  results: [{ schema: Result.any("The arguments as an array") }],
  examples: []
})

export const ECHOIPC = hiddenContract({
  name: "echoipc",
  right: "read",
  summary: "Returns its argument.",
  params: { arg: freeText(string("The text to return.")) },
  results: [{ schema: Result.string("The text") }],
  examples: []
})

/** The last second whose nanoseconds fit into 63 bits. */
export const MAX_MOCK_TIME = 9_223_372_036

export const onRegtest = (name: string) => `${name} is for regression testing (-regtest mode) only`

const NULL = [{ schema: Result.nothing("") }]

export const SETMOCKTIME = hiddenContract({
  name: "setmocktime",
  coins: "any",
  writes: true,
  summary: "Sets the clock of the node to a fixed time. Only on regtest.",
  params: { timestamp: int64("Seconds since 1970; 0 returns to the real time.") },
  results: NULL,
  examples: [[1_700_000_000]],
  errors: [`-1 ${onRegtest("setmocktime")}`, `-8 Mocktime must be in the range [0, ${MAX_MOCK_TIME}], not <n>.`]
})

export const MOCKSCHEDULER = hiddenContract({
  name: "mockscheduler",
  coins: "any",
  writes: true,
  summary: "Moves the schedule of periodic tasks forward. Only on regtest.",
  params: { delta_time: int64("Seconds, 1 to 3600.") },
  results: NULL,
  examples: [[600]],
  errors: [`-1 ${onRegtest("mockscheduler")}`, "-1 delta_time must be between 1 and 3600 seconds (1 hr)"]
})

export const SYNCWITHVALIDATIONINTERFACEQUEUE = hiddenContract({
  name: "syncwithvalidationinterfacequeue",
  right: "read",
  summary: "Waits until names, indexes, mempool and wallet have processed all blocks so far.",
  params: {},
  results: NULL,
  examples: [[]]
})

export const GETINFO = controlContract({
  name: "getinfo",
  right: "read",
  summary: "Returns a summary of the node.",
  params: {},
  results: [{
    schema: Schema.Struct({
      version: Result.integer("Version of svcd, two digits for each part"),
      protocolversion: Result.integer("Version of the network protocol"),
      walletversion: Schema.optional(
        Result.needing(
          "names",
          Result.integer("As in getwalletinfo. This and the other wallet members are only present with a wallet")
        )
      ),
      balance: Schema.optional(
        Result.needing("names", Result.amount("Spendable balance of the wallet, as in getbalance"))
      ),
      blocks: Result.integer("Height of the tip"),
      timeoffset: Result.integer("Always 0: svcd does not correct the clock"),
      connections: Result.integer("Connected peers"),
      proxy: Result.string("The proxy, if any"),
      difficulty: Result.number("The tip's difficulty"),
      testnet: Result.boolean("Whether this is the test network"),
      keypoololdest: Schema.optional(
        Result.needing("names", Result.time("Earliest time at which the wallet may have been used"))
      ),
      keypoolsize: Schema.optional(
        Result.needing("names", Result.integer("Watched addresses that are not handed out yet"))
      ),
      unlocked_until: Schema.optional(
        Result.needing("names", Result.time("Time at which it locks again; only for an encrypted wallet"))
      ),
      paytxfee: Result.amount("Fee per kvB paid by the wallet, if set"),
      relayfee: Result.amount("Minimum fee per kvB for relay"),
      errors: Result.string("Warnings"),
      chain: Result.string("main, test or regtest"),
      initialblockdownload: Result.boolean("Whether the node is still catching up")
    })
  }],
  examples: [[]]
})
