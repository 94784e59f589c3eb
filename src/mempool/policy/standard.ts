import { type Reject, reject } from "../../consensus/Reject.ts"
import { NAME_TX_VERSION, parseNameScript } from "../../protocol/nameOperation.ts"
import { isPushOnly, witnessVersion } from "../../protocol/script.ts"
import { scriptTemplate } from "../../protocol/scriptType.ts"
import type { Transaction, TransactionOutput } from "../../protocol/transaction.ts"
import { dustOutputs } from "./dust.ts"
import {
  MAX_BARE_MULTISIG_KEYS,
  MAX_DUST_OUTPUTS,
  MAX_STANDARD_SCRIPT_SIG,
  MAX_STANDARD_VERSION,
  MAX_STANDARD_WEIGHT,
  MIN_STANDARD_SIZE,
  MIN_STANDARD_VERSION
} from "./limits.ts"
import { DEFAULT_POLICY, type Policy } from "./Policy.ts"

// Standardness visible in a transaction itself: which of the transactions that blocks may contain this node relays
// (reference/protocol.md 5.5).

const isStandardVersion = (version: number): boolean =>
  version === NAME_TX_VERSION || (version >= MIN_STANDARD_VERSION && version <= MAX_STANDARD_VERSION)

const checkScriptSigs = ({ inputs }: Transaction): Reject | undefined => {
  for (const { scriptSig } of inputs) {
    if (scriptSig.length > MAX_STANDARD_SCRIPT_SIG) return reject("scriptsig-size")
    if (!isPushOnly(scriptSig)) return reject("scriptsig-not-pushonly")
  }
  return undefined
}

/**
 * Whether a script is a name paid to a witness program of version 1. What a taproot signature covers there is
 * undefined, so this node does not make, relay or spend such outputs (reference/protocol.md 5.2, 5.).
 */
export const isTaprootName = (script: TransactionOutput["script"]): boolean => {
  const name = parseNameScript(script)
  return name !== undefined && witnessVersion(name.address) === 1
}

/** The null-data bytes of an output, or a refusal of a nonstandard form. */
const checkOutput = ({ script }: TransactionOutput, { bareMultisig }: Policy): number | Reject => {
  const template = scriptTemplate(script)
  switch (template.type) {
    case "nonstandard":
      return reject("scriptpubkey")
    case "multisig":
      if (template.pubkeys.length > MAX_BARE_MULTISIG_KEYS) return reject("scriptpubkey")
      return bareMultisig ? 0 : reject("bare-multisig")
    case "nulldata":
      return script.length
    case "witness_v1_taproot":
    case "witness_unknown":
      return isTaprootName(script) ? reject("scriptpubkey") : 0
    default:
      return 0
  }
}

const checkOutputs = ({ outputs }: Transaction, policy: Policy): Reject | undefined => {
  let nullData = 0
  for (const output of outputs) {
    const checked = checkOutput(output, policy)
    if (typeof checked !== "number") return checked
    nullData += checked
    if (nullData > policy.maxNullData) return reject("datacarrier")
  }
  return undefined
}

/**
 * Refuses a nonstandard transaction with the reasons of reference/protocol.md 5.5, in order. One dust output passes, to
 * be checked by `checkDustFee`. Source: upstream `policy/policy.cpp`, `IsStandardTx`.
 */
export const checkStandard = (transaction: Transaction, policy = DEFAULT_POLICY): Reject | undefined => {
  if (!isStandardVersion(transaction.version)) return reject("version")
  if (transaction.weight > MAX_STANDARD_WEIGHT) return reject("tx-size")
  const broken = checkScriptSigs(transaction) ?? checkOutputs(transaction, policy)
  if (broken !== undefined) return broken
  return dustOutputs(transaction, policy.dustFeeRate).length > MAX_DUST_OUTPUTS ? reject("dust") : undefined
}

/**
 * Refuses a transaction small enough to be taken for an inner node of a merkle tree (CVE-2017-12842). Source: upstream
 * `validation.cpp`, `MemPoolAccept::PreChecks`.
 */
export const checkSize = ({ strippedSize }: Transaction): Reject | undefined =>
  strippedSize < MIN_STANDARD_SIZE ? reject("tx-size-small") : undefined
