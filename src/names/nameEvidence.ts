import * as Either from "effect/Either"
import * as Schema from "effect/Schema"
import type { Cursor } from "../chain/write/Follower.ts"
import { type Bytes, displayHash, toHex } from "../protocol/bytes.ts"
import type { Height } from "../protocol/keys.ts"
import type { Network } from "../protocol/networks.ts"
import {
  isFailure,
  NAME_PROOF,
  type NameProof,
  type NameProofOperation,
  parseNameProof,
  type ProofFailure,
  type ProofTip
} from "../verify/nameProof.ts"
import type { NameEntry } from "./NameEntry.ts"

// What a node knows about a name for a portable proof (docs/proofs.md), and the document that it makes of that.

/** A transaction of a block, and the hashes from there to the merkle root, in wire order. */
export interface LeafEvidence {
  /** With its witnesses. */
  readonly tx: Bytes
  readonly branch: ReadonlyArray<Bytes>
}

/** An operation on a name, and all that shows that a block has it. */
export interface OperationEvidence extends LeafEvidence {
  readonly height: Height
  readonly vout: number
  /** Position of the transaction in its block. */
  readonly pos: number
  /** The first transaction of the block, which says its height. */
  readonly coinbase: LeafEvidence
  /** With their merged-mining proofs: of the block, then of those that follow. */
  readonly headers: ReadonlyArray<Bytes>
}

/** The last block of a chain, and what shows its work, its time and its height. */
export interface TipEvidence extends Cursor {
  /** With its merged-mining proof. */
  readonly header: Bytes
  /** Missing where the block is, or too large for a proof. */
  readonly coinbase: LeafEvidence | undefined
}

/** All operations are of the chain that ends with `tip`. */
export interface NameEvidence {
  readonly tip: TipEvidence
  /** The lowest block whose operations are known. */
  readonly from: Height
  /** The height of the registration that the newest operation continues, if it is known. */
  readonly since: Height | undefined
  /** The newest first. Empty for a name without an operation. */
  readonly operations: ReadonlyArray<OperationEvidence>
}

export interface WantedEvidence {
  /** Headers after the block of the newest operation, as far as the chain has them. */
  readonly headers: number
  /** Whether to prove the operations before the newest one, too. */
  readonly chain: boolean
}

/** Bytes of evidence: twice as many digits, with the rest of the JSON, are less than `LONGEST_PROOF`. */
const MOST_BYTES = 950_000

interface Life<A> {
  readonly since: Height | undefined
  readonly wanted: ReadonlyArray<A>
}

/**
 * What a proof has of the newest operations on a name: the newest one or, with `chain`, all back to the registration. No
 * earlier owner allowed that one.
 */
export const newestLife = <A extends Pick<NameEntry, "op" | "height">>(
  newestFirst: ReadonlyArray<A>,
  { chain }: WantedEvidence
): Life<A> => {
  const registration = newestFirst.findIndex(({ op }) => op === "name_firstupdate")
  const all = registration < 0 ? newestFirst : newestFirst.slice(0, registration + 1)
  return { since: newestFirst[registration]?.height, wanted: chain ? all : all.slice(0, 1) }
}

const bytesOf = ({ branch, coinbase, headers, tx }: OperationEvidence): number =>
  [tx, ...branch, coinbase.tx, ...coinbase.branch, ...headers].reduce((sum, { length }) => sum + length, 0)

/** Collects the evidence of operations, the newest first, until there is too much for a proof. */
export class EvidenceList {
  readonly operations: Array<OperationEvidence> = []
  #left = MOST_BYTES

  /** Whether it has the operation now. */
  add(operation: OperationEvidence): boolean {
    this.#left -= bytesOf(operation)
    if (this.#left < 0) return false
    this.operations.push(operation)
    return true
  }
}

/** Bytes of a tip's coinbase with its branch, for which `MOST_BYTES` leaves room. */
const MOST_TIP_BYTES = 40_000

/** The coinbase of a tip, unless it is too large. */
export const tipCoinbase = (leaf: LeafEvidence | undefined): LeafEvidence | undefined =>
  leaf !== undefined && leaf.tx.length + 32 * leaf.branch.length <= MOST_TIP_BYTES ? leaf : undefined

/** In the member `svcd` of a document that denies a name. */
export const NAME_ABSENCE = "name-absence/1"

/** A node's word that blocks have no operation on a name. It proves nothing. */
export interface NameAbsence extends Pick<NameProof, "network" | "name"> {
  readonly svcd: typeof NAME_ABSENCE
  readonly asOf: Pick<ProofTip, "height" | "hash">
  /** Heights of the first and the last of these blocks. */
  readonly absent: { readonly from: Height; readonly to: Height }
}

const hashes = (branch: ReadonlyArray<Bytes>): ReadonlyArray<string> => branch.map(displayHash)

const coinbaseOf = ({ branch, tx }: LeafEvidence) => ({ tx: toHex(tx), branch: hashes(branch) })

const operationOf = (
  { branch, coinbase, headers, height, pos, tx, vout }: OperationEvidence
): NameProofOperation => ({
  height,
  tx: toHex(tx),
  vout,
  branch: hashes(branch),
  pos,
  coinbase: coinbaseOf(coinbase),
  headers: headers.map(toHex)
})

interface Subject {
  readonly network: Network["chainName"]
  readonly name: Bytes
}

/** The document about a name: its proof, or the node's statement that the name does not exist. */
export const nameDocument = (
  { from, operations, since, tip }: NameEvidence,
  { name, network }: Subject
): NameProof | NameAbsence => {
  const about = { network, name: toHex(name) }
  const asOf = { height: tip.height, hash: displayHash(tip.hash) }
  if (operations.length === 0) return { svcd: NAME_ABSENCE, ...about, absent: { from, to: tip.height }, asOf }
  return {
    svcd: NAME_PROOF,
    ...about,
    operations: operations.map(operationOf),
    asOf: {
      ...asOf,
      header: toHex(tip.header),
      ...(tip.coinbase === undefined ? {} : { coinbase: coinbaseOf(tip.coinbase) })
    },
    ...(since === undefined ? {} : { since })
  }
}

const HEIGHT = Schema.NonNegativeInt

const ABSENCE = Schema.Struct({
  svcd: Schema.Literal(NAME_ABSENCE),
  network: Schema.Literal("main", "test", "regtest"),
  name: Schema.String,
  absent: Schema.Struct({ from: HEIGHT, to: HEIGHT }),
  asOf: Schema.Struct({ height: HEIGHT, hash: Schema.String.pipe(Schema.pattern(/^[0-9a-f]{64}$/)) })
})

const decodeDenial = Schema.decodeUnknownEither(
  Schema.parseJson(Schema.Struct({ svcd: Schema.Literal(NAME_ABSENCE) }))
)

const decodeAbsence = Schema.decodeUnknownEither(Schema.parseJson(ABSENCE))

/** Reads a node's JSON about a name: a proof, or a statement that the name does not exist. Checks the form, not the content. */
export const readNameDocument = (json: string, name: Bytes): NameProof | NameAbsence | ProofFailure => {
  const document = Either.isRight(decodeDenial(json))
    ? Either.getOrElse(decodeAbsence(json), (): ProofFailure => ({ failed: `the ${NAME_ABSENCE} has another form` }))
    : parseNameProof(json)
  if (isFailure(document) || document.name === toHex(name)) return document
  return { failed: "the document is about another name" }
}
