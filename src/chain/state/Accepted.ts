import type { Reject } from "../../consensus/Reject.ts"
import type { HeaderId } from "../../protocol/keys.ts"

export type Accepted =
  | { readonly type: "new"; readonly id: HeaderId }
  | { readonly type: "known"; readonly id: HeaderId }
  | { readonly type: "rejected"; readonly reject: Reject }
