import * as Context from "effect/Context"
import * as Layer from "effect/Layer"
import { monotonic } from "../base/clock.ts"
import { hashOfToken, newSecretToken } from "../base/secretToken.ts"
import type { AdmittedUser } from "./method/permission.ts"

/** Links that each sign a browser in to the desk once: a caller of JSON-RPC makes them, and the desk opens them. */

/** Milliseconds for which a link can be used. */
export const LINK_MS = 10 * 60_000

/** Maximum number of links per user, including used and old ones. Another one replaces the oldest. */
export const MOST_LINKS = 16

/** Times are milliseconds of a monotonic clock. */
export interface DeskLink {
  /** Its session has the rights of this user, who made it. */
  readonly by: AdmittedUser
  /** The wallet that the caller named. */
  readonly wallet: string | undefined
  readonly made: number
  /** What its use began, and when. */
  used: { readonly at: number; readonly session: object } | undefined
}

export type LinkState = "open" | "used" | "old"

export const linkState = ({ made, used }: Pick<DeskLink, "made" | "used">, now: number): LinkState =>
  used !== undefined ? "used" : now - made >= LINK_MS ? "old" : "open"

/** Links stay after their use and time, so that the desk can say what became of them. */
export class LinkBook {
  /** By user, as many as configured. The oldest link first, by the hash of its token. */
  readonly #links = new Map<string, Map<string, DeskLink>>()
  readonly now: () => number

  constructor(now: () => number) {
    this.now = now
  }

  /** Returns the token, which is stored nowhere. */
  make(by: AdmittedUser, { wallet }: Pick<DeskLink, "wallet">): string {
    const links = this.#links.get(by.user) ?? new Map<string, DeskLink>()
    this.#links.set(by.user, links)
    const token = newSecretToken()
    links.set(hashOfToken(token), { by, wallet, made: this.now(), used: undefined })
    const [oldest] = links.keys()
    if (links.size > MOST_LINKS && oldest !== undefined) links.delete(oldest)
    return token
  }

  find(token: string): DeskLink | undefined {
    const hash = hashOfToken(token)
    for (const links of this.#links.values()) {
      const link = links.get(hash)
      if (link !== undefined) return link
    }
    return undefined
  }
}

export class DeskLinks extends Context.Tag("svcd/DeskLinks")<DeskLinks, {
  /** `undefined` while the desk is off. */
  readonly book: LinkBook | undefined
  /** Whether a proxy in front of the desk ends TLS. */
  readonly behindProxy: boolean
}>() {}

export const layer = (
  { behindProxy, isOn }: { readonly isOn: boolean; readonly behindProxy: boolean }
): Layer.Layer<DeskLinks> =>
  Layer.sync(DeskLinks, () => ({ book: isOn ? new LinkBook(monotonic) : undefined, behindProxy }))
