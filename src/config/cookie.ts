import { type Address, isLoopback } from "../base/addresses.ts"
import type { COOKIE_READERS } from "./accessOptions.ts"

/** Where the daemon writes credentials for callers of this machine, and its permissions. */
export interface CookieSettings {
  /** Absolute. */
  readonly path: string
  readonly mode: number
}

export const COOKIE_MODES: Readonly<Record<(typeof COOKIE_READERS)[number], number>> = {
  owner: 0o600,
  group: 0o640,
  all: 0o644
}

/** The values of the options that decide about a cookie. */
interface CookieValues {
  readonly rpcaddr: Address
  readonly rpcbind: ReadonlyArray<Address>
  readonly rpcallowinsecure: boolean
  readonly rpcauth: ReadonlyArray<unknown>
  readonly rpccookie: boolean
  readonly rpccookiefile: string | undefined
  readonly rpcpassword: unknown
  readonly webwallet: boolean
}

/** Whether callers need credentials, be it those of a cookie. */
const isGuarded = (values: CookieValues): boolean => {
  const { rpcaddr, rpcallowinsecure, rpcauth, rpcbind, rpccookie, webwallet } = values
  return rpccookie || webwallet || rpcauth.length > 0 ||
    (!rpcallowinsecure && [rpcaddr, ...rpcbind].some(({ host }) => !isLoopback(host)))
}

/** Whether the daemon makes a cookie: where credentials are asked for and none are set in plain text. */
export const wantsCookie = (values: CookieValues): boolean =>
  values.rpcpassword === undefined && values.rpccookiefile !== undefined && isGuarded(values)
