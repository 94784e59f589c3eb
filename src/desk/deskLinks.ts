import type { Bytes } from "../protocol/bytes.ts"
import { toHex } from "../protocol/bytes.ts"

/** The pages of the desk. Links are relative to the overview of the node, redirects to the page itself. */

/** The path of all pages, as the listener gets it. */
export const DESK = "/desk/"

/** Pages by their last part. */
export type DeskPage =
  | "login"
  | "logout"
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

/** The address of a page for a redirect from another one. */
export const deskPlace = (page: DeskPage, query: Readonly<Record<string, string>> = {}): string =>
  `./${page}${queryOf(query)}`

export const ownNameLink = (page: "name" | "edit" | "transfer" | "release", name: Bytes): string =>
  deskLink(page, { hex: toHex(name) })
