import { isHex } from "../protocol/bytes.ts"
import type { Height } from "../protocol/keys.ts"

// A portable proof of a name's value: JSON that anyone can check without a chain (docs/proofs.md).

/** The format and its version, in the member `svcd`. */
export const NAME_PROOF = "name-proof/1"

/** Maximum number of headers after the header of the newest operation. */
export const MOST_FOLLOWING = 24

/** Maximum number of operations in a proof. For a longer history, the proof does not go back to the registration. */
export const MOST_OPERATIONS = 200

/** Maximum length of a proof's JSON in characters. With 200 operations of usual size, it has 700,000. */
export const LONGEST_PROOF = 2_000_000

/** Maximum number of hashes in a branch. A block holds at most 16,666 transactions, if all are of the smallest size. */
export const LONGEST_BRANCH = 15

/** An operation on the name, in its block. Bytes are in hex, hashes in display order, as JSON-RPC shows them. */
export interface NameProofOperation {
  readonly height: Height
  /** The whole transaction, with witnesses. */
  readonly tx: string
  /** The output with the name. */
  readonly vout: number
  /** The merkle branch of the transaction, from its neighbour upwards. */
  readonly branch: ReadonlyArray<string>
  /** The position of the transaction in the block. */
  readonly pos: number
  /**
   * The coinbase of the block and its branch. They prove the height (BIP 34), which headers lack, and the depth of the
   * tree. Without them, only the server claims the height.
   */
  readonly coinbase?: { readonly tx: string; readonly branch: ReadonlyArray<string> }
  /**
   * The header of the block with its merged-mining proof, as in blocks on the wire. After the header of the newest
   * operation, the list has up to 24 headers of the next blocks. Other operations have only their own.
   */
  readonly headers: ReadonlyArray<string>
}

/**
 * The last block of the node's chain. The time in its header reveals an old proof. Its coinbase has the height from
 * which the expiry of the name is counted.
 */
export interface ProofTip extends Pick<NameProofOperation, "coinbase"> {
  readonly height: Height
  readonly hash: string
  /** With the merged-mining proof. */
  readonly header: string
}

/** A node's statement about a name, with the data to check it. */
export interface NameProof {
  readonly svcd: typeof NAME_PROOF
  readonly network: "main" | "test" | "regtest"
  /** In hex. */
  readonly name: string
  /** Newest first. Each spends the name's coin from the next operation in the list. */
  readonly operations: ReadonlyArray<NameProofOperation>
  readonly asOf: ProofTip
  /** The height of the registration since which the name has been alive without a gap. */
  readonly since?: Height
}

/**
 * Reasons that a reader can act on: the name has expired, there are too few confirmations, the clock is wrong, the proof
 * is for another network, is older than a day, or is not JSON.
 */
export const PROOF_FAILURES = ["expired", "confirmations", "future", "network", "old", "unreadable"] as const

/** The reason why a proof is invalid: one sentence without a full stop. */
export interface ProofFailure {
  readonly failed: string
  /** Reasons of a false proof have none. */
  readonly code?: (typeof PROOF_FAILURES)[number]
}

export const isFailure = (outcome: object): outcome is ProofFailure => "failed" in outcome

/** Thrown for a part with the wrong form. */
class Misshapen extends Error {}

const refuse = (sentence: string): never => {
  throw new Misshapen(sentence)
}

type Members = Readonly<Record<string, unknown>>

const isMembers = (value: unknown): value is Members =>
  typeof value === "object" && value !== null && !Array.isArray(value)

const members = (value: unknown, where: string, known: ReadonlyArray<string>): Members => {
  if (!isMembers(value)) return refuse(`${where} is not an object`)
  for (const key in value) if (!known.includes(key)) refuse(`${where} has an unknown member`)
  return value
}

const whole = (value: unknown, where: string, most: number): number =>
  typeof value === "number" && Number.isInteger(value) && value >= 0 && value <= most
    ? value
    : refuse(`${where} is not a whole number up to ${most}`)

const list = <A>(
  value: unknown,
  { most, where }: { readonly most: number; readonly where: string },
  each: (item: unknown) => A
) =>
  Array.isArray(value) && value.length <= most
    ? Array.from(value, (item: unknown) => each(item))
    : refuse(`${where} is not a list of at most ${most} items`)

/** 2^31 - 1, above the height of any chain. */
const MOST_HEIGHT = 0x7fffffff

/** Copies untrusted input into a proof, and counts its characters. */
class ProofParser {
  #left = LONGEST_PROOF

  #hex(value: unknown, where: string, length?: number): string {
    if (typeof value !== "string") return refuse(`${where} is not a text`)
    this.#left -= value.length
    if (this.#left < 0) refuse(`the proof has more than ${LONGEST_PROOF} characters`)
    if (length !== undefined && value.length !== length) refuse(`${where} does not have ${length} characters`)
    return isHex(value) ? value : refuse(`${where} is not hexadecimal`)
  }

  #hash = (value: unknown, where: string): string => this.#hex(value, where, 64)

  #branch(value: unknown): ReadonlyArray<string> {
    return list(value, { most: LONGEST_BRANCH, where: "a branch" }, (hash) => this.#hash(hash, "a hash of a branch"))
  }

  #coinbase(value: unknown): Pick<NameProofOperation, "coinbase"> {
    if (value === undefined) return {}
    const { branch, tx } = members(value, "coinbase", ["tx", "branch"])
    return { coinbase: { tx: this.#hex(tx, "the coinbase"), branch: this.#branch(branch) } }
  }

  #operation(value: unknown): NameProofOperation {
    const read = members(value, "an operation", ["height", "tx", "vout", "branch", "pos", "coinbase", "headers"])
    return {
      height: whole(read["height"], "height", MOST_HEIGHT),
      tx: this.#hex(read["tx"], "tx"),
      vout: whole(read["vout"], "vout", MOST_HEIGHT),
      branch: this.#branch(read["branch"]),
      pos: whole(read["pos"], "pos", MOST_HEIGHT),
      ...this.#coinbase(read["coinbase"]),
      headers: list(
        read["headers"],
        { most: 1 + MOST_FOLLOWING, where: "headers" },
        (header) => this.#hex(header, "a header")
      )
    }
  }

  #tip(value: unknown): ProofTip {
    const read = members(value, "asOf", ["height", "hash", "header", "coinbase"])
    return {
      height: whole(read["height"], "asOf.height", MOST_HEIGHT),
      hash: this.#hash(read["hash"], "asOf.hash"),
      header: this.#hex(read["header"], "asOf.header"),
      ...this.#coinbase(read["coinbase"])
    }
  }

  proof(value: unknown): NameProof {
    const read = members(value, "the proof", ["svcd", "network", "name", "operations", "asOf", "since"])
    const { network, since } = read
    if (read["svcd"] !== NAME_PROOF) refuse(`the proof is not a ${NAME_PROOF}`)
    return {
      svcd: NAME_PROOF,
      network: network === "main" || network === "test" || network === "regtest"
        ? network
        : refuse("network is not main, test or regtest"),
      name: this.#hex(read["name"], "name"),
      operations: list(
        read["operations"],
        { most: MOST_OPERATIONS, where: "operations" },
        (each) => this.#operation(each)
      ),
      asOf: this.#tip(read["asOf"]),
      ...(since === undefined ? {} : { since: whole(since, "since", MOST_HEIGHT) })
    }
  }
}

/** Checks the form and the size of a proof. Takes JSON, as text or parsed. */
export const parseNameProof = (proof: unknown): NameProof | ProofFailure => {
  try {
    if (typeof proof !== "string") return new ProofParser().proof(proof)
    if (proof.length > LONGEST_PROOF) return { failed: `the proof has more than ${LONGEST_PROOF} characters` }
    return new ProofParser().proof(JSON.parse(proof))
  } catch (error) {
    if (error instanceof Misshapen) return { failed: error.message }
    if (error instanceof SyntaxError) return { failed: "the proof is not JSON", code: "unreadable" }
    throw error
  }
}
