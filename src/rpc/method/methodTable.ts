import type * as Effect from "effect/Effect"
import type { PlaceShare } from "../../base/FairPlaces.ts"
import type { UserRight } from "../../config/accessKinds.ts"
import type { JsonValue } from "../json/encodeJson.ts"
import type { Json, JsonObject } from "../json/json.ts"
import type { CallTurns } from "../SlowLane.ts"
import type { Contract } from "./contract.ts"
import type { AdmittedUser } from "./permission.ts"
import type { RpcError } from "./RpcError.ts"

/** `-rpcrights`; `undefined` for all. */
export type UserRights = ReadonlySet<UserRight> | undefined

/** A method, and the rights that it and its parameters need. */
export interface Demand {
  readonly method: string
  readonly rights: ReadonlyArray<UserRight>
}

/** The remaining work of one body. */
export interface WorkLeft {
  bytes: number
}

export interface CallContext {
  /** `/wallet/<name>`, with `""` for the default wallet; `undefined` on `/` and `/rpc`. */
  readonly wallet: string | undefined
  /** Address and port, for logs. */
  readonly peer: string
  readonly remote: boolean
  /** User, address and connection, which compete for places. */
  readonly share: PlaceShare
  /** `undefined` where callers need no credentials, and within a program. */
  readonly user: AdmittedUser | undefined
  /** Checked before the method is called. */
  readonly rights: UserRights
  readonly methods: MethodTable
  /** Shared with other costly calls. */
  readonly turns: CallTurns
  /** Bytes of the answer in memory. */
  readonly room: number
  readonly work: WorkLeft
  /** Including this call. */
  readonly running: () => ReadonlyArray<RunningCall>
}

export interface RunningCall {
  readonly method: string
  /** Milliseconds of `monotonic()`. */
  readonly since: number
}

export interface Method extends Contract {
  /** Rights of the method and of the given parameters. */
  readonly rightsFor: (params: GivenParams) => ReadonlyArray<UserRight>
  /** Bytes; `undefined` if the work depends on the length of the parameters only. */
  readonly workOf: ((params: GivenParams) => number) | undefined
  /** A refused parameter is a failed `Exit`. */
  readonly call: (params: GivenParams, context: CallContext) => Effect.Effect<JsonValue, RpcError>
}

export type GivenParams = ReadonlyArray<Json> | JsonObject

/** The methods of a subject, made with the services that they use. */
export type Methods<Services = never> = Effect.Effect<ReadonlyArray<Method>, never, Services>

export type MethodTable = ReadonlyMap<string, Method>

/** Dies if two methods have the same name, as one of them could not be called. */
export const methodTable = (...groups: ReadonlyArray<ReadonlyArray<Method>>): MethodTable => {
  const table = new Map<string, Method>()
  for (const method of groups.flat()) {
    if (table.has(method.name)) throw new Error(`two methods have the name ${method.name}`)
    table.set(method.name, method)
  }
  return table
}
