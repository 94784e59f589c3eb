import { type Bytes, toHex } from "../bytes.ts"
import { Op } from "../script.ts"
import { isCompressedKey, minimalNumber } from "../scriptOperations.ts"
import {
  after,
  andor,
  binary,
  type Expression,
  hashExpression,
  type HashFunction,
  key,
  keyHash,
  type MiniscriptContext,
  multi,
  multiA,
  older,
  one,
  thresh,
  wrap,
  zero
} from "./expressions.ts"
import { END, type Instruction } from "./instructions.ts"
import { type Binary, isTyped, type Wrapper } from "./types.ts"

const HASHES: ReadonlyMap<number, { readonly name: HashFunction; readonly size: number }> = new Map([
  [Op.OP_SHA256, { name: "sha256", size: 32 }],
  [Op.OP_HASH256, { name: "hash256", size: 32 }],
  [Op.OP_RIPEMD160, { name: "ripemd160", size: 20 }],
  [Op.OP_HASH160, { name: "hash160", size: 20 }]
])

const MAX_MULTISIG_KEYS = 20

/** Maximum keys in a `multi_a` (BIP 387). */
const MAX_TAPSCRIPT_KEYS = 999

const KEY_HASH_SIZE = 20
const X_SIZE = 32

/** The size of every preimage, which each hash expression checks first. */
const PREIMAGE_SIZE = 32

/** Opcodes that cannot end an expression, so no `and_v` has its first part before them. */
const NO_ENDS: ReadonlySet<number> = new Set([
  Op.OP_IF,
  Op.OP_ELSE,
  Op.OP_NOTIF,
  Op.OP_TOALTSTACK,
  Op.OP_SWAP
])

/** Returns false if the script is not a miniscript. */
type Step = () => boolean

/** The context of a script, and the keys its reader knows. */
export interface MiniscriptReader {
  readonly context: MiniscriptContext
  /** The key with this HASH160 as the script would contain it, if known. */
  readonly keyWithHash: (hash: Bytes) => Bytes | undefined
}

interface ThreshRead {
  readonly parts: number
  readonly count: number
}

/** Reads from the last instruction to the first. Pending steps wait on a stack, so scripts may nest to any depth. */
export class Decoder {
  /** The keys in the script, in reading order. */
  readonly keys: Array<string> = []
  readonly #items: ReadonlyArray<Instruction>
  readonly #reader: MiniscriptReader
  #at = 0
  readonly #steps: Array<Step> = []
  readonly #built: Array<Expression> = []

  constructor(items: ReadonlyArray<Instruction>, reader: MiniscriptReader) {
    this.#items = items
    this.#reader = reader
  }

  decode(): Expression | undefined {
    this.#steps.push(this.#expression)
    for (let step = this.#steps.pop(); step !== undefined; step = this.#steps.pop()) {
      if (!step()) return undefined
    }
    return this.#at === this.#items.length && this.#built.length === 1 ? this.#built[0] : undefined
  }

  #peek(ahead = 0): Instruction {
    return this.#items[this.#at + ahead] ?? END
  }

  #opcodes(...opcodes: ReadonlyArray<number>): boolean {
    return opcodes.every((opcode, ahead) => this.#peek(ahead).opcode === opcode)
  }

  #number(ahead: number): number | undefined {
    const { data, opcode } = this.#peek(ahead)
    return opcode === END.opcode ? undefined : minimalNumber(opcode, data)
  }

  #do(...steps: ReadonlyArray<Step>): true {
    for (const step of steps.toReversed()) this.#steps.push(step)
    return true
  }

  #take(count: number): void {
    this.#at += count
  }

  #build(expression: Expression): boolean {
    this.#built.push(expression)
    return isTyped(expression.type)
  }

  #wrap(wrapper: Wrapper): boolean {
    const of = this.#built.pop()
    return of !== undefined && this.#build(wrap(wrapper, of, this.#reader.context))
  }

  /** The one read last comes first in the script. */
  #combine(name: Binary): boolean {
    const first = this.#built.pop()
    const second = this.#built.pop()
    return first !== undefined && second !== undefined && this.#build(binary(name, first, second))
  }

  /** An expression with the ones that `and_v` puts before it. */
  readonly #expression: Step = () => this.#do(this.#single, this.#andV)

  readonly #andV: Step = () => {
    const { opcode } = this.#peek()
    if (opcode === END.opcode || NO_ENDS.has(opcode)) return true
    return this.#do(this.#expression, () => this.#combine("and_v"))
  }

  /** An expression without a wrapper by OP_SWAP or the alternative stack, and not an `and_v`. */
  readonly #single: Step = () => {
    const { data, opcode } = this.#peek()
    if (opcode === Op.OP_0 || opcode === Op.OP_1) {
      this.#take(1)
      return this.#build(opcode === Op.OP_0 ? zero : one)
    }
    if (data.length === 32 || data.length === 33) return this.#key()
    if (this.#isKeyHash()) return this.#keyHash()
    switch (opcode) {
      case Op.OP_CHECKSEQUENCEVERIFY:
        return this.#lock(older)
      case Op.OP_CHECKLOCKTIMEVERIFY:
        return this.#lock(after)
      case Op.OP_EQUAL:
        return this.#hash() ?? this.#thresh()
      case Op.OP_CHECKMULTISIG:
        return this.#reader.context === "P2WSH" && this.#multi()
      case Op.OP_NUMEQUAL:
        return this.#reader.context === "tapscript" && this.#multiA()
      default:
        return this.#composed(opcode)
    }
  }

  /** Expressions around others. Except before OP_ENDIF, an `and_v` is decoded outside of them: same script. */
  #composed(opcode: number): boolean {
    this.#take(1)
    switch (opcode) {
      case Op.OP_CHECKSIG:
        return this.#do(this.#single, () => this.#wrap("c"))
      case Op.OP_VERIFY:
        return this.#do(this.#single, () => this.#wrap("v"))
      case Op.OP_0NOTEQUAL:
        return this.#do(this.#single, () => this.#wrap("n"))
      case Op.OP_BOOLAND:
        return this.#do(this.#wrapped, this.#single, () => this.#combine("and_b"))
      case Op.OP_BOOLOR:
        return this.#do(this.#wrapped, this.#single, () => this.#combine("or_b"))
      case Op.OP_ENDIF:
        return this.#do(this.#expression, this.#condition)
      default:
        return false
    }
  }

  #addKey(bytes: Bytes): boolean {
    this.keys.push(toHex(bytes))
    return this.#reader.context === "tapscript" ? bytes.length === X_SIZE : isCompressedKey(bytes)
  }

  #isKeyHash(): boolean {
    return this.#opcodes(Op.OP_VERIFY, Op.OP_EQUAL) && this.#peek(2).data.length === KEY_HASH_SIZE &&
      this.#peek(3).opcode === Op.OP_HASH160 && this.#peek(4).opcode === Op.OP_DUP
  }

  #keyHash(): boolean {
    const bytes = this.#reader.keyWithHash(this.#peek(2).data)
    this.#take(5)
    return bytes !== undefined && this.#addKey(bytes) && this.#build(keyHash(toHex(bytes)))
  }

  #key(): boolean {
    const { data } = this.#peek()
    this.#take(1)
    return this.#addKey(data) && this.#build(key(toHex(data)))
  }

  #lock(make: (lock: number) => Expression): boolean {
    const lock = this.#number(1)
    this.#take(2)
    return lock !== undefined && lock >= 1 && this.#build(make(lock))
  }

  /** OP_SIZE 32 OP_EQUALVERIFY, a hash opcode, a digest, OP_EQUAL. `undefined` for other instructions. */
  #hash(): boolean | undefined {
    const { data: digest } = this.#peek(1)
    const wanted = HASHES.get(this.#peek(2).opcode)
    const isPreimage = this.#peek(3).opcode === Op.OP_VERIFY && this.#peek(4).opcode === Op.OP_EQUAL &&
      this.#number(5) === PREIMAGE_SIZE && this.#peek(6).opcode === Op.OP_SIZE
    if (!isPreimage || wanted === undefined || digest.length !== wanted.size) return undefined
    this.#take(7)
    return this.#build(hashExpression(wanted.name, digest))
  }

  #multi(): boolean {
    const count = this.#number(1)
    if (count === undefined || count < 1 || count > MAX_MULTISIG_KEYS) return false
    const keys = Array.from({ length: count }, (_, at) => this.#peek(2 + at).data)
    const required = this.#number(2 + count)
    if (required === undefined || required < 1 || required > count) return false
    this.#take(3 + count)
    return keys.every((bytes) => this.#addKey(bytes)) && this.#build(multi(required, keys.reverse().map(toHex)))
  }

  #multiA(): boolean {
    const required = this.#number(1)
    this.#take(2)
    const keys: Array<Bytes> = []
    for (let isFirst = false; !isFirst;) {
      const { opcode } = this.#peek()
      isFirst = opcode === Op.OP_CHECKSIG
      if (!isFirst && opcode !== Op.OP_CHECKSIGADD) return false
      keys.push(this.#peek(1).data)
      this.#take(2)
    }
    if (required === undefined || required < 1 || required > keys.length || keys.length > MAX_TAPSCRIPT_KEYS) {
      return false
    }
    return keys.every((bytes) => this.#addKey(bytes)) && this.#build(multiA(required, keys.reverse().map(toHex)))
  }

  #thresh(): boolean {
    const count = this.#number(1)
    if (count === undefined || count < 1) return false
    this.#take(2)
    return this.#threshPart({ parts: 0, count })
  }

  /** The parts of a `thresh`. All but the first are wrapped and end in OP_ADD. */
  #threshPart({ count, parts }: ThreshRead): boolean {
    if (!this.#opcodes(Op.OP_ADD)) return this.#do(this.#single, () => this.#threshEnd({ parts: parts + 1, count }))
    this.#take(1)
    return this.#do(this.#wrapped, () => this.#threshPart({ parts: parts + 1, count }))
  }

  #threshEnd({ count, parts }: ThreshRead): boolean {
    if (count > parts || this.#built.length < parts) return false
    return this.#build(thresh(count, this.#built.splice(-parts).reverse()))
  }

  /** An expression that takes its input from below the top of the stack. */
  readonly #wrapped: Step = () => {
    const alternative = this.#opcodes(Op.OP_FROMALTSTACK)
    if (alternative) this.#take(1)
    return this.#do(this.#expression, () => {
      if (!this.#opcodes(alternative ? Op.OP_TOALTSTACK : Op.OP_SWAP)) return false
      this.#take(1)
      return this.#wrap(alternative ? "a" : "s")
    })
  }

  readonly #condition: Step = () => {
    if (this.#opcodes(Op.OP_ELSE)) {
      this.#take(1)
      return this.#do(this.#expression, this.#alternatives)
    }
    if (this.#opcodes(Op.OP_IF, Op.OP_DUP)) {
      this.#take(2)
      return this.#wrap("d")
    }
    if (this.#opcodes(Op.OP_IF, Op.OP_0NOTEQUAL, Op.OP_SIZE)) {
      this.#take(3)
      return this.#wrap("j")
    }
    if (!this.#opcodes(Op.OP_NOTIF)) return false
    this.#take(1)
    const keeps = this.#opcodes(Op.OP_IFDUP)
    if (keeps) this.#take(1)
    return this.#do(this.#single, () => this.#combine(keeps ? "or_d" : "or_c"))
  }

  readonly #alternatives: Step = () => {
    const isIf = this.#opcodes(Op.OP_IF)
    if (!isIf && !this.#opcodes(Op.OP_NOTIF)) return false
    this.#take(1)
    return isIf ? this.#combine("or_i") : this.#do(this.#single, () => this.#andor())
  }

  #andor(): boolean {
    const [second, third, first] = this.#built.splice(-3)
    if (first === undefined || second === undefined || third === undefined) return false
    return this.#build(andor(first, second, third))
  }
}
