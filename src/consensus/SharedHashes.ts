import type { Bytes } from "../protocol/bytes.ts"
import { sha256 } from "../protocol/hash.ts"
import { OUTPOINT_SIZE, outputSize, type Transaction } from "../protocol/transaction.ts"
import { compactSizeLength, Writer } from "../protocol/Writer.ts"
import type { Coin } from "./view.ts"

/** A buffer for hash input, shared by all callers because no use outlives its call. */
const parts = new Writer(1024)

/** A view, without the count. */
export const outputBytes = ({ bytes, hasWitness, inputs, outputs }: Transaction): Bytes => {
  let start = (hasWitness ? 6 : 4) + compactSizeLength(inputs.length) + compactSizeLength(outputs.length)
  for (const { scriptSig } of inputs) {
    start += OUTPOINT_SIZE + compactSizeLength(scriptSig.length) + scriptSig.length + 4
  }
  let end = start
  for (const output of outputs) end += outputSize(output)
  return bytes.subarray(start, end)
}

/**
 * Each is computed on first access. All are single SHA-256 (BIP 341); those that end in `Twice` are hashed again (BIP
 * 143).
 */
export class SharedHashes {
  private readonly transaction: Transaction
  private readonly coins: ReadonlyArray<Coin>
  private knownPrevouts: Uint8Array | undefined
  private knownSequences: Uint8Array | undefined
  private knownOutputs: Uint8Array | undefined
  private knownAmounts: Uint8Array | undefined
  private knownScripts: Uint8Array | undefined
  private knownPrevoutsTwice: Uint8Array | undefined
  private knownSequencesTwice: Uint8Array | undefined
  private knownOutputsTwice: Uint8Array | undefined
  private knownOutput: { readonly index: number; readonly hash: Uint8Array } | undefined

  constructor(transaction: Transaction, coins: ReadonlyArray<Coin>) {
    this.transaction = transaction
    this.coins = coins
  }

  get prevouts(): Uint8Array {
    return this.knownPrevouts ??= this.hashInputs((input) => parts.bytes(input.prevout))
  }

  get sequences(): Uint8Array {
    return this.knownSequences ??= this.hashInputs((input) => parts.u32(input.sequence))
  }

  get outputs(): Uint8Array {
    return this.knownOutputs ??= sha256(outputBytes(this.transaction))
  }

  get amounts(): Uint8Array {
    return this.knownAmounts ??= this.hashCoins((coin) => parts.i64(coin.value))
  }

  get scripts(): Uint8Array {
    return this.knownScripts ??= this.hashCoins((coin) => parts.varBytes(coin.script))
  }

  get prevoutsTwice(): Uint8Array {
    return this.knownPrevoutsTwice ??= sha256(this.prevouts)
  }

  get sequencesTwice(): Uint8Array {
    return this.knownSequencesTwice ??= sha256(this.sequences)
  }

  get outputsTwice(): Uint8Array {
    return this.knownOutputsTwice ??= sha256(this.outputs)
  }

  /** Cached, because the signatures of an input mostly cover the same output. */
  output(index: number): Uint8Array {
    if (this.knownOutput?.index === index) return this.knownOutput.hash
    const output = this.transaction.outputs[index]
    if (output === undefined) throw new RangeError(`the transaction has no output ${index}`)
    const hash = sha256(parts.clear().i64(output.value).varBytes(output.script).written())
    this.knownOutput = { index, hash }
    return hash
  }

  private hashInputs(write: (input: Transaction["inputs"][number]) => void): Uint8Array {
    parts.clear()
    for (const input of this.transaction.inputs) write(input)
    return sha256(parts.written())
  }

  private hashCoins(write: (coin: Coin) => void): Uint8Array {
    parts.clear()
    for (const coin of this.coins) write(coin)
    return sha256(parts.written())
  }
}
