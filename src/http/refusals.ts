import type { Demand } from "../rpc/method/methodTable.ts"
import { MISSING_RIGHT } from "../rpc/method/rights.ts"

/** Refusals before the dispatcher (reference/rpc.md 1.1). */

export const PLAIN_TEXT = "text/plain; charset=utf-8"

/** Refused by HTTP alone. Not JSON, which indexers take as final (reference/rpc.md 1.11). */
export interface HttpRefusal {
  readonly status: number
  readonly text: string
  readonly headers?: ReadonlyArray<string>
  /** Whether the connection closes after it. */
  readonly close?: boolean
}

/** Milliseconds for which a client may still send a refused body, so that it can read the answer. */
export const LINGER = 500

export const STOPPING: HttpRefusal = { status: 503, text: "Shutting down", close: true }
export const TOO_LARGE: HttpRefusal = { status: 413, text: "Request body too large", close: true }
export const NOT_IMPLEMENTED: HttpRefusal = { status: 501, text: "" }
export const BAD_VERB: HttpRefusal = { status: 405, text: "" }
export const NOT_POST: HttpRefusal = {
  status: 405,
  text: "JSONRPC server handles only POST requests",
  headers: ["Allow", "POST"]
}
export const NOT_GET: HttpRefusal = { status: 405, text: "", headers: ["Allow", "GET, HEAD"] }
/** The reference node's body is empty. Its clients only read the status. */
export const NOT_FOUND: HttpRefusal = {
  status: 404,
  text:
    "Nothing is at this path: JSON-RPC takes POST at / and /wallet/NAME, and GET /health shows the state of the node"
}
/** For a person who looks for the desk. */
export const NO_DESK: HttpRefusal = {
  status: 404,
  text: "The desk is off. Set webwallet = true in svcd.conf, restart svcd, and run svcd-cli desk for a link to it."
}
/** For a call without a place, and for one that ended for another caller. */
export const BUSY: HttpRefusal = { status: 503, text: "Work queue depth exceeded" }
export const NO_ROOM: HttpRefusal = {
  status: 503,
  text: "The memory for requests is full: send less at once, or try again later",
  close: true
}
export const NO_ANSWER_ROOM: HttpRefusal = {
  status: 503,
  text: "The memory for answers is full: ask for less at once, or try again later"
}
export const FOREIGN: HttpRefusal = { status: 403, text: "Requests from pages of other sites are refused" }
export const FOREIGN_HOST: HttpRefusal = {
  status: 403,
  text: "Without credentials, requests under a name that may belong to others are refused: " +
    "use the address of this machine, or set rpcuser and rpcpassword"
}
/** Upstream `httpserver.cpp`, `http_request_cb`. */
export const NOT_ALLOWED: HttpRefusal = { status: 403, text: "" }

/** The header names the right. Upstream's answer has no body (`httprpc.cpp`, `HTTPReq_JSONRPC`). */
export const forbidden = ({ method, rights: [right] }: Demand): HttpRefusal =>
  right === undefined
    ? NOT_ALLOWED
    : { status: 403, text: `${method} needs the right ${right} here`, headers: [MISSING_RIGHT, right] }
export const UNAUTHORIZED: HttpRefusal = {
  status: 401,
  text: "",
  headers: ["WWW-Authenticate", "Basic realm=\"jsonrpc\""]
}
/** For documents. A browser shows the text after the user cancels the password prompt. */
export const UNAUTHORIZED_PAGE: HttpRefusal = {
  ...UNAUTHORIZED,
  text:
    "This page needs you to sign in. With the desk (webwallet = true), run svcd-cli desk on the node's machine, and open its link: " +
    "it signs this browser in to these pages, too.\nOtherwise load the page again, and type the user and the password of JSON-RPC: " +
    "those of rpcauth, or rpcuser and rpcpassword. Without a user of your own, they are the two parts of the file .cookie in the " +
    "data directory, separated by a colon."
}
export const FAILED: HttpRefusal = { status: 500, text: "Internal error" }
export const tooMany = (seconds: number): HttpRefusal => ({
  status: 429,
  text: "Too many requests",
  headers: ["Retry-After", String(seconds)]
})
