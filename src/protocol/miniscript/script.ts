import { type Bytes, concat, EMPTY, fromHex } from "../bytes.ts"
import { hash160 } from "../hash.ts"
import { Op, pushData } from "../script.ts"
import type { MiniscriptNode } from "./parse.ts"

/** Source: upstream `script/miniscript.h`, `Node::ToScript`. */

/** The key with this text as in the script: 33 bytes, or 32 in tapscript. */
type KeyBytes = (text: string) => Bytes

export const pushNumber = (value: number): Uint8Array => {
  if (value <= 16) return Uint8Array.of(Op.OP_1 + value - 1)
  const bytes: Array<number> = []
  for (let rest = value; rest > 0; rest = Math.floor(rest / 256)) bytes.push(rest % 256)
  // The top bit is the sign.
  if ((bytes[bytes.length - 1] ?? 0) >= 0x80) bytes.push(0)
  return pushData(Uint8Array.from(bytes))
}

const ops = (...opcodes: ReadonlyArray<number>): Uint8Array => Uint8Array.from(opcodes)

const HASH_OPCODES: Readonly<Record<string, number>> = {
  sha256: Op.OP_SHA256,
  hash256: Op.OP_HASH256,
  ripemd160: Op.OP_RIPEMD160,
  hash160: Op.OP_HASH160
}

const VERIFY: ReadonlyMap<number, number> = new Map([
  [Op.OP_CHECKSIG, Op.OP_CHECKSIGVERIFY],
  [Op.OP_CHECKMULTISIG, Op.OP_CHECKMULTISIGVERIFY],
  [Op.OP_EQUAL, Op.OP_EQUALVERIFY],
  [Op.OP_NUMEQUAL, Op.OP_NUMEQUALVERIFY]
])

/** The script of an expression that must succeed. Valid expressions end in an opcode, never in pushed bytes. */
const verified = (script: Bytes): Uint8Array => {
  const form = VERIFY.get(script[script.length - 1] ?? 0)
  return form === undefined ? concat(script, ops(Op.OP_VERIFY)) : concat(script.subarray(0, -1), ops(form))
}

/** The script of `multi_a` (BIP 387). */
export const multiAScript = (required: number, keys: ReadonlyArray<Bytes>): Uint8Array =>
  concat(
    ...keys.flatMap((key, at) => [pushData(key), ops(at === 0 ? Op.OP_CHECKSIG : Op.OP_CHECKSIGADD)]),
    pushNumber(required),
    ops(Op.OP_NUMEQUAL)
  )

/** With the keys in this order. */
export const multiScript = (required: number, keys: ReadonlyArray<Bytes>): Uint8Array =>
  concat(pushNumber(required), ...keys.map(pushData), pushNumber(keys.length), ops(Op.OP_CHECKMULTISIG))

const leafScript = ({ name, values }: MiniscriptNode, keyBytes: KeyBytes): Uint8Array => {
  const [first = "", ...others] = values
  const hash = HASH_OPCODES[name]
  if (hash !== undefined) {
    const digest = fromHex(first) ?? EMPTY
    return concat(
      ops(Op.OP_SIZE),
      pushNumber(32),
      ops(Op.OP_EQUALVERIFY, hash),
      pushData(digest),
      ops(Op.OP_EQUAL)
    )
  }
  switch (name) {
    case "0":
      return ops(Op.OP_0)
    case "1":
      return ops(Op.OP_1)
    case "pk_k":
      return pushData(keyBytes(first))
    case "pk_h":
      return concat(ops(Op.OP_DUP, Op.OP_HASH160), pushData(hash160(keyBytes(first))), ops(Op.OP_EQUALVERIFY))
    case "older":
      return concat(pushNumber(Number(first)), ops(Op.OP_CHECKSEQUENCEVERIFY))
    case "after":
      return concat(pushNumber(Number(first)), ops(Op.OP_CHECKLOCKTIMEVERIFY))
    case "multi":
      return multiScript(Number(first), others.map(keyBytes))
    case "multi_a":
      return multiAScript(Number(first), others.map(keyBytes))
    default:
      throw new TypeError(`unknown miniscript fragment ${name}`)
  }
}

const wrapperScript = (name: string, x: Bytes): Uint8Array => {
  switch (name) {
    case "a":
      return concat(ops(Op.OP_TOALTSTACK), x, ops(Op.OP_FROMALTSTACK))
    case "s":
      return concat(ops(Op.OP_SWAP), x)
    case "c":
      return concat(x, ops(Op.OP_CHECKSIG))
    case "d":
      return concat(ops(Op.OP_DUP, Op.OP_IF), x, ops(Op.OP_ENDIF))
    case "v":
      return verified(x)
    case "j":
      return concat(ops(Op.OP_SIZE, Op.OP_0NOTEQUAL, Op.OP_IF), x, ops(Op.OP_ENDIF))
    default:
      return concat(x, ops(Op.OP_0NOTEQUAL))
  }
}

const binaryScript = (name: string, x: Bytes, y: Bytes): Uint8Array => {
  switch (name) {
    case "and_v":
      return concat(x, y)
    case "and_b":
      return concat(x, y, ops(Op.OP_BOOLAND))
    case "or_b":
      return concat(x, y, ops(Op.OP_BOOLOR))
    case "or_c":
      return concat(x, ops(Op.OP_NOTIF), y, ops(Op.OP_ENDIF))
    case "or_d":
      return concat(x, ops(Op.OP_IFDUP, Op.OP_NOTIF), y, ops(Op.OP_ENDIF))
    default:
      return concat(ops(Op.OP_IF), x, ops(Op.OP_ELSE), y, ops(Op.OP_ENDIF))
  }
}

export const miniscriptScript = (tree: MiniscriptNode, keyBytes: KeyBytes): Uint8Array => {
  const subs = tree.of.map((each) => miniscriptScript(each, keyBytes))
  const [x, y, z] = subs
  if (x === undefined) return leafScript(tree, keyBytes)
  if (tree.name === "thresh") {
    const sums = subs.flatMap((sub, at) => at === 0 ? [sub] : [sub, ops(Op.OP_ADD)])
    return concat(...sums, pushNumber(Number(tree.values[0])), ops(Op.OP_EQUAL))
  }
  if (y === undefined) return wrapperScript(tree.name, x)
  if (z === undefined) return binaryScript(tree.name, x, y)
  return concat(x, ops(Op.OP_NOTIF), z, ops(Op.OP_ELSE), y, ops(Op.OP_ENDIF))
}
