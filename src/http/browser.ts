import { isIP } from "node:net"

/**
 * Requests that web pages make browsers send (docs/rpc.md, "Browsers"). Any page can have a browser POST a text to an
 * address of its choice, this node's among them, with the credentials that the browser knows for it; and a page whose
 * name is made to lead to this machine counts as one of ours to the browser. The reference node has to fear neither: it
 * never serves a page, and never goes without credentials.
 */

export interface BrowserHeaders {
  readonly host?: string | undefined
  readonly origin?: string | undefined
  /** How the page that asks is related to us, in the browser's words. */
  readonly "sec-fetch-site"?: string | ReadonlyArray<string> | undefined
}

const hostOf = (authority: string): string => {
  const bracket = authority.indexOf("]")
  if (authority.startsWith("[") && bracket > 0) return authority.slice(1, bracket)
  return authority.split(":")[0] ?? ""
}

/**
 * Whether a Host header cannot be one that a stranger has let lead here: addresses, names of this machine or without
 * a dot, and the name that the node listens on. A program that sends none is no browser.
 */
export const isLocalName = (host: string | undefined, ownName: string): boolean => {
  if (host === undefined) return true
  const name = hostOf(host).toLowerCase().replace(/\.$/, "")
  return isIP(name) !== 0 || !name.includes(".") || name.endsWith(".localhost") || name === ownName.toLowerCase()
}

export interface BrowserRule {
  /** The name or address that the node listens on. */
  readonly ownName: string
  /** Whether nobody is asked for credentials. */
  readonly open: boolean
}

/**
 * Whether a request names a host that is not ours, where no credentials say who asks: then only the name tells whose page
 * it is, and not every browser marks its requests in another way.
 */
export const isForeignHost = (host: string | undefined, { open, ownName }: BrowserRule): boolean =>
  open && !isLocalName(host, ownName)

/** Whether a request that can change something comes from a page of another site. */
export const isForeignCall = ({ host, origin, "sec-fetch-site": site }: BrowserHeaders): boolean =>
  (site !== undefined && site !== "same-origin" && site !== "none") ||
  (origin !== undefined && origin !== `http://${host ?? ""}` && origin !== `https://${host ?? ""}`)
