import type * as Effect from "effect/Effect"
import { randomBytes, secureRandom } from "../../base/random.ts"
import { type Bytes, fromHex, isHex, toHex } from "../../protocol/bytes.ts"
import { NAME_TX_VERSION, nameCommitment, type NameOperation, nameScript } from "../../protocol/nameOperation.ts"
import { decodeText, type NameEncoding } from "../../protocol/nameText.ts"
import { makeTransaction, type Transaction } from "../../protocol/transaction.ts"
import { type Json, JsonObject, typeOf } from "../json/json.ts"
import { checked } from "../method/checked.ts"
import { decode, jsonObject, object, optional, string } from "../method/params.ts"
import { RpcError } from "../method/RpcError.ts"
import type { NameEncodings } from "../shapes/context.ts"

/**
 * Adds name operations to a caller's raw transactions (reference/rpc.md 3.4). Upstream `rpc/names.cpp`,
 * `PerformNameRawtx`.
 */

const SALT_SIZE = 20

const OP = object({ op: string("name_new, name_firstupdate or name_update.") }, "The operation.")

const NAME_NEW = object({ name: optional(string("The name.")), rand: optional(string("The salt.")) }, "The operation.")

const NAME_FIRSTUPDATE = object({
  name: string("The name."),
  value: string("Its value."),
  rand: string("The salt of its commitment.")
}, "The operation.")

const NAME_UPDATE = object({ name: string("The name."), value: string("Its value.") }, "The operation.")

/** The operation as a parameter; `withNameOperation` decodes it. */
export const NAMEOP_PARAM = jsonObject(
  "The operation: op (name_new, name_firstupdate or name_update); name; value, except for name_new; rand, the " +
    "salt in hexadecimal digits, random by default for name_new."
)

const bytesOf = (text: string, encoding: NameEncoding): Bytes => {
  const bytes = decodeText(text, encoding)
  if (bytes === undefined) throw RpcError.invalidEncoding(encoding)
  return bytes
}

const saltOf = (text: string): Bytes => {
  const salt = text !== "" && isHex(text) ? fromHex(text) : undefined
  if (salt === undefined) throw RpcError.deserialization("rand must be hex")
  return salt
}

const drawSalt = (): Uint8Array => randomBytes(secureRandom(), SALT_SIZE)

interface RequestedOperation {
  readonly operation: NameOperation
  /** The salt of a NAME_NEW, which the owner needs for the next step. */
  readonly salt: Bytes | undefined
}

const readOperation = (value: JsonObject, { nameEncoding, valueEncoding }: NameEncodings): RequestedOperation => {
  const { op } = decode(OP, value, "nameop")
  switch (op) {
    case "name_new": {
      const { name, rand } = decode(NAME_NEW, value, "nameop")
      const salt = rand === undefined ? drawSalt() : saltOf(rand)
      if (name === undefined) throw RpcError.wrongType("null", "string")
      return { operation: { op, commitment: nameCommitment(salt, bytesOf(name, nameEncoding)) }, salt }
    }
    case "name_firstupdate": {
      const { name, rand, value: text } = decode(NAME_FIRSTUPDATE, value, "nameop")
      const salt = saltOf(rand)
      const bytes = bytesOf(name, nameEncoding)
      return { operation: { op, name: bytes, rand: salt, value: bytesOf(text, valueEncoding) }, salt: undefined }
    }
    case "name_update": {
      const { name, value: text } = decode(NAME_UPDATE, value, "nameop")
      const bytes = bytesOf(name, nameEncoding)
      return { operation: { op, name: bytes, value: bytesOf(text, valueEncoding) }, salt: undefined }
    }
    default:
      throw RpcError.invalidParameter("Invalid name operation")
  }
}

export interface NamedTransaction {
  readonly transaction: Transaction
  /** In hexadecimal digits; only for a NAME_NEW. */
  readonly rand: string | undefined
}

/** Puts a name operation before the script of an output, and makes the transaction a name transaction. */
export const withNameOperation = (
  transaction: Transaction,
  vout: number,
  nameop: Json,
  encodings: NameEncodings
): Effect.Effect<NamedTransaction, RpcError> =>
  checked(() => {
    const { inputs, lockTime, outputs } = transaction
    const output = outputs[vout]
    if (output === undefined) throw RpcError.invalidParameter("vout is out of range")
    if (!(nameop instanceof JsonObject)) throw RpcError.wrongType(typeOf(nameop), "object")
    const { operation, salt } = readOperation(nameop, encodings)
    const script = nameScript(operation, output.script)
    const changed = outputs.map((each, n) => n === vout ? { ...each, script } : each)
    return {
      transaction: makeTransaction({ version: NAME_TX_VERSION, inputs, outputs: changed, lockTime }),
      rand: salt === undefined ? undefined : toHex(salt)
    }
  })
