import { isLoopback } from "../base/addresses.ts"
import type { COOKIE_READERS } from "./accessOptions.ts"
import type { GivenSettings } from "./settings.ts"

/** The user of the cookie file, as upstream (`rpc/request.cpp`). */
export const COOKIE_USER = "__cookie__"

export interface CookieSettings {
  readonly path: string
  readonly mode: number
}

const MODES: Readonly<Record<(typeof COOKIE_READERS)[number], number>> = {
  owner: 0o600,
  group: 0o640,
  all: 0o644
}

type CookieOptions = Pick<GivenSettings, "cookie" | "rpc">

const isGuarded = ({ cookie, rpc: { allowInsecure, binds, listenAddr, rpcAuth, webWallet } }: CookieOptions): boolean =>
  cookie.isWanted || webWallet || rpcAuth.length > 0 ||
  (!allowInsecure && [listenAddr, ...binds].some(({ host }) => !isLoopback(host)))

/** The daemon makes a cookie if credentials are required and none are set in plain text. */
export const wantsCookie = (settings: CookieOptions): boolean =>
  settings.rpc.rpcPassword === undefined && settings.cookie.file !== undefined && isGuarded(settings)

export const cookieOf = (settings: CookieOptions): CookieSettings | undefined => {
  const { file, readers } = settings.cookie
  return file !== undefined && wantsCookie(settings) ? { path: file, mode: MODES[readers] } : undefined
}
