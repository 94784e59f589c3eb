import { type Bytes, displayHash, toHex } from "../protocol/bytes.ts"
import { encodeText } from "../protocol/nameText.ts"
import type { NameList, PoolList } from "./routes.ts"

/**
 * The addresses of the pages, relative to the overview, so that they also work behind a proxy's prefix. A name is in
 * the query and not in the path: proxies and browsers change paths such as `d/..` and `d//a`.
 */

export const HOME = "./"

/** The pages for the owner of a wallet, which other files make. */
export const DESK_HOME = "./desk/"

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

/** The address of a name's page. */
export const nameLink = (name: Bytes, { full = false, page = 1 }: NameLinkOptions = {}): string => {
  const text = encodeText(name, "utf8")
  const which = text === undefined ? `hex=${toHex(name)}` : `name=${encodeURIComponent(text)}`
  return `?${which}${page > 1 ? `&page=${page}` : ""}${full ? "&full=1" : ""}`
}

/** The events of a name, as they come. */
export const nameEventsLink = (name: Bytes): string => `./events?name=${toHex(name)}&nameEncoding=hex`

export const ACTIVITY = "./activity"

/** The list of waiting transactions. */
export const poolLink = ({ names = false, order = "newest", page = 1 }: Partial<PoolList> = {}): string => {
  const parts = [
    order === "newest" ? "" : `order=${order}`,
    names ? "names=1" : "",
    page > 1 ? `page=${page}` : ""
  ].filter((part) => part !== "")
  return parts.length === 0 ? "./mempool" : `./mempool?${parts.join("&")}`
}

export const blocksLink = ({ from }: { readonly from?: number | undefined } = {}): string =>
  `./blocks${from === undefined ? "" : `?from=${from}`}`

const pageOf = (page: number, first: string): string => page > 1 ? `${first}page=${page}` : ""

/** The address of a block's page, by its height or its hash in wire order. */
export const blockLink = (place: number | Bytes, { page = 1 }: { readonly page?: number } = {}): string =>
  `./block/${typeof place === "number" ? place : displayHash(place)}${pageOf(page, "?")}`

export interface TransactionLinkOptions {
  /** Height of its block: the page then needs no index. */
  readonly block?: number | undefined
  readonly page?: number
}

/** The address of a transaction's page; the txid in wire order. */
export const transactionLink = (txid: Bytes, { block, page = 1 }: TransactionLinkOptions = {}): string =>
  block === undefined
    ? `./tx/${displayHash(txid)}${pageOf(page, "?")}`
    : `./tx/${displayHash(txid)}?block=${block}${pageOf(page, "&")}`

export interface AddressLinkOptions {
  readonly after?: string | undefined
}

export const addressLink = (address: string, { after }: AddressLinkOptions = {}): string =>
  `./address/${encodeURIComponent(address)}${after === undefined ? "" : `?after=${encodeURIComponent(after)}`}`

export const namesLink = ({ after, expired = false, order = "name", prefix = "" }: Partial<NameList> = {}): string => {
  const parts = [
    order === "name" ? "" : `order=${order}`,
    prefix === "" ? "" : `prefix=${encodeURIComponent(prefix)}`,
    expired ? "expired=1" : "",
    after === undefined ? "" : `after=${encodeURIComponent(after)}`
  ].filter((part) => part !== "")
  return parts.length === 0 ? "./names" : `./names?${parts.join("&")}`
}
