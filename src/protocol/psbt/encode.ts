import { runSteps, type Steps } from "../steps.ts"
import { GLOBALS, INPUT, OUTPUT, PSBT_MAGIC } from "./fields.ts"
import { isFinalInput, type Psbt } from "./Psbt.ts"
import { RecordWriter } from "./records.ts"

/**
 * In the order of the fields, then of the keys, so the same content always has the same bytes. `decodePsbt` is the
 * inverse, except for witnesses of previous transactions.
 */
export function* encodePsbtSteps(psbt: Psbt): Steps<Uint8Array> {
  const to = new RecordWriter()
  to.writer.bytes(PSBT_MAGIC)
  GLOBALS.write({ ...psbt, version: undefined }, to)
  for (const input of psbt.inputs) {
    INPUT.write(input, to, isFinalInput(input))
    yield
  }
  for (const output of psbt.outputs) {
    OUTPUT.write(output, to)
    yield
  }
  return to.writer.toBytes()
}

export const encodePsbt = (psbt: Psbt): Uint8Array => runSteps(encodePsbtSteps(psbt))
