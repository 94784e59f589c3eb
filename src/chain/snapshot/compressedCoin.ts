import { secp256k1 } from "@noble/curves/secp256k1.js"
import type { Coin } from "../../consensus/view.ts"
import { isMoney } from "../../protocol/amount.ts"
import { type Bytes, concat } from "../../protocol/bytes.ts"
import { isPayToPubkeyHash, isPayToScriptHash, MAX_SCRIPT_SIZE, Op } from "../../protocol/script.ts"
import type { Writer } from "../../protocol/Writer.ts"

// The format of a coin in a snapshot file: VARINT(2·height + coinbase), VARINT(compressed amount), compressed script.
// Source: upstream `coins.h`, `Coin::Serialize`; `compressor.cpp`; `serialize.h`, `WriteVarInt`.

/** Smaller numbers before a script are forms, others its length plus this number. */
const FORMS = 6

const digits = new Uint8Array(10)

/** Writes a number in base 128, highest digit first. Each digit but the last has its high bit set and counts from 1. */
export const writeVarInt = (writer: Writer, value: number | bigint): Writer => {
  if (typeof value === "bigint") return writeBigVarInt(writer, value)
  if (value < 0x80) return writer.u8(value)
  let at = digits.length - 1
  digits[at] = value % 128
  for (let left = value; left > 0x7f;) {
    left = Math.floor(left / 128) - 1
    digits[--at] = (left % 128) | 0x80
  }
  return writer.bytes(digits.subarray(at))
}

const writeBigVarInt = (writer: Writer, value: bigint): Writer => {
  let at = digits.length - 1
  digits[at] = Number(value & 0x7fn)
  for (let left = value; left > 0x7fn;) {
    left = (left >> 7n) - 1n
    digits[--at] = Number(left & 0x7fn) | 0x80
  }
  return writer.bytes(digits.subarray(at))
}

/** Larger amounts may have compressed forms that a double cannot hold. */
const MOST_AS_DOUBLE = 9e14

/** The amount without up to nine trailing zeros, whose number is the last decimal digit of the result. */
export const compressAmount = (amount: number): number | bigint => {
  if (amount === 0) return 0
  let rest = amount
  let zeros = 0
  for (; zeros < 9 && rest % 10 === 0; zeros++) rest /= 10
  if (zeros === 9) return 10 * rest
  const digit = rest % 10
  const tens = (rest - digit) / 10
  return rest > MOST_AS_DOUBLE
    ? 1n + 10n * (9n * BigInt(tens) + BigInt(digit) - 1n) + BigInt(zeros)
    : 1 + 10 * (9 * tens + digit - 1) + zeros
}

/** The amount of a compressed form; `undefined` above the supply. */
export const decompressAmount = (compressed: number | bigint): number | undefined => {
  const amount = typeof compressed === "bigint" ? Number(decompressBig(compressed)) : decompressDouble(compressed)
  return isMoney(amount) ? amount : undefined
}

const decompressDouble = (compressed: number): number => {
  if (compressed === 0) return 0
  const zeros = (compressed - 1) % 10
  const rest = (compressed - 1 - zeros) / 10
  if (zeros === 9) return (rest + 1) * 1e9
  const digit = rest % 9 + 1
  return ((rest - (digit - 1)) / 9 * 10 + digit) * 10 ** zeros
}

const decompressBig = (compressed: bigint): bigint => {
  const zeros = (compressed - 1n) % 10n
  const rest = (compressed - 1n) / 10n
  if (zeros === 9n) return (rest + 1n) * 1_000_000_000n
  return (rest / 9n * 10n + rest % 9n + 1n) * 10n ** zeros
}

const isShortKey = (script: Bytes): boolean =>
  script.length === 35 && script[0] === 33 && script[34] === Op.OP_CHECKSIG && (script[1] === 2 || script[1] === 3)

/** Whether a script pays a 65-byte key on the curve, the only such key with a compressed form. */
const isLongKey = (script: Bytes): boolean => {
  if (script.length !== 67 || script[0] !== 65 || script[1] !== 4 || script[66] !== Op.OP_CHECKSIG) return false
  try {
    secp256k1.Point.fromBytes(script.subarray(1, 66))
    return true
  } catch {
    return false
  }
}

const writeScript = (writer: Writer, script: Bytes): Writer => {
  if (isPayToPubkeyHash(script)) return writer.u8(0).bytes(script.subarray(3, 23))
  if (isPayToScriptHash(script)) return writer.u8(1).bytes(script.subarray(2, 22))
  if (isShortKey(script)) return writer.bytes(script.subarray(1, 34))
  if (isLongKey(script)) return writer.u8(4 | (script[65] ?? 0) & 1).bytes(script.subarray(2, 34))
  return writeVarInt(writer, script.length + FORMS).bytes(script)
}

export const writeCompressedCoin = (writer: Writer, { coinbase, height, script, value }: Coin): Writer => {
  writeVarInt(writer, 2 * height + (coinbase ? 1 : 0))
  return writeScript(writeVarInt(writer, compressAmount(value)), script)
}

/** The bytes after the number before a compressed script; `undefined` if no coin has such a script. */
export const scriptBytesAfter = (form: number | bigint): number | undefined => {
  if (typeof form === "bigint") return undefined
  if (form < FORMS) return form < 2 ? 20 : 32
  return form - FORMS > MAX_SCRIPT_SIZE ? undefined : form - FORMS
}

/** The keys decompressed last. Old miners paid to few keys, and one costs 0.1 ms. */
const longKeys = new Map<string, Uint8Array>()
const MOST_LONG_KEYS = 1_000

const longKey = (compressed: Uint8Array): Uint8Array | undefined => {
  const id = Buffer.from(compressed).toString("latin1")
  const known = longKeys.get(id)
  if (known !== undefined) return known
  try {
    const key = secp256k1.Point.fromBytes(compressed).toBytes(false)
    if (longKeys.size >= MOST_LONG_KEYS) longKeys.clear()
    longKeys.set(id, key)
    return key
  } catch {
    return undefined
  }
}

/** The script of a compressed form. `bytes` are copied. Returns `undefined` for a key off the curve. */
export const decompressScript = (form: number, bytes: Bytes): Uint8Array | undefined => {
  switch (form) {
    case 0: {
      const script = TO_KEY_HASH.slice()
      script.set(bytes, 3)
      return script
    }
    case 1: {
      const script = TO_SCRIPT_HASH.slice()
      script.set(bytes, 2)
      return script
    }
    case 2:
    case 3:
      return concat(Uint8Array.of(33, form), bytes, CHECKSIG)
    case 4:
    case 5: {
      const key = longKey(concat(Uint8Array.of(form - 2), bytes))
      return key === undefined ? undefined : concat(Uint8Array.of(65), key, CHECKSIG)
    }
    default:
      return bytes.slice()
  }
}

const NO_HASH = new Uint8Array(20)

const TO_KEY_HASH = Uint8Array.of(Op.OP_DUP, Op.OP_HASH160, 20, ...NO_HASH, Op.OP_EQUALVERIFY, Op.OP_CHECKSIG)

const TO_SCRIPT_HASH = Uint8Array.of(Op.OP_HASH160, 20, ...NO_HASH, Op.OP_EQUAL)

const CHECKSIG = Uint8Array.of(Op.OP_CHECKSIG)
