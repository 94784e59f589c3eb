import * as Effect from "effect/Effect"
import type { Bytes } from "../../protocol/bytes.ts"
import { decodeText, NAME_ENCODINGS, type NameEncoding, printable } from "../../protocol/nameText.ts"
import type { Network } from "../../protocol/networks.ts"
import { optional, string } from "../method/params.ts"
import { RpcError } from "../method/RpcError.ts"
import type { NameEncodings, ShapeContext } from "../shapes/context.ts"

/** How a call wants names and values written, in its arguments and in the answer (reference/rpc.md 5.1). */

/** Members of the options of every method that takes or shows names. */
export const ENCODINGS = {
  nameEncoding: optional(string("How names are written: ascii, utf8 or hex."), "the node's setting"),
  valueEncoding: optional(string("How values are written: ascii, utf8 or hex."), "the node's setting")
}

export interface GivenEncodings {
  readonly nameEncoding: string | undefined
  readonly valueEncoding: string | undefined
}

/** An encoding that does not exist stands for the node's own, without a word. */
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

/** The bytes that a name or value of a call stands for. */
export const decodeGiven = (text: string, encoding: NameEncoding): Effect.Effect<Bytes, RpcError> => {
  const bytes = decodeText(text, encoding)
  return bytes === undefined ? RpcError.invalidEncoding(encoding) : Effect.succeed(bytes)
}

/** Bytes of a name that an error shows: callers may ask for one of megabytes, and no error is as long. */
const SHOWN_BYTES = 10_000

/** A name in an error. */
export const shownName = (name: Bytes): string => printable(name.subarray(0, SHOWN_BYTES))
