import type * as Effect from "effect/Effect"
import type { JsonValue } from "../json/encodeJson.ts"
import type { Json, JsonObject } from "../json/json.ts"
import type { CallTurns } from "../SlowLane.ts"
import type { Params } from "./params.ts"
import type { RpcError } from "./RpcError.ts"
import type { Shape } from "./shape.ts"

/** The headings of the help, in the order of reference/rpc.md 3. */
export type Group =
  | "Control"
  | "Blockchain"
  | "Names"
  | "Raw transactions"
  | "Mempool"
  | "Mining"
  | "Network"
  | "Util"
  | "Wallet"
  | "Hidden"

/** Who asks, and what surrounds the call. */
export interface CallContext {
  /** The wallet that the path names (`/wallet/<name>`), `""` being the default wallet; `undefined` on `/` and `/rpc`. */
  readonly wallet: string | undefined
  /** Address and port of the caller, for logs. */
  readonly peer: string
  /** Whether the caller is on another host. */
  readonly remote: boolean
  /** The table that the method is a part of. */
  readonly methods: MethodTable
  /** For work that takes longer than a moment: turns of the event loop that the call shares with others like it. */
  readonly turns: CallTurns
  /** The calls that are being carried out now, this one included. */
  readonly running: () => ReadonlyArray<RunningCall>
}

export interface RunningCall {
  readonly method: string
  /** Since when, in milliseconds of `performance.now()`. */
  readonly since: number
}

/** What a method answers with under a condition, such as a verbosity. */
export interface Result {
  readonly when?: string
  readonly shape: Shape
}

/** A method as the dispatcher holds it. */
export interface Method {
  readonly name: string
  readonly group: Group
  readonly summary: string
  readonly params: Params
  readonly results: ReadonlyArray<Result>
  readonly examples: ReadonlyArray<ReadonlyArray<JsonValue>>
  readonly errors: ReadonlyArray<string>
  readonly waits: boolean
  readonly heavy: boolean
  /**
   * Reads the parameters of a request and gives them to the handler.
   *
   * @throws RpcError for parameters that the method does not take
   */
  readonly call: (params: GivenParams, context: CallContext) => Effect.Effect<JsonValue, RpcError>
}

/** By position or by name. */
export type GivenParams = ReadonlyArray<Json> | JsonObject

export type MethodTable = ReadonlyMap<string, Method>

/**
 * Makes one table of several groups of methods. Dies if two methods have one name: only one of them could ever be
 * called.
 */
export const methodTable = (...groups: ReadonlyArray<ReadonlyArray<Method>>): MethodTable => {
  const table = new Map<string, Method>()
  for (const method of groups.flat()) {
    if (table.has(method.name)) throw new Error(`two methods are called ${method.name}`)
    table.set(method.name, method)
  }
  return table
}
