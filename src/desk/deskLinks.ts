import type { Bytes } from "../protocol/bytes.ts"
import { toHex } from "../protocol/bytes.ts"

/** Links are relative to the overview of the node, redirects to the page itself. */

export const DESK = "/desk/"

export type DeskPage =
  | "login"
  | "logout"
  | "open"
  | "names"
  | "name"
  | "register"
  | "edit"
  | "draft"
  | "write"
  | "transfer"
  | "release"
  | "renew"
  | "cancel"
  | "acknowledge"
  | "meant"
  | "sign"
  | "psbt"
  | "confirm"
  | "result"
  | "payments"
  | "receive"
  | "send"
  | "wallet"
  | "unlock"
  | "lock"
  | "encrypt"
  | "create"
  | "choose"
  | "words"

const queryOf = (query: Readonly<Record<string, string>>): string => {
  const text = new URLSearchParams(query).toString()
  return text === "" ? "" : `?${text}`
}

export const deskLink = (page: DeskPage, query: Readonly<Record<string, string>> = {}): string =>
  `./desk/${page}${queryOf(query)}`

/** For a redirect from another page. */
export const deskPlace = (page: DeskPage, query: Readonly<Record<string, string>> = {}): string =>
  `./${page}${queryOf(query)}`

export const ownNameLink = (page: "name" | "edit" | "transfer" | "release", name: Bytes): string =>
  deskLink(page, { hex: toHex(name) })
