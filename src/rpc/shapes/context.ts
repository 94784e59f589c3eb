import type { NameEncoding } from "../../protocol/nameText.ts"
import type { Network } from "../../protocol/networks.ts"

/** Encodings in answers, which a call may override. */
export interface NameEncodings {
  readonly nameEncoding: NameEncoding
  readonly valueEncoding: NameEncoding
}

export interface ShapeContext extends NameEncodings {
  readonly network: Network
}
