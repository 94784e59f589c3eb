import { isIP } from "node:net"
import { isLoopback } from "../base/addresses.ts"

/**
 * Requests that web pages make browsers send (docs/rpc.md, "Browsers"). Any page can make a browser POST to this node
 * with its stored credentials, and a page whose name resolves to this machine counts as ours. The reference node is not
 * concerned: it serves no pages and always has credentials.
 */

export interface BrowserHeaders {
  readonly host?: string | undefined
  readonly origin?: string | undefined
  /** Relation of the requesting page to this server, as reported by the browser. */
  readonly "sec-fetch-site"?: string | ReadonlyArray<string> | undefined
}

const hostOf = (authority: string): string => {
  const bracket = authority.indexOf("]")
  if (authority.startsWith("[") && bracket > 0) return authority.slice(1, bracket)
  return authority.split(":")[0] ?? ""
}

const nameOf = (host: string): string => hostOf(host).toLowerCase().replace(/\.$/, "")

/**
 * Whether a Host header cannot be a foreign name that resolves to this machine: an address, a local name or one without
 * a dot, or the node's own name. Without the header, the caller is not a browser.
 */
export const isLocalName = (host: string | undefined, { ownName }: Pick<BrowserRule, "ownName">): boolean => {
  if (host === undefined) return true
  const name = nameOf(host)
  return isIP(name) !== 0 || !name.includes(".") || name.endsWith(".localhost") || name === ownName.toLowerCase()
}

/** An address, a name that only means this machine, or the name that the node listens on. */
export const isOwnName = (host: string | undefined, { ownName }: Pick<BrowserRule, "ownName">): boolean => {
  if (host === undefined) return true
  const name = nameOf(host)
  return isLoopback(name) || name.endsWith(".localhost") || name === ownName.toLowerCase()
}

export interface BrowserRule {
  /** The name or address that the node listens on. */
  readonly ownName: string
  readonly open: boolean
}

/** Whether a request names a foreign host without credentials. Not every browser marks requests in another way. */
export const isForeignHost = (host: string | undefined, { open, ownName }: BrowserRule): boolean =>
  open && !isLocalName(host, { ownName })

/** Whether a request that can change something comes from another site, as a forged one does (CSRF). */
export const isForeignCall = ({ host, origin, "sec-fetch-site": site }: BrowserHeaders): boolean =>
  (site !== undefined && site !== "same-origin" && site !== "none") ||
  (origin !== undefined && origin !== `http://${host ?? ""}` && origin !== `https://${host ?? ""}`)
