import { type Bytes, equal } from "../bytes.ts"
import { DecodeError, Reader } from "../Reader.ts"
import { runSteps, type Steps } from "../steps.ts"
import { prevoutIndex, prevoutTxid, type Transaction } from "../transaction.ts"
import { GLOBALS, INPUT, OUTPUT, PSBT_MAGIC } from "./fields.ts"
import type { PsbtRules } from "./FieldTable.ts"
import type { Psbt, PsbtInput, PsbtOutput } from "./Psbt.ts"
import { PsbtFault } from "./records.ts"

/** Decodes a whole PSBT. Upstream `psbt.h`, `PartiallySignedTransaction::Unserialize`. */

/** Throws if the previous transaction is not the one whose output is spent. */
const checkUtxo = (prevout: Bytes, previous: Transaction | undefined): void => {
  if (previous === undefined) return
  if (!equal(previous.txid, prevoutTxid(prevout))) throw new PsbtFault("Non-witness UTXO does not match outpoint hash")
  if (prevoutIndex(prevout) >= previous.outputs.length) {
    throw new PsbtFault("Input specifies output index that does not exist")
  }
}

function* readPsbt(reader: Reader, rules: PsbtRules): Steps<Psbt> {
  if (!equal(reader.bytes(PSBT_MAGIC.length, "magic bytes"), PSBT_MAGIC)) {
    throw new PsbtFault("Invalid PSBT magic bytes")
  }
  const { proprietary, transaction, unknown, xpubs } = yield* GLOBALS.read(reader, rules)
  if (transaction === undefined) throw new PsbtFault("No unsigned transaction was provided")
  const inputs: Array<PsbtInput> = []
  for (const { prevout } of transaction.inputs) {
    if (reader.remaining === 0) {
      throw new PsbtFault("Inputs provided does not match the number of inputs in transaction.")
    }
    const input = yield* INPUT.read(reader, rules)
    checkUtxo(prevout, input.nonWitnessUtxo)
    inputs.push(input)
    yield
  }
  const outputs: Array<PsbtOutput> = []
  while (outputs.length < transaction.outputs.length) {
    if (reader.remaining === 0) {
      throw new PsbtFault("Outputs provided does not match the number of outputs in transaction.")
    }
    outputs.push(yield* OUTPUT.read(reader, rules))
    yield
  }
  return { transaction, xpubs, inputs, outputs, proprietary, unknown }
}

/** Upstream's words for a `DecodeError` of `Reader`. */
const upstreamReason = ({ kind, message }: DecodeError): string => {
  switch (kind) {
    case "truncated":
      return "SpanReader::read(): end of data"
    case "not shortest":
      return "non-canonical ReadCompactSize()"
    case "too large":
      return "ReadCompactSize(): size too large"
    case "malformed":
      return message
  }
}

/** As upstream's exception shows it. Rethrows any other error. */
const whyUnreadable = (error: unknown): string => {
  if (error instanceof PsbtFault) return `${error.message}: iostream error`
  if (error instanceof DecodeError) return `${upstreamReason(error)}: iostream error`
  throw error
}

export type DecodedPsbt = { readonly psbt: Psbt } | { readonly error: string }

/** The PSBT must fill its bytes. Errors are in the reference node's words. Byte strings are views. */
export function* decodePsbtSteps(bytes: Bytes, rules: PsbtRules): Steps<DecodedPsbt> {
  try {
    const reader = new Reader(bytes)
    const psbt = yield* readPsbt(reader, rules)
    return reader.remaining > 0 ? { error: "extra data after PSBT" } : { psbt }
  } catch (error) {
    return { error: whyUnreadable(error) }
  }
}

export const decodePsbt = (bytes: Bytes, rules: PsbtRules): DecodedPsbt => runSteps(decodePsbtSteps(bytes, rules))
