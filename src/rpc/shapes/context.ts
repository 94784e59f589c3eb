import type { NameEncoding } from "../../protocol/nameText.ts"
import type { Network } from "../../protocol/networks.ts"

/** The encodings of names and values in answers; a call may override them. */
export interface NameEncodings {
  readonly nameEncoding: NameEncoding
  readonly valueEncoding: NameEncoding
}

/** The settings for readable output: the network for addresses, the encodings for names. */
export interface ShapeContext extends NameEncodings {
  readonly network: Network
}
