import { encodeJson, encodeString } from "./json/encodeJson.ts"
import { type Json, JsonNumber, JsonObject } from "./json/json.ts"
import type { GivenParams } from "./method/methodTable.ts"
import { RPC_CODE, RpcError } from "./method/RpcError.ts"

/** Both JSON-RPC versions (reference/rpc.md 1.6). */

/** Exact, because clients compare it (reference/rpc.md 1.3). */
export const JSON_TYPE = "application/json"

/** Determines the form of the reply. */
export interface RpcEnvelope {
  readonly version: "legacy" | "2.0"
  readonly id: Json | undefined
}

export interface Request extends RpcEnvelope {
  readonly method: string
  readonly params: GivenParams
}

export interface Malformed extends RpcEnvelope {
  readonly error: RpcError
}

/** Upstream `rpc/request.cpp`, `JSONRPCRequest::parse`. */
export const readRequest = (value: Json): Request | Malformed => {
  if (!(value instanceof JsonObject)) {
    return { version: "legacy", id: null, error: RpcError.invalidRequest("Invalid Request object") }
  }
  const id = value.get("id")
  const jsonrpc = value.get("jsonrpc") ?? null
  const version = jsonrpc === "2.0" ? "2.0" : "legacy"
  const refuse = (message: string): Malformed => ({ version, id, error: RpcError.invalidRequest(message) })

  if (jsonrpc !== null) {
    if (typeof jsonrpc !== "string") return refuse("jsonrpc field must be a string")
    if (jsonrpc !== "1.0" && jsonrpc !== "2.0") return refuse("JSON-RPC version not supported")
  }
  const method = value.get("method") ?? null
  if (method === null) return refuse("Missing method")
  if (typeof method !== "string") return refuse("Method must be a string")
  const params = value.get("params") ?? NO_PARAMS
  if (!(params instanceof JsonObject) && !Array.isArray(params)) return refuse("Params must be an array or object")
  return { version, id, method, params }
}

const NO_PARAMS: ReadonlyArray<Json> = []

/** Limits of a slight request: parameters, and characters of each. */
const FEW_PARAMS = 16
const SHORT_PARAM = 1_000

/** A few short scalars make little work, however long the batch around them is. */
export const isSlight = ({ params }: Request): boolean => {
  const values = params instanceof JsonObject ? params.values : params
  return values.length <= FEW_PARAMS && values.every((value) => {
    if (value instanceof JsonNumber) return value.text.length <= SHORT_PARAM
    return typeof value === "string" ? value.length <= SHORT_PARAM : value === null || typeof value === "boolean"
  })
}

export const isNotification = ({ id, version }: RpcEnvelope): boolean => id === undefined && version === "2.0"

const encodeId = (id: Json | undefined): string => id === undefined ? "" : `,"id":${encodeJson(id)}`

/** The text around the result in a successful reply. */
export const aroundResult = ({ id, version }: RpcEnvelope): readonly [before: string, behind: string] =>
  version === "2.0"
    ? [`{"jsonrpc":"2.0","result":`, `${encodeId(id)}}`]
    : [`{"result":`, `,"error":null${encodeId(id)}}`]

/** `result` is JSON text. */
export const encodeResult = (envelope: RpcEnvelope, result: string): string => {
  const [before, behind] = aroundResult(envelope)
  return before + result + behind
}

/** Characters. Many messages repeat the caller's text, which may have 32 MiB. */
const MAX_MESSAGE = 10_000

export const encodeError = ({ id, version }: RpcEnvelope, { code, message, reason }: RpcError): string => {
  const text = message.length > MAX_MESSAGE
    ? `${message.slice(0, MAX_MESSAGE).replace(/[\ud800-\udbff]$/, "")}…`
    : message
  const data = reason === undefined ? "" : `,"data":{"reason":"${reason}"}`
  const error = `{"code":${code},"message":${encodeString(text)}${data}}`
  return version === "2.0"
    ? `{"jsonrpc":"2.0","error":${error}${encodeId(id)}}`
    : `{"result":null,"error":${error}${encodeId(id)}}`
}

/** In version 2.0, a failed method is not an HTTP error. */
export const errorStatus = ({ version }: RpcEnvelope, { code }: RpcError): number => {
  if (version === "2.0") return 200
  if (code === RPC_CODE.invalidRequest) return 400
  return code === RPC_CODE.methodNotFound ? 404 : 500
}
