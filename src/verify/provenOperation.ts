import { heightScript } from "../consensus/block.ts"
import { decodeCompact } from "../consensus/difficulty.ts"
import { checkProofOfWork } from "../consensus/header.ts"
import { MAX_NAME_LENGTH, MAX_VALUE_LENGTH } from "../consensus/names.ts"
import type { ReaderParams } from "../consensus/readerParams.ts"
import { readBlockHeader } from "../protocol/block.ts"
import { type Bytes, equal, fromHex, parseDisplayHash } from "../protocol/bytes.ts"
import type { Header } from "../protocol/header.ts"
import type { Height } from "../protocol/keys.ts"
import { merkleBranchRoot } from "../protocol/merkle.ts"
import { NAME_TX_VERSION, type NameSetting, parseNameScript } from "../protocol/nameOperation.ts"
import { Reader } from "../protocol/Reader.ts"
import { decodeTransaction, type Transaction } from "../protocol/transaction.ts"
import { floorAt } from "./floor.ts"
import { isFailure, type NameProofOperation, type ProofFailure } from "./nameProof.ts"

/** The rules of the chain that a proof is about. */
export interface ProofRules {
  readonly params: ReaderParams
  /** A compact target that replaces the floors of the package. */
  readonly floor: number | undefined
}

/** An operation that is in a block with work. */
export interface ProvenOperation {
  readonly height: Height
  /** Whether the block itself says so. */
  readonly isHeightProven: boolean
  readonly transaction: Transaction
  readonly vout: number
  readonly operation: NameSetting
  /** The script of the owner. */
  readonly address: Bytes
  /** The header of its block, then those that follow. */
  readonly headers: ReadonlyArray<Header>
}

const bytesOf = (hex: string): Bytes => fromHex(hex) ?? new Uint8Array(0)

const hashOf = (shown: string): Bytes => parseDisplayHash(shown) ?? new Uint8Array(32)

/** A header with its proof, whose work is above the floor. */
const provenHeader = (hex: string, height: Height, { floor, params }: ProofRules): Header | ProofFailure => {
  const reader = new Reader(bytesOf(hex))
  const read = readBlockHeader(reader)
  reader.end("header")
  const broken = checkProofOfWork(read, params)
  if (broken !== undefined) {
    return { failed: `the header at height ${height} has no proof of work: ${broken.detail ?? ""}` }
  }
  const least = floor === undefined ? floorAt(read.header.time, params) : decodeCompact(floor).target
  return decodeCompact(read.header.bits).target > least
    ? { failed: `the header at height ${height} has too little work` }
    : read.header
}

/** Headers that follow each other. */
const chainOf = ({ headers, height }: NameProofOperation, rules: ProofRules): ReadonlyArray<Header> | ProofFailure => {
  const chain: Array<Header> = []
  for (const hex of headers) {
    const header = provenHeader(hex, height + chain.length, rules)
    if (isFailure(header)) return header
    const before = chain.at(-1)
    if (before !== undefined && !equal(header.prevHash, before.hash)) {
      return { failed: `the header at height ${height + chain.length} does not follow the one before` }
    }
    chain.push(header)
  }
  return chain
}

/** An inner node of a merkle tree has this size: read as a transaction, it would be in the block. */
const NODE_SIZE = 64

interface Leaf {
  readonly transaction: Transaction
  readonly branch: ReadonlyArray<string>
  readonly pos: number
}

const isBelow = ({ merkleRoot }: Header, { branch, pos, transaction: { strippedSize, txid } }: Leaf): boolean =>
  strippedSize !== NODE_SIZE && pos < 2 ** branch.length &&
  equal(merkleBranchRoot(txid, branch.map(hashOf), pos), merkleRoot)

/** Why the coinbase does not prove the height. */
const coinbaseFault = (
  { branch, coinbase, height }: NameProofOperation,
  header: Header,
  { activation }: ReaderParams
): string | undefined => {
  if (coinbase === undefined) return undefined
  const transaction = decodeTransaction(bytesOf(coinbase.tx))
  if (!transaction.isCoinbase || !isBelow(header, { branch: coinbase.branch, pos: 0, transaction })) {
    return "the coinbase is not in the block"
  }
  // Both are leaves of one tree: at another depth, one of them would be no transaction (CVE-2017-12842).
  if (coinbase.branch.length !== branch.length) return "the branches end at different depths"
  const script = transaction.inputs[0]?.scriptSig ?? new Uint8Array(0)
  const expected = heightScript(height)
  return height < activation.bip34 || equal(script.subarray(0, expected.length), expected)
    ? undefined
    : `the block is not at height ${height}`
}

interface NameOutput {
  readonly operation: NameSetting
  readonly address: Bytes
}

/** The only name script of a transaction, at its place. */
const nameOutput = (transaction: Transaction, vout: number): NameOutput | ProofFailure => {
  if (transaction.version !== NAME_TX_VERSION) return { failed: "the transaction is not one for names" }
  const made = transaction.outputs.map(({ script }) => parseNameScript(script))
  const parsed = made[vout]
  if (parsed === undefined) return { failed: `output ${vout} has no name` }
  if (made.some((other, i) => other !== undefined && i !== vout)) return { failed: "the transaction has several names" }
  const { address, operation } = parsed
  if (operation.op === "name_new") return { failed: `output ${vout} has no name` }
  return operation.name.length > MAX_NAME_LENGTH || operation.value.length > MAX_VALUE_LENGTH
    ? { failed: "the name or its value is too long" }
    : { operation, address }
}

/** One operation on a name, in a block with work that others may follow. Throws `DecodeError`. */
export const proveOperation = (
  given: NameProofOperation,
  name: Bytes,
  rules: ProofRules
): ProvenOperation | ProofFailure => {
  const { branch, coinbase, height, pos, tx, vout } = given
  const transaction = decodeTransaction(bytesOf(tx))
  const output = nameOutput(transaction, vout)
  if (isFailure(output)) return output
  if (!equal(output.operation.name, name)) return { failed: `output ${vout} has another name` }
  const headers = chainOf(given, rules)
  if (isFailure(headers)) return headers
  const [header] = headers
  if (header === undefined) return { failed: `the header at height ${height} is missing` }
  if (!isBelow(header, { branch, pos, transaction })) return { failed: "the transaction is not in the block" }
  const fault = coinbaseFault(given, header, rules.params)
  if (fault !== undefined) return { failed: fault }
  const isHeightProven = coinbase !== undefined && height >= rules.params.activation.bip34
  return { height, isHeightProven, transaction, vout, ...output, headers }
}
