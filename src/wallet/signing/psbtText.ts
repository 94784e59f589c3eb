import { Flag } from "../../consensus/flags.ts"
import { checkSignatureEncoding } from "../../consensus/interpreter/signatureEncoding.ts"
import type { Bytes } from "../../protocol/bytes.ts"
import { type DecodedPsbt, decodePsbtSteps } from "../../protocol/psbt/decode.ts"
import { encodePsbt, encodePsbtSteps } from "../../protocol/psbt/encode.ts"
import type { Psbt } from "../../protocol/psbt/Psbt.ts"
import { runSteps, type Steps } from "../../protocol/steps.ts"

/** PSBTs as text, which is how they travel: base64. */

/** Whether bytes are an ECDSA signature with a defined hash type, strictly encoded. */
export const isSignature = (bytes: Bytes): boolean =>
  bytes.length > 0 && checkSignatureEncoding(bytes, Flag.DERSIG | Flag.STRICTENC) === undefined

/** As `protocol/base64.ts` has it, by what Node has built in: PSBTs may be long. */
const base64 = (bytes: Bytes): string =>
  Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString("base64")

/** Node reads much that is no base64; but only what is comes back as the same text. */
const readBase64 = (text: string): Bytes | undefined => {
  const bytes = Buffer.from(text, "base64")
  return base64(bytes) === text ? bytes : undefined
}

/** Reads a PSBT, or says why the text is none. */
export function* parsePsbtSteps(text: string): Steps<DecodedPsbt> {
  const bytes = readBase64(text)
  yield
  return bytes === undefined ? { error: "invalid base64" } : yield* decodePsbtSteps(bytes, isSignature)
}

/** The same in one step. */
export const parsePsbt = (text: string): DecodedPsbt => runSteps(parsePsbtSteps(text))

/** Writes a PSBT. */
export function* psbtTextSteps(psbt: Psbt): Steps<string> {
  const bytes = yield* encodePsbtSteps(psbt)
  yield
  return base64(bytes)
}

/** The same in one step: for one that this node made itself. */
export const psbtText = (psbt: Psbt): string => base64(encodePsbt(psbt))
