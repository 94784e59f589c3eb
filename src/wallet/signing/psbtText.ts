import { Flag } from "../../consensus/flags.ts"
import { checkSignatureEncoding } from "../../consensus/interpreter/signatureEncoding.ts"
import { decodeBase64, encodeBase64 } from "../../protocol/base64.ts"
import type { Bytes } from "../../protocol/bytes.ts"
import { decodePsbt } from "../../protocol/psbt/decode.ts"
import { encodePsbt } from "../../protocol/psbt/encode.ts"
import type { Psbt } from "../../protocol/psbt/Psbt.ts"

/** PSBTs as text, which is how they travel: base64. */

/** Whether bytes are an ECDSA signature with a defined hash type, strictly encoded. */
export const isSignature = (bytes: Bytes): boolean =>
  bytes.length > 0 && checkSignatureEncoding(bytes, Flag.DERSIG | Flag.STRICTENC) === undefined

/** Reads a PSBT, or says why the text is none. */
export const parsePsbt = (text: string): { readonly psbt: Psbt } | { readonly error: string } => {
  const bytes = decodeBase64(text)
  return bytes === undefined ? { error: "invalid base64" } : decodePsbt(bytes, isSignature)
}

export const psbtText = (psbt: Psbt): string => encodeBase64(encodePsbt(psbt))
