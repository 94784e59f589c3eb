import type { NameEncoding } from "../../protocol/nameText.ts"
import type { Network } from "../../protocol/networks.ts"
import type { JsonValue } from "../json/encodeJson.ts"

/** How the node shows names and values; a call may ask for something else. */
export interface NameEncodings {
  readonly nameEncoding: NameEncoding
  readonly valueEncoding: NameEncoding
}

/** What turns bytes into what people read: the network for addresses, the encodings for names. */
export interface ShapeContext extends NameEncodings {
  readonly network: Network
}

/** An object of an answer; members in the reference node's order, those that are `undefined` left out. */
export interface Members {
  readonly [name: string]: JsonValue | undefined
}
