import type { NameEncoding } from "../../protocol/nameText.ts"
import type { Network } from "../../protocol/networks.ts"
import type { JsonValue } from "../json/encodeJson.ts"

/** The encodings of names and values in answers; a call may override them. */
export interface NameEncodings {
  readonly nameEncoding: NameEncoding
  readonly valueEncoding: NameEncoding
}

/** The settings for readable output: the network for addresses, the encodings for names. */
export interface ShapeContext extends NameEncodings {
  readonly network: Network
}

/** An object of an answer, with members in the reference node's order. Members that are `undefined` are omitted. */
export interface Members {
  readonly [name: string]: JsonValue | undefined
}
