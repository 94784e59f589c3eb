import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { encodeJson } from "../json/encodeJson.ts"
import type { Json } from "../json/json.ts"
import { LongText } from "../json/LongText.ts"
import { Lifecycle } from "../Lifecycle.ts"
import { conversions, helpIndex, methodHelp } from "../method/help.ts"
import { method } from "../method/method.ts"
import type { Method, MethodTable } from "../method/methodTable.ts"
import { openRpc } from "../method/openRpc.ts"
import {
  array,
  custom,
  type Decoded,
  hidden,
  int32,
  notNull,
  optional,
  type ParamKind,
  refined,
  string,
  withDefault
} from "../method/params.ts"
import * as Result from "../method/results.ts"
import { RpcError } from "../method/RpcError.ts"

/** Methods of the server itself; they need no chain (reference/rpc.md 3.1 and 3.10). */

export interface ControlOptions {
  readonly version: string
  /** The path of the log file as the operator knows it; `""` for standard output. */
  readonly logPath: string
  /** The debug categories, if they can be switched at run time. */
  readonly logging?: LogCategories
}

export interface LogCategories {
  readonly current: Effect.Effect<ReadonlyMap<string, boolean>>
  readonly set: (category: string, on: boolean) => Effect.Effect<void>
}

const help = method({
  name: "help",
  right: "read",
  group: "Control",
  summary: "Lists all methods, or explains one of them.",
  params: { command: optional(string("The method to explain."), "all methods") },
  results: [
    { schema: Result.string("The help text") },
    {
      when: "command is dump_all_command_conversions",
      schema: Schema.Array(Schema.Array(Result.any("Method, position, parameter, and whether the parameter is text")))
    }
  ],
  examples: [[], ["getblockhash"]],
  handler: ({ command }, { methods }) =>
    Effect.sync(() => {
      if (command === undefined || command === "") return helpIndex(methods)
      if (command === "dump_all_command_conversions") return conversions(methods)
      const found = methods.get(command)
      return found === undefined ? `help: unknown command: ${command}` : methodHelp(found).trimEnd()
    })
})

const stop = (lifecycle: typeof Lifecycle.Service): Method =>
  method({
    name: "stop",
    writes: true,
    group: "Control",
    summary: "Starts a clean shutdown of the node.",
    params: { wait: hidden(optional(int32("Milliseconds to delay the answer."))) },
    results: [{ schema: Result.string("\"svcd stopping\"") }],
    examples: [[]],
    handler: ({ wait = 0 }) =>
      lifecycle.stop.pipe(
        Effect.zipRight(wait > 0 ? Effect.sleep(wait) : Effect.void),
        Effect.as("svcd stopping")
      )
  })

/** By the clock that `setmocktime` and corrections of the wall clock do not move. */
const uptime = (started: bigint): Method =>
  method({
    name: "uptime",
    right: "read",
    group: "Control",
    summary: "Returns the uptime of the server.",
    params: {},
    results: [{ schema: Result.integer("Seconds since the start") }],
    examples: [[]],
    handler: () => Effect.map(Clock.currentTimeNanos, (now) => Number((now - started) / 1_000_000_000n))
  })

const getrpcinfo = (logPath: string): Method =>
  method({
    name: "getrpcinfo",
    right: "read",
    group: "Control",
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
    examples: [[]],
    handler: (_, { running }) =>
      Effect.sync(() => {
        const now = performance.now()
        return {
          active_commands: running().map((call) => ({
            method: call.method,
            duration: Math.round((now - call.since) * 1000)
          })),
          logpath: logPath
        }
      })
  })

const memoryMode = refined(string("Format: stats; mallocinfo is not available."), (mode) => {
  if (mode === "stats") return mode
  return RpcError.invalidParameter(mode === "mallocinfo" ? "mallocinfo mode not available" : `unknown mode ${mode}`)
})

const getmemoryinfo = method({
  name: "getmemoryinfo",
  right: "read",
  group: "Control",
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
  errors: ["-8 mallocinfo mode not available", "-8 unknown mode <x>"],
  handler: () => Effect.succeed({ locked: { used: 0, free: 0, total: 0, locked: 0, chunks_used: 0, chunks_free: 0 } })
})

/** The names for all categories; upstream `logging.cpp`, `GetLogCategory`. */
const ALL_CATEGORIES: ReadonlySet<string> = new Set(["all", "1", ""])

const logging = (categories: LogCategories): Method =>
  method({
    name: "logging",
    writes: true,
    group: "Control",
    summary: "Returns and changes the categories of debug messages. A category both included and excluded is off.",
    params: {
      include: optional(array(string("A category, or all."), "Categories to switch on.")),
      exclude: optional(array(string("A category, or all."), "Categories to switch off."))
    },
    results: [{ schema: Result.map("category", Result.boolean("Whether it is on")) }],
    examples: [[], [["rpc"], ["network"]]],
    errors: ["-8 unknown logging category <name>"],
    handler: ({ exclude = [], include = [] }) =>
      Effect.gen(function*() {
        const known = yield* categories.current
        const chosen = (words: ReadonlyArray<string>) =>
          words.flatMap((word) => ALL_CATEGORIES.has(word) ? [...known.keys()] : [word])
        const changes = [
          ...chosen(include).map((category) => ({ category, on: true })),
          ...chosen(exclude).map((category) => ({ category, on: false }))
        ]
        const stranger = changes.find(({ category }) => !known.has(category))
        if (stranger !== undefined) {
          return yield* RpcError.invalidParameter(`unknown logging category ${stranger.category}`)
        }
        yield* Effect.forEach(changes, ({ category, on }) => categories.set(category, on), { discard: true })
        return yield* categories.current
      })
  })

const discover = (version: string): Method => {
  /** The document takes a megabyte and changes only with the methods. */
  let known: { readonly methods: MethodTable; readonly text: LongText } | undefined
  return method({
    name: "rpc.discover",
    right: "read",
    group: "Control",
    summary: "Returns an OpenRPC document that describes all methods.",
    params: {},
    results: [{ schema: Result.any("The document") }],
    examples: [[]],
    handler: (_, { methods }) => {
      if (known?.methods !== methods) known = { methods, text: LongText.of(encodeJson(openRpc(methods, version))) }
      return Effect.succeed(known.text)
    }
  })
}

/** The parameters of `echo` and `echojson`, which differ only on command lines: there the arguments of `echojson` are JSON. */
const echoed = (kind: ParamKind) => {
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

const given = (args: Decoded<ReturnType<typeof echoed>>): Effect.Effect<ReadonlyArray<Json>> => {
  const values: ReadonlyArray<Json | undefined> = Object.values(args)
  const last = values.findLastIndex((value) => value !== undefined)
  return Effect.succeed(values.slice(0, last + 1).map((value) => value ?? null))
}

const echo = method({
  name: "echo",
  right: "read",
  group: "Hidden",
  summary: "Returns its arguments.",
  params: echoed("string"),
  results: [{ schema: Result.any("The arguments as an array") }],
  examples: [],
  handler: given
})

const echojson = method({
  name: "echojson",
  right: "read",
  group: "Hidden",
  summary: "Returns its arguments.",
  params: echoed("any"),
  results: [{ schema: Result.any("The arguments as an array") }],
  examples: [],
  handler: given
})

const echoipc = method({
  name: "echoipc",
  right: "read",
  group: "Hidden",
  summary: "Returns its argument.",
  params: { arg: string("The text to return.") },
  results: [{ schema: Result.string("The text") }],
  examples: [],
  handler: ({ arg }) => Effect.succeed(arg)
})

/** Makes the methods of this group. `uptime` counts from this call. */
export const make = (options: ControlOptions): Effect.Effect<ReadonlyArray<Method>, never, Lifecycle> =>
  Effect.gen(function*() {
    const lifecycle = yield* Lifecycle
    const started = yield* Clock.currentTimeNanos
    return [
      help,
      stop(lifecycle),
      uptime(started),
      getrpcinfo(options.logPath),
      getmemoryinfo,
      ...(options.logging === undefined ? [] : [logging(options.logging)]),
      discover(options.version),
      echo,
      echojson,
      echoipc
    ]
  })
