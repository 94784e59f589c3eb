import type { UserRight } from "../../config/accessKinds.ts"

/** `undefined` means no limit. */
export interface UserPermission {
  /** `-rpcwhitelist`: as in the reference node, a list permits all parameters. */
  readonly methods: ReadonlySet<string> | undefined
  readonly rights: ReadonlySet<UserRight> | undefined
}

/** A user of RPC whose credentials were admitted. */
export interface AdmittedUser {
  readonly user: string
  /** `undefined` for everything. */
  readonly permitted: UserPermission | undefined
}
