import type { PermissionSettings, UserRight } from "../config/accessKinds.ts"
import type { Demand } from "../rpc/method/methodTable.ts"
import type { UserPermission } from "../rpc/method/permission.ts"
import { missingRights } from "../rpc/method/rights.ts"

/** `-rpcwhitelist`, `-rpcrights`. */

/** `undefined` for everything. */
export type Permitted = UserPermission | undefined

export const UNLIMITED: PermissionSettings = { whitelists: [], rights: [], byDefault: undefined }

const NOTHING: UserPermission = { methods: new Set(), rights: undefined }

/** Words that all lists of a user have; `undefined` without a list. */
const inEach = <A>(
  lists: ReadonlyArray<{ readonly user: string; readonly words: ReadonlyArray<A> }>,
  user: string
): ReadonlySet<A> | undefined => {
  const [first, ...others] = lists.filter((list) => list.user === user)
  return first === undefined
    ? undefined
    : new Set(first.words.filter((word) => others.every(({ words }) => words.includes(word))))
}

/** Several lists of one user permit what all of them have. */
export const permissions = ({ byDefault, rights, whitelists }: PermissionSettings): (user: string) => Permitted => {
  const users = new Set([...whitelists, ...rights].map(({ user }) => user))
  const found = new Map(
    [...users].map((user): [string, UserPermission] => [
      user,
      { methods: inEach(whitelists, user), rights: inEach<UserRight>(rights, user) }
    ])
  )
  const others = byDefault ?? users.size > 0 ? NOTHING : undefined
  return (user) => found.get(user) ?? others
}

/** Shown by the documents that need credentials. */
const SHOWN = ["getblockchaininfo", "getmempoolinfo", "getpeerinfo", "name_find", "name_show"]

/** The first need that the user lacks; `undefined` if none. */
export const notPermitted = (permitted: Permitted, demands: ReadonlyArray<Demand>): Demand | undefined => {
  if (permitted === undefined) return undefined
  for (const demand of demands) {
    const rights = missingRights(permitted, demand)
    if (rights !== undefined) return { method: demand.method, rights }
  }
  return undefined
}

/** For the documents that need credentials. One of them needs further methods. */
export const pageNotPermitted = (
  permitted: Permitted,
  needed: ReadonlyArray<string>,
  demandOf: (method: string) => Demand
): Demand | undefined =>
  permitted === undefined ? undefined : notPermitted(permitted, [...SHOWN, ...needed].map(demandOf))
