import type { RequestHead } from "./gate.ts"

/** The most common form of requests, parsed in a fraction of the time. All others go to Node's parser, valid or not. */

export interface PlainHead extends RequestHead {
  readonly length: number
}

const REQUEST_LINE = /^POST (\/[!-~]*) HTTP\/1\.1$/

/** A token, and text without control characters (RFC 9110, 5.5 and 5.6.2). */
const FIELD = /^([!#$%&'*+\-.^_`|~0-9A-Za-z]+):([\t -~\x80-\xff]*)$/

const isBlank = (code: number): boolean => code === 0x20 || code === 0x09

/** One pass; a regular expression for the end would start at each blank. */
const trimmed = (text: string): string => {
  let [from, to] = [0, text.length]
  while (from < to && isBlank(text.charCodeAt(from))) from++
  while (to > from && isBlank(text.charCodeAt(to - 1))) to--
  return text.slice(from, to)
}

/** As Node's parser, allows spaces after the digits, but no tab. */
const LENGTH = /^[ \t]*[0-9]{1,15} *$/

/** One character per byte, without the final empty line. `undefined` for other forms and requests of browsers. */
export const readPlainHead = (text: string): PlainHead | undefined => {
  const [first = "", ...lines] = text.split("\r\n")
  const target = REQUEST_LINE.exec(first)?.[1]
  if (target === undefined) return undefined
  let length: number | undefined
  let authorization: string | undefined
  let host: string | undefined
  for (const line of lines) {
    const [, name, content] = FIELD.exec(line) ?? []
    if (name === undefined || content === undefined) return undefined
    const value = trimmed(content)
    switch (name.toLowerCase()) {
      case "content-length":
        if (length !== undefined || !LENGTH.test(content)) return undefined
        length = Number(value)
        break
      case "authorization":
        if (authorization !== undefined) return undefined
        authorization = value
        break
      case "host":
        if (host !== undefined) return undefined
        host = value
        break
      case "connection":
      // Node's parser treats the two alike.
      case "proxy-connection":
        if (value.toLowerCase() !== "keep-alive") return undefined
        break
      case "transfer-encoding":
      case "expect":
      case "upgrade":
      case "origin":
      case "sec-fetch-site":
        return undefined
    }
  }
  return length === undefined ? undefined : { verb: "POST", target, length, headers: { host, authorization } }
}
