import { type Bytes, fromHex, toHex } from "../protocol/bytes.ts"
import { decodeText, encodeText } from "../protocol/nameText.ts"

/** The addresses of the pages: all have the path of the overview, so that they also work behind a proxy's prefix. */

export type Wanted =
  | { readonly _tag: "Overview" }
  /** A text from the search field, for which the page guesses the name. */
  | { readonly _tag: "Search"; readonly text: string; readonly after?: string }
  | { readonly _tag: "Name"; readonly name: Bytes; readonly page: number; readonly full: boolean }
  | { readonly _tag: "Wrong"; readonly reason: string }

/** Most pages of history: 20,000 operations. */
const MAX_PAGE = 1_000

const PAGE = /^[1-9][0-9]{0,3}$/

const bytesOf = (query: URLSearchParams): Bytes | undefined => {
  const hex = query.get("hex")
  return hex === null ? decodeText(query.get("name") ?? "", "utf8") : fromHex(hex)
}

export const wanted = (query: URLSearchParams): Wanted => {
  if (query.has("name") || query.has("hex")) {
    const name = bytesOf(query)
    if (name === undefined) return { _tag: "Wrong", reason: "The name is not given as text or as hexadecimal bytes." }
    const page = query.get("page") ?? "1"
    if (!PAGE.test(page) || Number(page) > MAX_PAGE) {
      return { _tag: "Wrong", reason: `The page of a history is a number from 1 to ${MAX_PAGE}.` }
    }
    return { _tag: "Name", name, page: Number(page), full: query.get("full") === "1" }
  }
  const text = query.get("q") ?? ""
  if (text.trim() === "") return { _tag: "Overview" }
  const after = query.get("after")
  return after === null ? { _tag: "Search", text } : { _tag: "Search", text, after }
}

export const HOME = "./"

/** A page of a search: the first one, or the one behind a cursor. */
export interface PageOfSearch {
  readonly text: string
  readonly after?: string | undefined
}

/** The address of a page of a search; `after` is the cursor of the page before. */
export const searchLink = ({ after, text }: PageOfSearch): string =>
  `?q=${encodeURIComponent(text)}${after === undefined ? "" : `&after=${encodeURIComponent(after)}`}`

export interface NameLinkOptions {
  /** Page of the history, from 1 on. */
  readonly page?: number
  /** Whether a long value is shown in full. */
  readonly full?: boolean
}

/** The address of a name's page, the inverse of `wanted`. */
export const nameLink = (name: Bytes, { full = false, page = 1 }: NameLinkOptions = {}): string => {
  const text = encodeText(name, "utf8")
  const which = text === undefined ? `hex=${toHex(name)}` : `name=${encodeURIComponent(text)}`
  return `?${which}${page > 1 ? `&page=${page}` : ""}${full ? "&full=1" : ""}`
}
