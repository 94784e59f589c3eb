import type { PermissionSettings } from "../config/accessKinds.ts"
import { METHODS_OF } from "../rpc/method/rights.ts"

/** Which methods a user of RPC may call (`-rpcwhitelist`, `-rpcrights`). */

/** The methods that a user may call; `undefined`: all. */
export type Permitted = ReadonlySet<string> | undefined

export const UNLIMITED: PermissionSettings = { whitelists: [], rights: [], byDefault: undefined }

const NOTHING: ReadonlySet<string> = new Set()

/** Returns the permission of each user. Several lists of one user leave the methods that all of them have. */
export const permissions = ({ byDefault, rights, whitelists }: PermissionSettings): (user: string) => Permitted => {
  const lists = [
    ...whitelists,
    ...rights.map(({ user, words }) => ({ user, words: words.flatMap((right) => METHODS_OF[right]) }))
  ]
  const found = new Map<string, ReadonlySet<string>>()
  for (const { user, words } of lists) {
    const before = found.get(user)
    found.set(user, new Set(before === undefined ? words : words.filter((word) => before.has(word))))
  }
  const others = byDefault ?? lists.length > 0 ? NOTHING : undefined
  return (user) => found.get(user) ?? others
}

/** What the documents of the listener that need credentials show. */
const SHOWN = ["getblockchaininfo", "getmempoolinfo", "getpeerinfo", "name_find", "name_show"]

/** Whether a user may see the documents that need credentials, and the one that needs further methods. */
export const maySeePages = (permitted: Permitted, needed: ReadonlyArray<string> = []): boolean =>
  permitted === undefined || [...SHOWN, ...needed].every((method) => permitted.has(method))
