import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import { monotonic } from "../../base/clock.ts"
import {
  ECHO,
  type echoed,
  ECHOIPC,
  ECHOJSON,
  GETMEMORYINFO,
  GETRPCINFO,
  HELP,
  LOGGING,
  RPC_DISCOVER,
  STOP,
  UPTIME
} from "../contract/control/control.ts"
import { encodeJson } from "../json/encodeJson.ts"
import type { Json } from "../json/json.ts"
import { LongText } from "../json/LongText.ts"
import { Lifecycle } from "../Lifecycle.ts"
import { conversions, helpIndex, methodHelp } from "../method/help.ts"
import { method } from "../method/method.ts"
import type { Method, Methods, MethodTable } from "../method/methodTable.ts"
import { openRpc } from "../method/openRpc.ts"
import type { Decoded } from "../method/params.ts"
import { RpcError } from "../method/RpcError.ts"

/** The server itself, without the chain (reference/rpc.md 3.1 and 3.10). */

export interface ControlOptions {
  readonly version: string
  /** As the operator knows it; `""` for standard output. */
  readonly logPath: string
  /** Set if the debug categories can be switched at run time. */
  readonly logging?: LogCategories
}

export interface LogCategories {
  readonly current: Effect.Effect<ReadonlyMap<string, boolean>>
  readonly set: (category: string, on: boolean) => Effect.Effect<void>
}

const help = method(HELP, ({ command }, { methods }) =>
  Effect.sync(() => {
    if (command === undefined || command === "") return helpIndex(methods)
    if (command === "dump_all_command_conversions") return conversions(methods)
    const found = methods.get(command)
    return found === undefined ? `help: unknown command: ${command}` : methodHelp(found).trimEnd()
  }))

const stop = (lifecycle: typeof Lifecycle.Service): Method =>
  method(STOP, ({ wait = 0 }) =>
    lifecycle.stop.pipe(
      Effect.zipRight(wait > 0 ? Effect.sleep(wait) : Effect.void),
      Effect.as("svcd stopping")
    ))

/** `setmocktime` and corrections of the wall clock do not move this clock. */
const uptime = (started: bigint): Method =>
  method(UPTIME, () => Effect.map(Clock.currentTimeNanos, (now) => Number((now - started) / 1_000_000_000n)))

const getrpcinfo = (logPath: string): Method =>
  method(GETRPCINFO, (_, { running }) =>
    Effect.sync(() => {
      const now = monotonic()
      return {
        active_commands: running().map((call) => ({
          method: call.method,
          duration: Math.round((now - call.since) * 1000)
        })),
        logpath: logPath
      }
    }))

const getmemoryinfo = method(
  GETMEMORYINFO,
  () => Effect.succeed({ locked: { used: 0, free: 0, total: 0, locked: 0, chunks_used: 0, chunks_free: 0 } })
)

/** Upstream `logging.cpp`, `GetLogCategory`. */
const ALL_CATEGORIES: ReadonlySet<string> = new Set(["all", "1", ""])

const logging = (categories: LogCategories): Method =>
  method(LOGGING, ({ exclude = [], include = [] }) =>
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
    }))

const discover = (version: string): Method => {
  /** Cached: a megabyte that only changes with the methods. */
  let known: { readonly methods: MethodTable; readonly text: LongText } | undefined
  return method(RPC_DISCOVER, (_, { methods }) => {
    if (known?.methods !== methods) known = { methods, text: LongText.of(encodeJson(openRpc(methods, version))) }
    return Effect.succeed(known.text)
  })
}

const given = (args: Decoded<ReturnType<typeof echoed>>): Effect.Effect<ReadonlyArray<Json>> => {
  const values: ReadonlyArray<Json | undefined> = Object.values(args)
  const last = values.findLastIndex((value) => value !== undefined)
  return Effect.succeed(values.slice(0, last + 1).map((value) => value ?? null))
}

const echo = method(ECHO, given)

const echojson = method(ECHOJSON, given)

const echoipc = method(ECHOIPC, ({ arg }) => Effect.succeed(arg))

/** `uptime` counts from this call. */
export const make = (options: ControlOptions): Methods<Lifecycle> =>
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
