import * as AccessKind from "./accessKinds.ts"
import { listOption, type OptionTable } from "./optionRow.ts"

/** The options that say which callers RPC answers, and what they may call. */

export const ACCESS_OPTIONS = {
  rpcauth: listOption(
    AccessKind.hashedUserKind,
    "rpcauth",
    "RPC",
    "user with the hash of the password, as svcd-cli rpcauth makes it; may be repeated",
    { secret: true, defaultNote: "no such user" }
  )
} satisfies OptionTable
