import { Flag } from "../../consensus/flags.ts"
import { checkSignatureEncoding } from "../../consensus/interpreter/signatureEncoding.ts"
import type { Bytes } from "../../protocol/bytes.ts"
import { type DecodedPsbt, decodePsbtSteps } from "../../protocol/psbt/decode.ts"
import { encodePsbt, encodePsbtSteps } from "../../protocol/psbt/encode.ts"
import type { Psbt } from "../../protocol/psbt/Psbt.ts"
import type { Steps } from "../../protocol/steps.ts"

/** Strictly encoded, with a defined hash type. */
export const isSignature = (bytes: Bytes): boolean =>
  bytes.length > 0 && checkSignatureEncoding(bytes, Flag.DERSIG | Flag.STRICTENC) === undefined

/** Node's base64 instead of `protocol/base64.ts`, because PSBTs may be long. */
const base64 = (bytes: Bytes): string =>
  Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString("base64")

/** Node decodes much invalid base64; only valid base64 encodes to the same text again. */
const readBase64 = (text: string): Bytes | undefined => {
  const bytes = Buffer.from(text, "base64")
  return base64(bytes) === text ? bytes : undefined
}

export function* parsePsbtSteps(text: string): Steps<DecodedPsbt> {
  const bytes = readBase64(text)
  yield
  return bytes === undefined ? { error: "invalid base64" } : yield* decodePsbtSteps(bytes, { isSignature })
}

export function* psbtTextSteps(psbt: Psbt): Steps<string> {
  const bytes = yield* encodePsbtSteps(psbt)
  yield
  return base64(bytes)
}

/** In one step: for a PSBT that this node made. */
export const psbtText = (psbt: Psbt): string => base64(encodePsbt(psbt))
