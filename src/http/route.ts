import type { HealthPath } from "./health.ts"

/** The verbs that upstream knows; it answers others with 405 before it checks the path. */
export const KNOWN_VERBS: ReadonlySet<string> = new Set(["GET", "HEAD", "POST", "PUT"])

/** The meaning of a path of the RPC listener (reference/rpc.md 1.2). */
export type Route =
  /** JSON-RPC. `wallet` is the name in `/wallet/<name>`. */
  | { readonly _tag: "Rpc"; readonly wallet: string | undefined }
  | { readonly _tag: "Health"; readonly path: HealthPath }

const WALLET = "/wallet/"

const RPC: Route = { _tag: "Rpc", wallet: undefined }

/** Returns the route of a request's target, which is compared as it is: `/?a=1`, `//` and `/wallet` have none. */
export const route = (target: string): Route | undefined => {
  if (target === "/" || target === "/rpc") return RPC
  if (target === "/health" || target === "/ready") return { _tag: "Health", path: target }
  if (target.startsWith(WALLET)) return { _tag: "Rpc", wallet: percentDecode(target.slice(WALLET.length)) }
  return undefined
}

const ESCAPE = /%([0-9a-fA-F]{2})/g

/**
 * Decodes a part of a target: one character a byte before, UTF-8 after. A percent sign without an escape stands for
 * itself. Upstream `common/url.cpp`, `UrlDecode`.
 */
const percentDecode = (part: string): string => {
  const bytes = part.replaceAll(ESCAPE, (_, digits: string) => String.fromCharCode(Number.parseInt(digits, 16)))
  return Buffer.from(bytes, "latin1").toString("utf8")
}
