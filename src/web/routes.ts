import { MAX_NAME_LENGTH } from "../consensus/names.ts"
import type { PageRequest } from "../http/Pages.ts"
import { type Bytes, fromHex, parseDisplayHash } from "../protocol/bytes.ts"
import { decodeText } from "../protocol/nameText.ts"

/** Parses the addresses that `links.ts` makes. */

export const NAME_ORDERS = ["name", "changed", "expiring"] as const

export type NameOrder = (typeof NAME_ORDERS)[number]

export interface NameList {
  readonly order: NameOrder
  /** As text; empty for all. */
  readonly prefix: string
  readonly expired: boolean
  readonly after?: string | undefined
}

export const POOL_ORDERS = ["newest", "rate"] as const

export type WaitingOrder = (typeof POOL_ORDERS)[number]

export interface PoolList {
  readonly order: WaitingOrder
  /** Only transactions with a name operation. */
  readonly names: boolean
  /** From 1 on. */
  readonly page: number
}

/** A height, or a hash in wire order. */
export type BlockPlace = number | Bytes

export type Wanted =
  | { readonly _tag: "Overview" }
  /** From the search field; the page guesses its meaning. */
  | { readonly _tag: "Search"; readonly text: string; readonly expired: boolean; readonly after?: string }
  | { readonly _tag: "Name"; readonly name: Bytes; readonly page: number; readonly full: boolean }
  /** From a height downwards; `undefined`: from the tip. */
  | { readonly _tag: "Blocks"; readonly from: number | undefined }
  | { readonly _tag: "Block"; readonly place: BlockPlace; readonly page: number }
  /** `block`: the height of a block that may have the transaction. */
  | {
    readonly _tag: "Transaction"
    readonly txid: Bytes
    readonly block: number | undefined
    readonly page: number
  }
  | {
    readonly _tag: "Address"
    readonly text: string
    /** Whether to list the names that it owned until they expired. */
    readonly expired: boolean
    /** Whether to list its coins instead of its payments. */
    readonly coins: boolean
    /** Page of coins or payments. */
    readonly page: number
    /** The cursor of its names. */
    readonly after?: string
  }
  | { readonly _tag: "Names"; readonly list: NameList }
  | { readonly _tag: "Pool"; readonly list: PoolList }
  | { readonly _tag: "Activity" }
  | { readonly _tag: "Wrong"; readonly reason: string }

/** Last page of a history, a block, a transaction or the mempool. */
export const MAX_PAGE = 1_000

const PAGE = /^[1-9][0-9]{0,3}$/

const HEIGHT = /^[0-9]{1,9}$/

const PATH = /^\/(?:blocks|names|mempool|activity|(block|tx|address)\/([^/]{1,200}))?$/

export const isPagePath = (path: string): boolean => PATH.test(path)

const wrong = (reason: string): Wanted => ({ _tag: "Wrong", reason })

const pageOf = (query: URLSearchParams): number | undefined => {
  const page = query.get("page") ?? "1"
  return PAGE.test(page) && Number(page) <= MAX_PAGE ? Number(page) : undefined
}

const WRONG_PAGE = wrong(`A page is a number from 1 to ${MAX_PAGE}.`)

const nameOf = (query: URLSearchParams): Wanted => {
  const hex = query.get("hex")
  const name = hex === null ? decodeText(query.get("name") ?? "", "utf8") : fromHex(hex)
  if (name === undefined) return wrong("Give the name as text or as hexadecimal bytes.")
  const page = pageOf(query)
  return page === undefined ? WRONG_PAGE : { _tag: "Name", name, page, full: query.get("full") === "1" }
}

const rootOf = (query: URLSearchParams): Wanted => {
  if (query.has("name") || query.has("hex")) return nameOf(query)
  const text = query.get("q") ?? ""
  if (text.trim() === "") return { _tag: "Overview" }
  const after = query.get("after")
  const search = { _tag: "Search" as const, text, expired: query.get("expired") === "1" }
  return after === null ? search : { ...search, after }
}

export const blockPlaceOf = (text: string): BlockPlace | undefined =>
  HEIGHT.test(text) ? Number(text) : parseDisplayHash(text.toLowerCase())

const blockOf = (text: string, query: URLSearchParams): Wanted => {
  const place = blockPlaceOf(text)
  const page = pageOf(query)
  if (place === undefined) return wrong("Give a block by its height, or by its hash of 64 hexadecimal digits.")
  return page === undefined ? WRONG_PAGE : { _tag: "Block", place, page }
}

const transactionOf = (text: string, query: URLSearchParams): Wanted => {
  const txid = parseDisplayHash(text.toLowerCase())
  const page = pageOf(query)
  const block = query.get("block") ?? undefined
  if (txid === undefined) return wrong("Give a transaction by its txid of 64 hexadecimal digits.")
  if (block !== undefined && !HEIGHT.test(block)) return wrong("Give the block of a transaction by its height.")
  if (page === undefined) return WRONG_PAGE
  return { _tag: "Transaction", txid, block: block === undefined ? undefined : Number(block), page }
}

const namesOf = (query: URLSearchParams): Wanted => {
  const given = query.get("order") ?? "name"
  const order = NAME_ORDERS.find((each) => each === given)
  if (order === undefined) return wrong(`Names can be ordered by ${NAME_ORDERS.join(", ")}.`)
  const prefix = query.get("prefix") ?? ""
  if (prefix.length > MAX_NAME_LENGTH) return wrong(`A prefix of names has at most ${MAX_NAME_LENGTH} characters.`)
  const list = { order, prefix, expired: query.get("expired") === "1" }
  const after = query.get("after")
  return { _tag: "Names", list: after === null ? list : { ...list, after } }
}

const poolOf = (query: URLSearchParams): Wanted => {
  const given = query.get("order") ?? "newest"
  const order = POOL_ORDERS.find((each) => each === given)
  if (order === undefined) return wrong(`Transactions can be ordered by ${POOL_ORDERS.join(" or ")}.`)
  const page = pageOf(query)
  return page === undefined ? WRONG_PAGE : { _tag: "Pool", list: { order, names: query.get("names") === "1", page } }
}

const blocksOf = (query: URLSearchParams): Wanted => {
  const from = query.get("from")
  if (from === null) return { _tag: "Blocks", from: undefined }
  return HEIGHT.test(from)
    ? { _tag: "Blocks", from: Number(from) }
    : wrong("The list of blocks starts at a height.")
}

const addressOf = (text: string, query: URLSearchParams): Wanted => {
  const after = query.get("after")
  const page = pageOf(query)
  if (page === undefined) return WRONG_PAGE
  const address = {
    _tag: "Address" as const,
    text,
    expired: query.get("expired") === "1",
    coins: query.get("show") === "coins",
    page
  }
  return after === null ? address : { ...address, after }
}

export interface PageTarget {
  /** Not percent-decoded. */
  readonly path: string
  readonly query: URLSearchParams
}

export const wanted = ({ path, query }: PageTarget): Wanted => {
  switch (path) {
    case "/blocks":
      return blocksOf(query)
    case "/names":
      return namesOf(query)
    case "/mempool":
      return poolOf(query)
    case "/activity":
      return { _tag: "Activity" }
  }
  const [, kind, text = ""] = PATH.exec(path) ?? []
  switch (kind) {
    case "block":
      return blockOf(text, query)
    case "tx":
      return transactionOf(text, query)
    case "address":
      return addressOf(text, query)
  }
  return rootOf(query)
}

/** A browser at a page's path. Other clients find JSON-RPC at the root. */
export const isStatusRequest = ({ acceptsHtml, path }: PageRequest): boolean => acceptsHtml && isPagePath(path)

/** Beside those of every document. */
export const methodsShown = ({ path, query }: Pick<PageRequest, "path" | "query">): ReadonlyArray<string> => {
  if (path === "/" && (query.has("name") || query.has("hex"))) return ["name_history", "name_pending"]
  if (path === "/" && !query.has("q")) return ["estimatesmartfee"]
  if (path.startsWith("/block")) return ["getblock", "getblockheader"]
  if (path.startsWith("/tx/")) return ["getrawtransaction"]
  if (path === "/mempool") return ["getmempoolinfo", "getrawmempool", "getrawtransaction"]
  return path === "/activity" ? ["estimatesmartfee", "getblockheader"] : []
}
