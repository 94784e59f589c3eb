import { isHex } from "../protocol/bytes.ts"
import type { Height } from "../protocol/keys.ts"

// A portable proof of the value of a name: JSON that its reader checks without a chain (docs/proofs.md).

/** The format of this version, in the member `svcd`. */
export const NAME_PROOF = "name-proof/1"

/** Headers after that of the newest operation, at most. */
export const MOST_FOLLOWING = 24

/** Operations in a proof, at most: a proof of an older name ends with a later operation than its registration. */
export const MOST_OPERATIONS = 200

/** The longest proof, in characters of its JSON. With 200 operations of usual size it has 700,000. */
export const LONGEST_PROOF = 2_000_000

/** Hashes above a transaction, at most: the smallest transactions fill a block with 16,666. */
export const LONGEST_BRANCH = 15

/** An operation on the name in its block. Bytes are in hex, hashes in the order in which JSON-RPC shows them. */
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
   * The coinbase of the block and its branch. It has the height (BIP 34), which no header has, and the depth of the tree.
   * Without it the height is the word of the server.
   */
  readonly coinbase?: { readonly tx: string; readonly branch: ReadonlyArray<string> }
  /**
   * The header of the block with its merged-mining proof, as in blocks on the wire. That of the newest operation is
   * followed by up to 24 of the next blocks, all others stand alone.
   */
  readonly headers: ReadonlyArray<string>
}

/**
 * The last block of the node's chain. Its header has a time, so that an old one shows; its coinbase has its height, from
 * which the expiry of the name is counted.
 */
export interface ProofTip extends Pick<NameProofOperation, "coinbase"> {
  readonly height: Height
  readonly hash: string
  /** With its merged-mining proof. */
  readonly header: string
}

/** What a node says about a name, with what its reader needs to check it. */
export interface NameProof {
  readonly svcd: typeof NAME_PROOF
  readonly network: "main" | "test" | "regtest"
  /** In hex. */
  readonly name: string
  /** Newest first. Each spends the name's coin of the next one in the list. */
  readonly operations: ReadonlyArray<NameProofOperation>
  readonly asOf: ProofTip
  /** The height of the name's registration, from which its coin was spent without a gap. */
  readonly since?: Height
}

/** Why a proof does not count: one sentence without a full stop. */
export interface ProofFailure {
  readonly failed: string
  /** For a name that is not alive; no other reason has a code. */
  readonly code?: "expired"
}

export const isFailure = (outcome: object): outcome is ProofFailure => "failed" in outcome

/** Where a part has the wrong form. */
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

/** Beyond every chain: 2^31 - 1. */
const MOST_HEIGHT = 0x7fffffff

/** Copies a value from outside into a proof, and counts its characters. */
class ProofParser {
  #left = LONGEST_PROOF

  #hex(value: unknown, where: string, length?: number): string {
    if (typeof value !== "string") return refuse(`${where} is not a text`)
    this.#left -= value.length
    if (this.#left < 0) refuse(`the proof has more than ${LONGEST_PROOF} characters`)
    if (length !== undefined && value.length !== length) refuse(`${where} has not ${length} characters`)
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

/** The form of a proof, checked and bounded. Takes JSON or its value. */
export const parseNameProof = (proof: unknown): NameProof | ProofFailure => {
  try {
    if (typeof proof !== "string") return new ProofParser().proof(proof)
    if (proof.length > LONGEST_PROOF) return { failed: `the proof has more than ${LONGEST_PROOF} characters` }
    return new ProofParser().proof(JSON.parse(proof))
  } catch (error) {
    if (error instanceof Misshapen) return { failed: error.message }
    if (error instanceof SyntaxError) return { failed: "the proof is not JSON" }
    throw error
  }
}
