import { MAX_NAME_LENGTH, MAX_VALUE_LENGTH } from "../consensus/names.ts"
import { type Bytes, equal } from "../protocol/bytes.ts"
import type { Header } from "../protocol/header.ts"
import type { Height } from "../protocol/keys.ts"
import { NAME_TX_VERSION, type NameSetting, parseNameScript } from "../protocol/nameOperation.ts"
import { decodeTransaction, type Transaction } from "../protocol/transaction.ts"
import { isFailure, type NameProofOperation, type ProofFailure } from "./nameProof.ts"
import { coinbaseFault, isBelow, proofBytes, type ProofRules, provenHeaders, saysHeight } from "./provenBlock.ts"

/** An operation in a block with proven work. */
export interface ProvenOperation {
  readonly height: Height
  /** Whether the coinbase of the block confirms the height. */
  readonly isHeightProven: boolean
  readonly transaction: Transaction
  readonly vout: number
  readonly operation: NameSetting
  /** The owner's script. */
  readonly address: Bytes
  /** The header of its block, then the headers after it. */
  readonly headers: ReadonlyArray<Header>
}

interface NameOutput {
  readonly operation: NameSetting
  readonly address: Bytes
}

/** The only name script of a transaction, which must be in output `vout`. */
const nameOutput = (transaction: Transaction, vout: number): NameOutput | ProofFailure => {
  if (transaction.version !== NAME_TX_VERSION) return { failed: "the transaction is not a name transaction" }
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

/** Proves one operation on a name, with its block and any headers after it. Throws `DecodeError`. */
export const proveOperation = (
  given: NameProofOperation,
  name: Bytes,
  rules: ProofRules
): ProvenOperation | ProofFailure => {
  const { branch, coinbase, height, pos, tx, vout } = given
  const transaction = decodeTransaction(proofBytes(tx))
  const output = nameOutput(transaction, vout)
  if (isFailure(output)) return output
  if (!equal(output.operation.name, name)) return { failed: `output ${vout} has another name` }
  const headers = provenHeaders(given, rules)
  if (isFailure(headers)) return headers
  const [header] = headers
  if (header === undefined) return { failed: `the header at height ${height} is missing` }
  if (!isBelow(header, { branch, pos, transaction })) return { failed: "the transaction is not in the block" }
  const fault = coinbaseFault(given, header, rules.params)
  if (fault !== undefined) return { failed: fault }
  // Both are leaves of one tree. At different depths, one of them would be an inner node, not a transaction
  // (CVE-2017-12842).
  if (coinbase !== undefined && coinbase.branch.length !== branch.length) {
    return { failed: "the branches end at different depths" }
  }
  return { height, isHeightProven: saysHeight(given, rules.params), transaction, vout, ...output, headers }
}
