import { type Bytes, displayHash, toHex } from "../protocol/bytes.ts"
import { encodeText } from "../protocol/nameText.ts"
import type { NameList, PoolList } from "./routes.ts"

/**
 * Addresses relative to the overview, so that they work behind a proxy's prefix. Names are in the query, because
 * proxies and browsers change paths such as `d/..` and `d//a`.
 */

export const HOME = "./"

/** Pages for the owner of a wallet, made elsewhere. */
export const DESK_HOME = "./desk/"

/** The form there that registers a name. */
export const registerLink = (name: Bytes): string => `${DESK_HOME}register?hex=${toHex(name)}`

/** The first page, or one after a cursor. */
export interface PageOfSearch {
  readonly text: string
  /** Whether to list expired names instead of registered ones. */
  readonly expired?: boolean | undefined
  readonly after?: string | undefined
}

/** `after` is the cursor of the preceding page. */
export const searchLink = ({ after, expired = false, text }: PageOfSearch): string =>
  `?q=${encodeURIComponent(text)}${expired ? "&expired=1" : ""}${
    after === undefined ? "" : `&after=${encodeURIComponent(after)}`
  }`

const queryOf = (parts: ReadonlyArray<string>): string => {
  const given = parts.filter((part) => part !== "")
  return given.length === 0 ? "" : `?${given.join("&")}`
}

export interface NameLinkOptions {
  /** Page of the history, from 1 on. */
  readonly page?: number
  readonly full?: boolean
}

export const nameLink = (name: Bytes, { full = false, page = 1 }: NameLinkOptions = {}): string => {
  const text = encodeText(name, "utf8")
  const which = text === undefined ? `hex=${toHex(name)}` : `name=${encodeURIComponent(text)}`
  return `?${which}${page > 1 ? `&page=${page}` : ""}${full ? "&full=1" : ""}`
}

export const nameEventsLink = (name: Bytes): string => `./events?name=${toHex(name)}&nameEncoding=hex`

export const ACTIVITY = "./activity"

export const poolLink = ({ names = false, order = "newest", page = 1 }: Partial<PoolList> = {}): string => {
  const parts = [
    order === "newest" ? "" : `order=${order}`,
    names ? "names=1" : "",
    page > 1 ? `page=${page}` : ""
  ]
  return `./mempool${queryOf(parts)}`
}

export const blocksLink = ({ from }: { readonly from?: number | undefined } = {}): string =>
  `./blocks${from === undefined ? "" : `?from=${from}`}`

const pageOf = (page: number, first: string): string => page > 1 ? `${first}page=${page}` : ""

/** By height, or hash in wire order. */
export const blockLink = (place: number | Bytes, { page = 1 }: { readonly page?: number } = {}): string =>
  `./block/${typeof place === "number" ? place : displayHash(place)}${pageOf(page, "?")}`

export interface TransactionLinkOptions {
  /** The page then needs no index. */
  readonly block?: number | undefined
  readonly page?: number
}

/** The txid is in wire order. */
export const transactionLink = (txid: Bytes, { block, page = 1 }: TransactionLinkOptions = {}): string =>
  block === undefined
    ? `./tx/${displayHash(txid)}${pageOf(page, "?")}`
    : `./tx/${displayHash(txid)}?block=${block}${pageOf(page, "&")}`

export interface AddressLinkOptions {
  /** Whether to list names that have expired instead of those that it owns. */
  readonly expired?: boolean | undefined
  readonly after?: string | undefined
  /** Whether to list its coins instead of its payments. */
  readonly coins?: boolean | undefined
  /** Page of these, from 1 on. */
  readonly page?: number | undefined
}

export const addressLink = (
  address: string,
  { after, coins = false, expired = false, page = 1 }: AddressLinkOptions = {}
): string => {
  const query = queryOf([
    expired ? "expired=1" : "",
    after === undefined ? "" : `after=${encodeURIComponent(after)}`,
    coins ? "show=coins" : "",
    page > 1 ? `page=${page}` : ""
  ])
  return `./address/${encodeURIComponent(address)}${query}`
}

export const namesLink = ({ after, expired = false, order = "name", prefix = "" }: Partial<NameList> = {}): string => {
  const parts = [
    order === "name" ? "" : `order=${order}`,
    prefix === "" ? "" : `prefix=${encodeURIComponent(prefix)}`,
    expired ? "expired=1" : "",
    after === undefined ? "" : `after=${encodeURIComponent(after)}`
  ]
  return `./names${queryOf(parts)}`
}
