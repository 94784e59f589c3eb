import type { PageRequest } from "../http/Pages.ts"
import { isPagePath } from "./routes.ts"

/** Whether a request is for a page: a browser at one of their paths. Other clients find JSON-RPC at the root. */
export const isStatusRequest = ({ acceptsHtml, path }: PageRequest): boolean => acceptsHtml && isPagePath(path)

/** The methods that answer what a page shows, besides those of every document. */
export const methodsShown = ({ path, query }: Pick<PageRequest, "path" | "query">): ReadonlyArray<string> => {
  if (path === "/" && (query.has("name") || query.has("hex"))) return ["name_history", "name_pending"]
  if (path.startsWith("/block")) return ["getblock", "getblockheader"]
  if (path.startsWith("/tx/")) return ["getrawtransaction"]
  if (path === "/mempool") return ["getmempoolinfo", "getrawmempool", "getrawtransaction"]
  return path === "/activity" ? ["estimatesmartfee", "getblockheader"] : []
}
