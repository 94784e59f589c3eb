import type { PageRequest } from "../http/Pages.ts"

/** Whether a request is for the status page: a browser at the root. Other clients find JSON-RPC there. */
export const isStatusRequest = ({ acceptsHtml, path }: PageRequest): boolean => acceptsHtml && path === "/"
