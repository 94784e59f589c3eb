import { isIP } from "node:net"
import { isLoopback } from "../base/addresses.ts"

/**
 * Requests that web pages make browsers send (docs/rpc.md, "Browsers"). Any page can make a browser POST a text to an
 * address of its choice, such as this node's, with the credentials that the browser has for it. And a page whose name
 * resolves to this machine counts as one of ours to the browser. Neither concerns the reference node: it never serves a
 * page, and never runs without credentials.
 */

export interface BrowserHeaders {
  readonly host?: string | undefined
  readonly origin?: string | undefined
  /** The relation of the requesting page to this server, as the browser reports it. */
  readonly "sec-fetch-site"?: string | ReadonlyArray<string> | undefined
}

const hostOf = (authority: string): string => {
  const bracket = authority.indexOf("]")
  if (authority.startsWith("[") && bracket > 0) return authority.slice(1, bracket)
  return authority.split(":")[0] ?? ""
}

const nameOf = (host: string): string => hostOf(host).toLowerCase().replace(/\.$/, "")

/**
 * Whether a Host header cannot be a foreign name that resolves to this machine: an address, a name of this machine or
 * without a dot, or the name that the node listens on. A program without the header is not a browser.
 */
export const isLocalName = (host: string | undefined, { ownName }: Pick<BrowserRule, "ownName">): boolean => {
  if (host === undefined) return true
  const name = nameOf(host)
  return isIP(name) !== 0 || !name.includes(".") || name.endsWith(".localhost") || name === ownName.toLowerCase()
}

/** Whether a Host header is an address or a name that only means this machine, or the name that the node listens on. */
export const isOwnName = (host: string | undefined, { ownName }: Pick<BrowserRule, "ownName">): boolean => {
  if (host === undefined) return true
  const name = nameOf(host)
  return isLoopback(name) || name.endsWith(".localhost") || name === ownName.toLowerCase()
}

export interface BrowserRule {
  /** The name or address that the node listens on. */
  readonly ownName: string
  /** Whether no credentials are required. */
  readonly open: boolean
}

/**
 * Whether a request names a foreign host while no credentials are required. Then only the name shows which page sent
 * the request, and not every browser marks its requests in another way.
 */
export const isForeignHost = (host: string | undefined, { open, ownName }: BrowserRule): boolean =>
  open && !isLocalName(host, { ownName })

/** Whether a request that can change something comes from a page of another site. */
export const isForeignCall = ({ host, origin, "sec-fetch-site": site }: BrowserHeaders): boolean =>
  (site !== undefined && site !== "same-origin" && site !== "none") ||
  (origin !== undefined && origin !== `http://${host ?? ""}` && origin !== `https://${host ?? ""}`)
