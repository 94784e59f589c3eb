import { type Bytes, EMPTY, equal } from "../protocol/bytes.ts"
import { hash256, sha256, taggedHash } from "../protocol/hash.ts"
import { Op, ScriptCursor } from "../protocol/script.ts"
import { OUTPOINT_SIZE, type Transaction, type TransactionInput } from "../protocol/transaction.ts"
import { compactSizeLength, Writer } from "../protocol/Writer.ts"
import { outputBytes, SharedHashes } from "./SharedHashes.ts"
import type { Coin } from "./view.ts"

/** What a signature covers: the low bits choose the outputs, the high bit excludes the other inputs. */
export const Sighash = {
  /** Taproot only: like ALL, in a signature without a hash type byte. */
  DEFAULT: 0,
  ALL: 1,
  NONE: 2,
  SINGLE: 3,
  ANYONECANPAY: 0x80
} as const

/** Bytes of an input with an empty script: outpoint, length, sequence. */
const BLANK_INPUT_SIZE = OUTPOINT_SIZE + 5

const ZERO_HASH = new Uint8Array(32)

/** The hash of legacy SINGLE without a matching output: the number 1, an old bug that is now consensus. */
const ONE = Uint8Array.from(ZERO_HASH, (_, i) => i === 0 ? 1 : 0)

/** A buffer for hash input, shared by all callers because no use outlives its call. */
const preimage = new Writer(1024)

const coverage = (hashType: number): number => hashType & 0x1f

const anyoneCanPay = (hashType: number): boolean => (hashType & Sighash.ANYONECANPAY) !== 0

/** The script without its OP_CODESEPARATORs. A script that ends in a truncated push fails whatever its hash. */
const withoutCodeSeparators = (script: Bytes): Bytes => {
  if (!script.includes(Op.OP_CODESEPARATOR)) return script
  const kept = new Uint8Array(script.length)
  let size = 0
  let start = 0
  const keepUntil = (end: number): void => {
    kept.set(script.subarray(start, end), size)
    size += end - start
  }
  const cursor = new ScriptCursor(script)
  while (cursor.next()) {
    if (cursor.opcode !== Op.OP_CODESEPARATOR) continue
    keepUntil(cursor.offset - 1)
    start = cursor.offset
  }
  keepUntil(script.length)
  return kept.subarray(0, size)
}

/** The data that a taproot signature covers besides the transaction (BIP 341, BIP 342). */
export interface TaprootSpend {
  /** SHA-256 of the annex with its length; `undefined` without an annex. */
  readonly annexHash: Bytes | undefined
  /** Hash of the executed leaf; `undefined` for a key path spend. */
  readonly leafHash: Bytes | undefined
  /** Position of the last executed OP_CODESEPARATOR, counted in instructions; 2^32 - 1 for none. */
  readonly codeSeparator: number
}

interface LastHash {
  readonly index: number
  readonly hashType: number
  readonly scriptCode: Bytes
  readonly witness: boolean
  readonly hash: Uint8Array
}

const NO_LAST: LastHash = { index: -1, hashType: 0, scriptCode: EMPTY, witness: false, hash: ZERO_HASH }

/** The hashes that the signatures of one transaction sign. `coins` are those that its inputs spend, in order. */
export class SighashContext {
  readonly transaction: Transaction
  readonly coins: ReadonlyArray<Coin>
  private readonly shared: SharedHashes
  /** The serialization without input scripts and witnesses, the same for each input. */
  private blank: Uint8Array | undefined
  /** The keys of a multisig mostly need the same hash again. */
  private last = NO_LAST

  constructor(transaction: Transaction, coins: ReadonlyArray<Coin>) {
    if (coins.length !== transaction.inputs.length) {
      throw new RangeError(`${transaction.inputs.length} inputs need as many coins, not ${coins.length}`)
    }
    this.transaction = transaction
    this.coins = coins
    this.shared = new SharedHashes(transaction, coins)
  }

  input(index: number): TransactionInput {
    const input = this.transaction.inputs[index]
    if (input === undefined) throw new RangeError(`the transaction has no input ${index}`)
    return input
  }

  coin(index: number): Coin {
    const coin = this.coins[index]
    if (coin === undefined) throw new RangeError(`the transaction has no input ${index}`)
    return coin
  }

  /**
   * Outside of witnesses. `hashType` is the whole signed 32-bit value. The script code follows the last executed
   * OP_CODESEPARATOR, without the signature. Source: upstream `script/interpreter.cpp`, `SignatureHash`.
   */
  legacy(index: number, scriptCode: Bytes, hashType: number): Uint8Array {
    const covered = coverage(hashType)
    if (covered === Sighash.SINGLE && index >= this.transaction.outputs.length) return ONE
    const wanted = { index, hashType, scriptCode, witness: false }
    if (this.isLast(wanted)) return this.last.hash
    const script = withoutCodeSeparators(scriptCode)
    const partial = covered === Sighash.NONE || covered === Sighash.SINGLE || anyoneCanPay(hashType)
    if (partial) this.writePartial(index, script, hashType)
    else this.writeWhole(index, script)
    const hash = hash256(preimage.i32(hashType).written())
    this.last = { ...wanted, hash }
    return hash
  }

  /** BIP 143. */
  witnessV0(index: number, scriptCode: Bytes, hashType: number): Uint8Array {
    const wanted = { index, hashType, scriptCode, witness: true }
    if (this.isLast(wanted)) return this.last.hash
    const { shared, transaction } = this
    const input = this.input(index)
    const alone = anyoneCanPay(hashType)
    const covered = coverage(hashType)
    const single = covered === Sighash.SINGLE
    const all = !single && covered !== Sighash.NONE
    preimage.clear().u32(transaction.version)
      .bytes(alone ? ZERO_HASH : shared.prevoutsTwice)
      .bytes(alone || !all ? ZERO_HASH : shared.sequencesTwice)
      .bytes(input.prevout).varBytes(scriptCode).i64(this.coin(index).value).u32(input.sequence)
    if (all) preimage.bytes(shared.outputsTwice)
    else preimage.bytes(single && index < transaction.outputs.length ? sha256(shared.output(index)) : ZERO_HASH)
    const hash = hash256(preimage.u32(transaction.lockTime).i32(hashType).written())
    this.last = { ...wanted, hash }
    return hash
  }

  /**
   * BIP 341, BIP 342; `undefined` for an unknown hash type and for SINGLE without a matching output. Spent scripts
   * include their name prefixes (reference/protocol.md 5.2).
   */
  taproot(index: number, spend: TaprootSpend, hashType: number): Uint8Array | undefined {
    if (!(hashType <= 0x03 || (hashType >= 0x81 && hashType <= 0x83))) return undefined
    const { shared, transaction } = this
    const covered = hashType & 0x03
    if (covered === Sighash.SINGLE && index >= transaction.outputs.length) return undefined
    const input = this.input(index)
    preimage.clear().u8(0).u8(hashType).u32(transaction.version).u32(transaction.lockTime)
    if (!anyoneCanPay(hashType)) {
      preimage.bytes(shared.prevouts).bytes(shared.amounts).bytes(shared.scripts).bytes(shared.sequences)
    }
    if (covered === Sighash.DEFAULT || covered === Sighash.ALL) preimage.bytes(shared.outputs)
    preimage.u8((spend.leafHash === undefined ? 0 : 2) + (spend.annexHash === undefined ? 0 : 1))
    if (anyoneCanPay(hashType)) {
      const coin = this.coin(index)
      preimage.bytes(input.prevout).i64(coin.value).varBytes(coin.script).u32(input.sequence)
    } else preimage.u32(index)
    if (spend.annexHash !== undefined) preimage.bytes(spend.annexHash)
    if (covered === Sighash.SINGLE) preimage.bytes(shared.output(index))
    // The byte between is the key version, 0 for all existing keys.
    if (spend.leafHash !== undefined) preimage.bytes(spend.leafHash).u8(0).u32(spend.codeSeparator)
    return taggedHash("TapSighash", preimage.written())
  }

  private isLast({ hashType, index, scriptCode, witness }: Omit<LastHash, "hash">): boolean {
    const { last } = this
    return index === last.index && hashType === last.hashType && witness === last.witness &&
      equal(scriptCode, last.scriptCode)
  }

  private writeWhole(index: number, script: Bytes): void {
    const [input, another] = this.transaction.inputs
    if (input !== undefined && another === undefined) {
      // The template would be used only once and is not worth its memory.
      preimage.clear().u32(this.transaction.version).u8(1).bytes(input.prevout).varBytes(script).u32(input.sequence)
      this.writeEnd()
      return
    }
    const blank = this.blank ??= this.makeBlank()
    const at = 4 + compactSizeLength(this.transaction.inputs.length) + index * BLANK_INPUT_SIZE + OUTPOINT_SIZE
    preimage.clear().bytes(blank.subarray(0, at)).varBytes(script).bytes(blank.subarray(at + 1))
  }

  private makeBlank(): Uint8Array {
    const { inputs, version } = this.transaction
    preimage.clear().u32(version).compactSize(inputs.length)
    for (const input of inputs) preimage.bytes(input.prevout).u8(0).u32(input.sequence)
    this.writeEnd()
    return preimage.toBytes()
  }

  private writeEnd(): void {
    const { lockTime, outputs } = this.transaction
    preimage.compactSize(outputs.length).bytes(outputBytes(this.transaction)).u32(lockTime)
  }

  /** For hash types other than ALL. */
  private writePartial(index: number, script: Bytes, hashType: number): void {
    const { inputs, lockTime, outputs, version } = this.transaction
    const covered = coverage(hashType)
    preimage.clear().u32(version)
    if (anyoneCanPay(hashType)) {
      const input = this.input(index)
      preimage.u8(1).bytes(input.prevout).varBytes(script).u32(input.sequence)
    } else {
      preimage.compactSize(inputs.length)
      inputs.forEach((input, i) => {
        preimage.bytes(input.prevout)
        if (i === index) preimage.varBytes(script).u32(input.sequence)
        else preimage.u8(0).u32(0)
      })
    }
    const output = outputs[index]
    if (covered === Sighash.NONE) preimage.u8(0).u32(lockTime)
    else if (covered === Sighash.SINGLE && output !== undefined) {
      preimage.compactSize(index + 1)
      for (let i = 0; i < index; i++) preimage.i64(-1).u8(0)
      preimage.i64(output.value).varBytes(output.script).u32(lockTime)
    } else this.writeEnd()
  }
}
