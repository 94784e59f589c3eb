import { MAX_MESSAGE_BYTES } from "../wire/codes.ts"

/** What a request of DNS over HTTPS asks for (RFC 8484, section 4.1). */

export const DNS_PATH = "/dns-query"
export const DNS_TYPE = "application/dns-message"

export interface WebRefusal {
  readonly status: 400 | 404 | 405 | 413 | 415 | 503
  /** A line for people. */
  readonly text: string
  readonly headers?: Readonly<Record<string, string>>
}

export type HttpQuestion =
  | { readonly _tag: "Query"; readonly bytes: Uint8Array }
  /** The body has the question. */
  | { readonly _tag: "Body" }
  | { readonly _tag: "Refused"; readonly refusal: WebRefusal }

interface RequestHead {
  readonly method: string | undefined
  /** Path and query. */
  readonly url: string | undefined
  readonly contentType: string | undefined
  readonly contentLength: string | undefined
}

const refused = (refusal: WebRefusal): HttpQuestion => ({ _tag: "Refused", refusal })

export const LARGE_MESSAGE: WebRefusal = { status: 413, text: `a DNS message has at most ${MAX_MESSAGE_BYTES} bytes` }

/** The parameter of the longest message, without padding. */
const LONGEST_PARAMETER = Math.ceil((MAX_MESSAGE_BYTES * 4) / 3)

const BASE64URL = /^[A-Za-z0-9_-]+$/

/** Without padding (RFC 8484, section 6). A length of 1 over a multiple of 4 is that of no bytes. */
const decoded = (text: string): Uint8Array | undefined =>
  BASE64URL.test(text) && text.length % 4 !== 1 ? Buffer.from(text, "base64url") : undefined

const questionIn = (search: string): HttpQuestion => {
  const text = new URLSearchParams(search).get("dns")
  if (text === null) return refused({ status: 400, text: `write ${DNS_PATH}?dns= and the message in base64url` })
  if (text.length > LONGEST_PARAMETER) return refused(LARGE_MESSAGE)
  const bytes = decoded(text)
  return bytes === undefined
    ? refused({ status: 400, text: "the parameter dns is not base64url without padding" })
    : { _tag: "Query", bytes }
}

/** Compares the media type without its parameters. */
const isDnsType = (contentType: string | undefined): boolean =>
  contentType?.split(";")[0]?.trim().toLowerCase() === DNS_TYPE

export const readHttpQuestion = ({ contentLength, contentType, method, url = "" }: RequestHead): HttpQuestion => {
  const mark = url.indexOf("?")
  const [path, search] = mark < 0 ? [url, ""] : [url.slice(0, mark), url.slice(mark + 1)]
  if (path !== DNS_PATH) return refused({ status: 404, text: `DNS is at ${DNS_PATH}` })
  if (method === "GET" || method === "HEAD") return questionIn(search)
  if (method !== "POST") {
    return refused({ status: 405, text: "only GET, HEAD and POST", headers: { allow: "GET, HEAD, POST" } })
  }
  if (!isDnsType(contentType)) return refused({ status: 415, text: `the body has to be ${DNS_TYPE}` })
  return Number(contentLength ?? 0) > MAX_MESSAGE_BYTES ? refused(LARGE_MESSAGE) : { _tag: "Body" }
}
