import { binaryString, type Bytes, EMPTY, fromHex } from "../../protocol/bytes.ts"
import { decodeMiniscript } from "../../protocol/miniscript/decode.ts"
import type { MiniscriptContext } from "../../protocol/miniscript/expressions.ts"
import { type MiniscriptNode, parseMiniscript } from "../../protocol/miniscript/parse.ts"
import type { PreimageKind } from "../../protocol/psbt/Psbt.ts"
import { compactSizeLength } from "../../protocol/Writer.ts"
import { ecdsaSignature, findPubkey, type Work } from "./Work.ts"

/** The smallest non-malleable witness. Rules: the miniscript specification, "Satisfaction and malleability". */

/** Witness elements; `undefined` if impossible. The last one is on top. */
interface Input {
  readonly items: ReadonlyArray<Bytes>
  /** Bytes in the witness. */
  readonly size: number
  readonly hasSignature: boolean
  /** Whether a third party can replace these elements. */
  readonly malleable: boolean
}

type Option = Input | undefined

interface Ways {
  readonly sat: Option
  readonly dsat: Option
}

/** Consensus limit. A script with more opcodes is unspendable and skipped. */
const MAX_OPCODES = 201

const element = (item: Bytes): Input => ({
  items: [item],
  size: compactSizeLength(item.length) + item.length,
  hasSignature: false,
  malleable: false
})

const NOTHING: Input = { items: [], size: 0, hasSignature: false, malleable: false }
const ZERO = element(EMPTY)
const ONE = element(Uint8Array.of(1))

const signed = (signature: Bytes | undefined): Option =>
  signature === undefined ? undefined : { ...element(signature), hasSignature: true }

const malleable = (input: Option): Option => input === undefined ? undefined : { ...input, malleable: true }

/** The first input is deepest. */
const join = (...inputs: ReadonlyArray<Option>): Option => {
  let all = NOTHING
  for (const input of inputs) {
    if (input === undefined) return undefined
    all = {
      items: [...all.items, ...input.items],
      size: all.size + input.size,
      hasSignature: all.hasSignature || input.hasSignature,
      malleable: all.malleable || input.malleable
    }
  }
  return all
}

const better = (a: Option, b: Option): Option => {
  if (a === undefined || b === undefined) return a ?? b
  // A third party without the signature can still choose the option that needs none.
  if (a.hasSignature !== b.hasSignature) return a.hasSignature ? b : a
  const smaller = a.size <= b.size ? a : b
  if (!a.hasSignature) return malleable(smaller)
  if (a.malleable !== b.malleable) return a.malleable ? b : a
  return smaller
}

const choose = (...options: ReadonlyArray<Option>): Option => options.reduce(better, undefined)

const HASHES: Readonly<Record<string, PreimageKind>> = {
  sha256: "sha256",
  hash256: "hash256",
  ripemd160: "ripemd160",
  hash160: "hash160"
}

const bytesOf = (text: string | undefined): Bytes => fromHex(text ?? "") ?? EMPTY

/** Any 32 bytes other than the preimage dissatisfy a hash. */
const NO_PREIMAGE = malleable(element(new Uint8Array(32)))

/** For a key as the script contains it; known or new. */
type SignatureOf = (key: Bytes) => Bytes | undefined

class Satisfier {
  private readonly work: Work
  private readonly signatureOf: SignatureOf

  constructor(work: Work, signatureOf: SignatureOf) {
    this.work = work
    this.signatureOf = signatureOf
  }

  ways({ name, of, values }: MiniscriptNode): Ways {
    const all = of.map((each) => this.ways(each))
    if (name === "thresh") return thresh(Number(values[0]), all)
    const [x, y, z] = all
    if (x === undefined) return this.leaf(name, values)
    if (y === undefined) return wrapper(name, x)
    return z === undefined ? binary(name, x, y) : {
      sat: choose(join(y.sat, x.sat), join(z.sat, x.dsat)),
      dsat: choose(join(z.dsat, x.dsat), join(y.dsat, x.sat))
    }
  }

  private signature(key: string | undefined): Option {
    return signed(this.signatureOf(bytesOf(key)))
  }

  private leaf(name: string, values: ReadonlyArray<string>): Ways {
    const { creator, data } = this.work
    const [first] = values
    const kind = HASHES[name]
    if (kind !== undefined) {
      const preimage = data.preimages[kind].get(binaryString(bytesOf(first)))?.preimage
      return { sat: preimage?.length === 32 ? element(preimage) : undefined, dsat: NO_PREIMAGE }
    }
    switch (name) {
      case "pk_k":
        return { sat: this.signature(first), dsat: ZERO }
      case "pk_h": {
        const key = element(bytesOf(first))
        return { sat: join(this.signature(first), key), dsat: join(ZERO, key) }
      }
      case "multi":
        return this.multi(Number(first), values.slice(1))
      case "multi_a":
        return this.multiA(Number(first), values.slice(1))
      case "older":
        return { sat: creator.allowsOlder(Number(first)) ? NOTHING : undefined, dsat: undefined }
      case "after":
        return { sat: creator.allowsAfter(Number(first)) ? NOTHING : undefined, dsat: undefined }
      case "1":
        return { sat: NOTHING, dsat: undefined }
      default:
        return { sat: undefined, dsat: name === "0" ? NOTHING : undefined }
    }
  }

  private multi(required: number, keys: ReadonlyArray<string>): Ways {
    const signatures = keys.flatMap((key) => this.signature(key) ?? [])
    const sat = signatures.length < required ? undefined : join(ZERO, ...signatures.slice(0, required))
    return { sat, dsat: join(...Array.from({ length: required + 1 }, () => ZERO)) }
  }

  /** One element per key; that of the first key is on top. */
  private multiA(required: number, keys: ReadonlyArray<string>): Ways {
    let left = required
    const elements = keys.map((key) => this.signature(key)).map((signature) =>
      signature !== undefined && left-- > 0 ? signature : ZERO
    )
    return { sat: left > 0 ? undefined : join(...elements.reverse()), dsat: join(...keys.map(() => ZERO)) }
  }
}

const wrapper = (name: string, x: Ways): Ways => {
  switch (name) {
    case "d":
      return { sat: join(x.sat, ONE), dsat: ZERO }
    case "v":
      return { sat: x.sat, dsat: undefined }
    case "j":
      return { sat: x.sat, dsat: x.dsat === undefined || x.dsat.hasSignature ? ZERO : malleable(ZERO) }
    default:
      return x
  }
}

const binary = (name: string, x: Ways, y: Ways): Ways => {
  switch (name) {
    case "and_v":
      return { sat: join(y.sat, x.sat), dsat: join(y.dsat, x.sat) }
    case "and_b":
      return {
        sat: join(y.sat, x.sat),
        dsat: choose(join(y.dsat, x.dsat), malleable(join(y.sat, x.dsat)), malleable(join(y.dsat, x.sat)))
      }
    case "or_b":
      return {
        sat: choose(join(y.dsat, x.sat), join(y.sat, x.dsat), malleable(join(y.sat, x.sat))),
        dsat: join(y.dsat, x.dsat)
      }
    case "or_c":
      return { sat: choose(x.sat, join(y.sat, x.dsat)), dsat: undefined }
    case "or_d":
      return { sat: choose(x.sat, join(y.sat, x.dsat)), dsat: join(y.dsat, x.dsat) }
    case "or_i":
      return {
        sat: choose(join(x.sat, ONE), join(y.sat, ZERO)),
        dsat: choose(join(x.dsat, ONE), join(y.dsat, ZERO))
      }
    default:
      return { sat: undefined, dsat: undefined }
  }
}

const thresh = (required: number, subs: ReadonlyArray<Ways>): Ways => {
  // By number of satisfied subexpressions so far; the last subexpression is deepest.
  let totals: ReadonlyArray<Option> = [NOTHING]
  for (const { dsat, sat } of subs.toReversed()) {
    totals = Array.from(
      { length: totals.length + 1 },
      (_, count) =>
        choose(
          count < totals.length ? join(totals[count], dsat) : undefined,
          count > 0 ? join(totals[count - 1], sat) : undefined
        )
    )
  }
  const others = totals.map((total, count) => count === required ? undefined : count === 0 ? total : malleable(total))
  return { sat: totals[required], dsat: choose(...others) }
}

interface Satisfaction {
  readonly context: MiniscriptContext
  readonly signatureOf: SignatureOf
}

const satisfy = (
  work: Work,
  script: Bytes,
  { context, signatureOf }: Satisfaction
): ReadonlyArray<Bytes> | undefined => {
  const keyWithHash = (hash: Bytes): Bytes | undefined =>
    context === "tapscript" ? findPubkey(work, hash)?.subarray(-32) : findPubkey(work, hash)
  const expression = decodeMiniscript(script, { context, keyWithHash })?.expression
  if (expression === undefined || (context === "P2WSH" && expression.opcodes > MAX_OPCODES)) return undefined
  const tree = parseMiniscript(expression.text, { context, key: (text) => text })
  if (tree === undefined) return undefined
  const { sat } = new Satisfier(work, signatureOf).ways(tree)
  return sat === undefined || sat.malleable || !sat.hasSignature ? undefined : sat.items
}

/** Without the script; `undefined` if there is none yet, or only a malleable one. */
export const satisfyMiniscript = (work: Work, script: Bytes): ReadonlyArray<Bytes> | undefined =>
  satisfy(work, script, {
    context: "P2WSH",
    signatureOf: (key) => ecdsaSignature(work, key, { script, inWitness: true })
  })

/** For a tapscript leaf, without the control block. */
export const satisfyTapMiniscript = (
  work: Work,
  script: Bytes,
  signatureOf: SignatureOf
): ReadonlyArray<Bytes> | undefined => satisfy(work, script, { context: "tapscript", signatureOf })
