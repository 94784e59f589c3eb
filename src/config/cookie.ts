import { isLoopback } from "../base/addresses.ts"
import type { COOKIE_READERS } from "./accessOptions.ts"
import type { GivenSettings } from "./settings.ts"

/** Where the daemon writes credentials for callers of this machine, and its permissions. */
export interface CookieSettings {
  /** Absolute. */
  readonly path: string
  readonly mode: number
}

const MODES: Readonly<Record<(typeof COOKIE_READERS)[number], number>> = {
  owner: 0o600,
  group: 0o640,
  all: 0o644
}

type CookieOptions = Pick<GivenSettings, "cookie" | "rpc">

/** Whether callers need credentials, be it those of a cookie. */
const isGuarded = ({ cookie, rpc: { allowInsecure, binds, listenAddr, rpcAuth, webWallet } }: CookieOptions): boolean =>
  cookie.isWanted || webWallet || rpcAuth.length > 0 ||
  (!allowInsecure && [listenAddr, ...binds].some(({ host }) => !isLoopback(host)))

/** Whether the daemon makes a cookie: where credentials are asked for and none are set in plain text. */
export const wantsCookie = (settings: CookieOptions): boolean =>
  settings.rpc.rpcPassword === undefined && settings.cookie.file !== undefined && isGuarded(settings)

/** The cookie of the daemon; `undefined` if it makes none. */
export const cookieOf = (settings: CookieOptions): CookieSettings | undefined => {
  const { file, readers } = settings.cookie
  return file !== undefined && wantsCookie(settings) ? { path: file, mode: MODES[readers] } : undefined
}
