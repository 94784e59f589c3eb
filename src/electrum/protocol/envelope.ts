import { encodeJson, encodeString } from "../../rpc/json/encodeJson.ts"
import { type Json, JsonNumber, JsonObject } from "../../rpc/json/json.ts"
import { parseJson } from "../../rpc/json/readJson.ts"
import { CODE, ElectrumError, invalidArguments, refusedRequest } from "./ElectrumError.ts"
import { shownValue } from "./pythonText.ts"

/** JSON-RPC 1.0 and 2.0 as ElectrumX understands them (aiorpcX `jsonrpc.py`, `JSONRPCAutoDetect`). */

/** How an answer is written. Without a version in the request, as 2.0. */
interface ReplyForm {
  readonly isLegacy: boolean
  /** `undefined` for a notification, which has no answer. */
  readonly id: Json | undefined
}

export interface ElectrumRequest extends ReplyForm {
  readonly method: string
  readonly params: ReadonlyArray<Json> | JsonObject
}

/** A request that cannot be carried out, with the answer it gets. */
export interface Misread extends ReplyForm {
  readonly error: ElectrumError
}

export type ReadRequest = ElectrumRequest | Misread

export type ReadMessage =
  | { readonly _tag: "Single"; readonly request: ReadRequest }
  | { readonly _tag: "Batch"; readonly requests: ReadonlyArray<ReadRequest> }
  /** An answer to a request that the server did not make. */
  | { readonly _tag: "Answer" }

export const MOST_IN_BATCH = 50

/** JSON values in a message, each of which takes some hundred bytes. */
const MOST_VALUES = 20_000

const NO_METHOD = "method must be a string"

const isId = (id: Json): boolean =>
  id === null || typeof id === "string" || typeof id === "boolean" || id instanceof JsonNumber

const idOf = (value: JsonObject): Json | undefined => {
  const id = value.get("id")
  return id === null ? undefined : id
}

const readElement = (value: Json): ReadRequest => {
  if (!(value instanceof JsonObject)) {
    return { isLegacy: false, id: null, error: refusedRequest("request object must be a dictionary") }
  }
  const version = value.get("jsonrpc")
  const isLegacy = version === "1.0"
  const id = idOf(value)
  if (!isLegacy && id !== undefined && !isId(id)) {
    return { isLegacy, id: null, error: refusedRequest(`invalid "id": ${shownValue(id)}`) }
  }
  const given = value.get("params")
  const params = given === undefined ? isLegacy ? null : [] : given
  if (!(params instanceof JsonObject) && !Array.isArray(params)) {
    return { isLegacy, id: id ?? null, error: invalidArguments(`invalid request arguments: ${shownValue(params)}`) }
  }
  const method = value.get("method")
  if (typeof method !== "string") {
    return { isLegacy, id: id ?? null, error: new ElectrumError({ code: CODE.unknownMethod, message: NO_METHOD }) }
  }
  return { isLegacy, id, method, params }
}

/** Whatever it is, nobody is waiting for a reply. */
const isAnswer = (value: Json): boolean => value instanceof JsonObject && value.get("method") === undefined

const misread = (error: ElectrumError): ReadMessage => ({
  _tag: "Single",
  request: { isLegacy: false, id: null, error }
})

/** Reads a message of any kind. What is wrong with it becomes its answer. */
export const readElectrum = (text: string): ReadMessage => {
  const value = parseJson(text, MOST_VALUES)
  if (value === undefined) return misread(new ElectrumError({ code: CODE.parseError, message: "invalid JSON" }))
  if (Array.isArray(value)) {
    const elements: ReadonlyArray<Json> = value
    if (elements.length === 0) return misread(refusedRequest("batch is empty"))
    if (elements.length > MOST_IN_BATCH) {
      return misread(refusedRequest(`a batch has at most ${MOST_IN_BATCH} requests, not ${elements.length}`))
    }
    return { _tag: "Batch", requests: elements.map(readElement) }
  }
  if (isAnswer(value)) return { _tag: "Answer" }
  return { _tag: "Single", request: readElement(value) }
}

export const notUtf8 = (): ReadMessage =>
  misread(new ElectrumError({ code: CODE.parseError, message: "messages must be encoded in UTF-8" }))

/** `result` is JSON text. */
export const resultReply = ({ id, isLegacy }: ReplyForm, result: string): string => {
  const echoed = encodeJson(id ?? null)
  return isLegacy
    ? `{"result":${result},"error":null,"id":${echoed}}`
    : `{"jsonrpc":"2.0","result":${result},"id":${echoed}}`
}

export const errorReply = ({ id, isLegacy }: ReplyForm, { code, message }: ElectrumError): string => {
  const error = `{"code":${code},"message":${encodeString(message)}}`
  const echoed = encodeJson(id ?? null)
  return isLegacy
    ? `{"result":null,"error":${error},"id":${echoed}}`
    : `{"jsonrpc":"2.0","error":${error},"id":${echoed}}`
}

export interface Notification {
  readonly method: string
  /** JSON text. */
  readonly params: string
}

export const encodeNotification = ({ method, params }: Notification): string =>
  `{"jsonrpc":"2.0","method":"${method}","params":${params}}`
