import * as Effect from "effect/Effect"
import type { Bytes } from "../../protocol/bytes.ts"
import { decodeText, NAME_ENCODINGS, type NameEncoding, printable } from "../../protocol/nameText.ts"
import type { Network } from "../../protocol/networks.ts"
import { RpcError } from "../method/RpcError.ts"
import type { NameEncodings, ShapeContext } from "../shapes/context.ts"

/** The encodings selected by a call, for its arguments and answer (reference/rpc.md 5.1). */

export interface GivenEncodings {
  readonly nameEncoding: string | undefined
  readonly valueEncoding: string | undefined
}

/** An unknown encoding silently selects the node's own. */
const known = (given: string | undefined, fallback: NameEncoding): NameEncoding =>
  NAME_ENCODINGS.find((encoding) => encoding === given) ?? fallback

export const contextFor = (
  network: Network,
  settings: NameEncodings,
  { nameEncoding, valueEncoding }: GivenEncodings
): ShapeContext => ({
  network,
  nameEncoding: known(nameEncoding, settings.nameEncoding),
  valueEncoding: known(valueEncoding, settings.valueEncoding)
})

export const decodeGiven = (text: string, encoding: NameEncoding): Effect.Effect<Bytes, RpcError> => {
  const bytes = decodeText(text, encoding)
  return bytes === undefined ? RpcError.invalidEncoding(encoding) : Effect.succeed(bytes)
}

/** Bytes of a name in an error. Callers may send megabytes. */
const SHOWN_BYTES = 10_000

export const shownName = (name: Bytes): string => printable(name.subarray(0, SHOWN_BYTES))
