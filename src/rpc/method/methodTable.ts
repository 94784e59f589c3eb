import type * as Effect from "effect/Effect"
import type { PlaceShare } from "../../base/FairPlaces.ts"
import type { UserRight } from "../../config/accessKinds.ts"
import type { JsonValue } from "../json/encodeJson.ts"
import type { Json, JsonObject } from "../json/json.ts"
import type { CallTurns } from "../SlowLane.ts"
import type { Contract } from "./contract.ts"
import type { RpcError } from "./RpcError.ts"

/** The rights of a user (`-rpcrights`); `undefined`: all. */
export type UserRights = ReadonlySet<UserRight> | undefined

/** What a request needs: the method, and the rights of the method and of the parameters that it has. */
export interface Demand {
  readonly method: string
  readonly rights: ReadonlyArray<UserRight>
}

/** What is left of the bound on work for the calls of one body. */
export interface WorkLeft {
  bytes: number
}

export interface CallContext {
  /** The wallet in the path (`/wallet/<name>`), `""` for the default wallet; `undefined` on `/` and `/rpc`. */
  readonly wallet: string | undefined
  /** Address and port of the caller, for logs. */
  readonly peer: string
  readonly remote: boolean
  /** The caller among others that wait for a place: user, address, connection. */
  readonly share: PlaceShare
  /** The rights of the caller. Those that the request needs are checked before the method is called. */
  readonly rights: UserRights
  readonly methods: MethodTable
  /** Turns of the event loop that the call shares with other costly calls. */
  readonly turns: CallTurns
  /** Bytes that the answer may take in memory. */
  readonly room: number
  /** What the calls of this body may still ask for. */
  readonly work: WorkLeft
  /** The running calls, this one included. */
  readonly running: () => ReadonlyArray<RunningCall>
}

export interface RunningCall {
  readonly method: string
  /** The start, in milliseconds of `performance.now()`. */
  readonly since: number
}

export interface Method extends Contract {
  /** The rights that a request needs: the method's own, and those of the parameters that it has. */
  readonly rightsFor: (params: GivenParams) => ReadonlyArray<UserRight>
  /** The bytes that the work of a call takes; `undefined` for a method whose work follows the length of its parameters. */
  readonly workOf: ((params: GivenParams) => number) | undefined
  /** Reads the parameters of a request and calls the handler. A refused parameter is a failure in the form of an `Exit`. */
  readonly call: (params: GivenParams, context: CallContext) => Effect.Effect<JsonValue, RpcError>
}

/** By position or by name. */
export type GivenParams = ReadonlyArray<Json> | JsonObject

export type MethodTable = ReadonlyMap<string, Method>

/**
 * Merges groups of methods into one table. Dies if two methods have the same name: only one of them could be called.
 */
export const methodTable = (...groups: ReadonlyArray<ReadonlyArray<Method>>): MethodTable => {
  const table = new Map<string, Method>()
  for (const method of groups.flat()) {
    if (table.has(method.name)) throw new Error(`two methods have the name ${method.name}`)
    table.set(method.name, method)
  }
  return table
}
