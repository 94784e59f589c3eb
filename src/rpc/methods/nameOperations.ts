import * as Either from "effect/Either"
import { randomBytes } from "../../base/entropy.ts"
import { type Bytes, fromHex, isHex, toHex } from "../../protocol/bytes.ts"
import { NAME_TX_VERSION, nameCommitment, type NameOperation, nameScript } from "../../protocol/nameOperation.ts"
import { decodeText, type NameEncoding } from "../../protocol/nameText.ts"
import { makeTransaction, type Transaction } from "../../protocol/transaction.ts"
import { type Json, JsonObject, typeOf } from "../json/json.ts"
import { decodedValue, object, optional, string } from "../method/params.ts"
import { type Read, readOf, RpcError } from "../method/RpcError.ts"
import type { NameEncodings } from "../shapes/context.ts"

/** Upstream `rpc/names.cpp`, `PerformNameRawtx` (reference/rpc.md 3.4). */

const SALT_SIZE = 20

const OP = object({ op: string("name_new, name_firstupdate or name_update.") }, "The operation.")

const NAME_NEW = object({ name: optional(string("The name.")), rand: optional(string("The salt.")) }, "The operation.")

const NAME_FIRSTUPDATE = object({
  name: string("The name."),
  value: string("Its value."),
  rand: string("The salt of its commitment.")
}, "The operation.")

const NAME_UPDATE = object({ name: string("The name."), value: string("Its value.") }, "The operation.")

const bytesOf = (text: string, encoding: NameEncoding): Read<Bytes> =>
  readOf(decodeText(text, encoding) ?? RpcError.invalidEncoding(encoding))

const saltOf = (text: string): Read<Bytes> =>
  readOf((text !== "" && isHex(text) ? fromHex(text) : undefined) ?? RpcError.deserialization("rand must be hex"))

const drawSalt = (): Uint8Array => randomBytes(SALT_SIZE)

interface RequestedOperation {
  readonly operation: NameOperation
  /** Salt of a NAME_NEW, which the owner needs for the next step. */
  readonly salt: Bytes | undefined
}

const readOperation = (
  value: JsonObject,
  { nameEncoding, valueEncoding }: NameEncodings
): Read<RequestedOperation> =>
  Either.gen(function*() {
    const { op } = yield* decodedValue(OP, value, "nameop")
    switch (op) {
      case "name_new": {
        const { name, rand } = yield* decodedValue(NAME_NEW, value, "nameop")
        const salt = rand === undefined ? drawSalt() : yield* saltOf(rand)
        if (name === undefined) return yield* Either.left(RpcError.wrongType({ actual: "null", expected: "string" }))
        return { operation: { op, commitment: nameCommitment(salt, yield* bytesOf(name, nameEncoding)) }, salt }
      }
      case "name_firstupdate": {
        const { name, rand, value: text } = yield* decodedValue(NAME_FIRSTUPDATE, value, "nameop")
        const salt = yield* saltOf(rand)
        const bytes = yield* bytesOf(name, nameEncoding)
        const operation = { op, name: bytes, rand: salt, value: yield* bytesOf(text, valueEncoding) } as const
        return { operation, salt: undefined }
      }
      case "name_update": {
        const { name, value: text } = yield* decodedValue(NAME_UPDATE, value, "nameop")
        const bytes = yield* bytesOf(name, nameEncoding)
        return { operation: { op, name: bytes, value: yield* bytesOf(text, valueEncoding) }, salt: undefined }
      }
      default:
        return yield* Either.left(RpcError.invalidParameter("Invalid name operation"))
    }
  })

export interface NamedTransaction {
  readonly transaction: Transaction
  /** In hex; only for a NAME_NEW. */
  readonly rand: string | undefined
}

/** Puts the operation before an output's script and makes the transaction a name transaction. */
export const withNameOperation = (
  transaction: Transaction,
  { nameop, vout }: { readonly vout: number; readonly nameop: Json },
  encodings: NameEncodings
): Read<NamedTransaction> =>
  Either.gen(function*() {
    const { inputs, lockTime, outputs } = transaction
    const output = outputs[vout]
    if (output === undefined) return yield* Either.left(RpcError.invalidParameter("vout is out of range"))
    if (!(nameop instanceof JsonObject)) {
      return yield* Either.left(RpcError.wrongType({ actual: typeOf(nameop), expected: "object" }))
    }
    const { operation, salt } = yield* readOperation(nameop, encodings)
    const script = nameScript(operation, output.script)
    const changed = outputs.map((each, n) => n === vout ? { ...each, script } : each)
    return {
      transaction: makeTransaction({ version: NAME_TX_VERSION, inputs, outputs: changed, lockTime }),
      rand: salt === undefined ? undefined : toHex(salt)
    }
  })
