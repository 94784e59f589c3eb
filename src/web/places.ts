import { grouped } from "../base/quantities.ts"
import { type Bytes, displayHash } from "../protocol/bytes.ts"
import { type Html, html } from "./html.ts"
import { addressLink, blockLink, transactionLink, type TransactionLinkOptions } from "./links.ts"

/** `block 1,234`, or another text. */
export const blockView = (height: number, text = `block ${grouped(height)}`): Html =>
  html`<a href="${blockLink(height)}">${text}</a>`

/** Shown characters of an expandable hash. */
const START = 12

export const shortBlock = (hash: Bytes): Html => {
  const display = displayHash(hash)
  // Leading zeros are the same for all blocks.
  return html`<a class="hash" href="${blockLink(hash)}" title="${display}">…${display.slice(-START)}</a>`
}

/** The txid is in wire order. */
export const shortTransaction = (txid: Bytes, options: TransactionLinkOptions = {}): Html => {
  const display = displayHash(txid)
  return html`<a class="hash" href="${transactionLink(txid, options)}" title="${display}">${
    display.slice(0, START)
  }…</a>`
}

export const transactionView = (txid: Bytes, options: TransactionLinkOptions = {}): Html =>
  html`<a class="long-hash" href="${transactionLink(txid, options)}">${displayHash(txid)}</a>`

export const addressView = (address: string): Html =>
  html`<a class="long-hash" href="${addressLink(address)}">${address}</a>`

/** Its first and last characters, which people compare. */
export const shortAddress = (address: string): Html =>
  html`<a class="hash" href="${addressLink(address)}" title="${address}">${address.slice(0, 8)}…${
    address.slice(-4)
  }</a>`
