import type { PageRequest } from "../http/Pages.ts"
import { isPagePath } from "./routes.ts"

/** Whether a request is for a page: a browser at one of their paths. Other clients find JSON-RPC at the root. */
export const isStatusRequest = ({ acceptsHtml, path }: PageRequest): boolean => acceptsHtml && isPagePath(path)
