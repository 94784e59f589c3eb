import { binaryString, type Bytes, concat, equal } from "../bytes.ts"
import { Reader } from "../Reader.ts"
import { runSteps, type Steps } from "../steps.ts"
import { prevoutIndex, prevoutTxid, readTransaction, type Transaction } from "../transaction.ts"
import { type IsSignature, readInput } from "./inputRecords.ts"
import { readOutputMap } from "./outputRecords.ts"
import type { GlobalXpub, ProprietaryRecord, Psbt, PsbtInput, PsbtOutput, UnknownRecord } from "./Psbt.ts"
import { PsbtFault, publicKey, readOrigin, RecordReader, sized, whole, whyUnreadable } from "./RecordReader.ts"
import { GlobalType } from "./types.ts"

/** Decodes a whole PSBT. Upstream `psbt.h`, `PartiallySignedTransaction::Unserialize`. */

/** `psbt` and 0xff. */
export const PSBT_MAGIC = Uint8Array.of(0x70, 0x73, 0x62, 0x74, 0xff)

const XPUB_SIZE = 78

const CHAIN_CODE = 13
const PUBKEY = 45

const readUnsigned = (value: Bytes): Transaction => {
  const transaction = whole(value, (reader) => readTransaction(reader, false))
  if (transaction.inputs.some(({ scriptSig }) => scriptSig.length > 0)) {
    throw new PsbtFault("Unsigned tx does not have empty scriptSigs and scriptWitnesses.")
  }
  return transaction
}

/** The map key of an extended key. Two keys differ if their derivation differs. */
export const xpubKey = (xpub: Bytes): string =>
  binaryString(concat(xpub.subarray(PUBKEY), xpub.subarray(CHAIN_CODE, PUBKEY)))

interface Globals {
  readonly transaction: Transaction
  readonly xpubs: ReadonlyMap<string, GlobalXpub>
  readonly proprietary: ReadonlyMap<string, ProprietaryRecord>
  readonly unknown: ReadonlyMap<string, UnknownRecord>
}

function* readGlobals(reader: Reader): Steps<Globals> {
  const records = new RecordReader(reader, "global")
  let transaction: Transaction | undefined
  const xpubs = new Map<string, GlobalXpub>()
  const proprietary = new Map<string, ProprietaryRecord>()
  const unknown = new Map<string, UnknownRecord>()
  for (let record = records.next(); record !== undefined; record = records.next()) {
    switch (record.type) {
      case GlobalType.UNSIGNED_TX:
        transaction = readUnsigned(records.single(record, { duplicate: "unsigned tx", name: "Global unsigned tx" }))
        break
      case GlobalType.XPUB: {
        const xpub = record.data
        if (xpub.length !== XPUB_SIZE) {
          throw new PsbtFault("Size of key was not the expected size for the type global xpub")
        }
        publicKey(xpub.subarray(PUBKEY))
        if (xpubs.has(xpubKey(xpub))) throw new PsbtFault("Duplicate key, global xpub already provided")
        xpubs.set(xpubKey(xpub), { xpub, origin: readOrigin(record.value) })
        break
      }
      case GlobalType.VERSION: {
        const value = sized(records.single(record, { duplicate: "version", name: "Global version" }), 4)
        if (value.some((byte) => byte !== 0)) throw new PsbtFault("Unsupported version number")
        break
      }
      case GlobalType.PROPRIETARY:
        records.proprietary(record, proprietary)
        break
      default:
        records.unknown(record, unknown)
    }
    yield
  }
  if (transaction === undefined) throw new PsbtFault("No unsigned transaction was provided")
  return { transaction, xpubs, proprietary, unknown }
}

/** Throws if the previous transaction is not the one whose output is spent. */
const checkUtxo = (prevout: Bytes, previous: Transaction | undefined): void => {
  if (previous === undefined) return
  if (!equal(previous.txid, prevoutTxid(prevout))) throw new PsbtFault("Non-witness UTXO does not match outpoint hash")
  if (prevoutIndex(prevout) >= previous.outputs.length) {
    throw new PsbtFault("Input specifies output index that does not exist")
  }
}

function* readPsbt(reader: Reader, isSignature: IsSignature): Steps<Psbt> {
  if (!equal(reader.bytes(PSBT_MAGIC.length, "magic bytes"), PSBT_MAGIC)) {
    throw new PsbtFault("Invalid PSBT magic bytes")
  }
  const globals = yield* readGlobals(reader)
  const { transaction } = globals
  const inputs: Array<PsbtInput> = []
  for (const { prevout } of transaction.inputs) {
    if (reader.remaining === 0) {
      throw new PsbtFault("Inputs provided does not match the number of inputs in transaction.")
    }
    const input = yield* readInput(reader, isSignature)
    checkUtxo(prevout, input.nonWitnessUtxo)
    inputs.push(input)
    yield
  }
  const outputs: Array<PsbtOutput> = []
  while (outputs.length < transaction.outputs.length) {
    if (reader.remaining === 0) {
      throw new PsbtFault("Outputs provided does not match the number of outputs in transaction.")
    }
    outputs.push(yield* readOutputMap(reader))
    yield
  }
  return { ...globals, inputs, outputs }
}

/** A PSBT, or the reason why the bytes are not one. */
export type DecodedPsbt = { readonly psbt: Psbt } | { readonly error: string }

/**
 * Decodes a PSBT that fills its bytes, or returns the error, in the reference node's words if it has some. Byte strings
 * are views. `isSignature` recognizes an ECDSA signature with its hash type.
 */
export function* decodePsbtSteps(bytes: Bytes, isSignature: IsSignature): Steps<DecodedPsbt> {
  try {
    const reader = new Reader(bytes)
    const psbt = yield* readPsbt(reader, isSignature)
    return reader.remaining > 0 ? { error: "extra data after PSBT" } : { psbt }
  } catch (error) {
    return { error: whyUnreadable(error) }
  }
}

export const decodePsbt = (bytes: Bytes, isSignature: IsSignature): DecodedPsbt =>
  runSteps(decodePsbtSteps(bytes, isSignature))
