import { grouped } from "../base/quantities.ts"
import { type Bytes, displayHash } from "../protocol/bytes.ts"
import { type Html, html } from "./html.ts"
import { addressLink, blockLink, transactionLink, type TransactionLinkOptions } from "./links.ts"

/** Links to blocks, transactions and addresses, as all pages show them. */

/** `block 1,234`, or another text. */
export const blockView = (height: number, text = `block ${grouped(height)}`): Html =>
  html`<a href="${blockLink(height)}">${text}</a>`

/** The start of a hash, expandable; the link and a copy of it have the rest. */
const START = 12

export const shortBlock = (hash: Bytes): Html => {
  const display = displayHash(hash)
  // The zeros at the start are the same for all blocks.
  return html`<a class="hash" href="${blockLink(hash)}" title="${display}">…${display.slice(-START)}</a>`
}

/** A transaction in a list; the txid in wire order. */
export const shortTransaction = (txid: Bytes, options: TransactionLinkOptions = {}): Html => {
  const display = displayHash(txid)
  return html`<a class="hash" href="${transactionLink(txid, options)}" title="${display}">${
    display.slice(0, START)
  }…</a>`
}

/** A transaction with its whole txid. */
export const transactionView = (txid: Bytes, options: TransactionLinkOptions = {}): Html =>
  html`<a class="long-hash" href="${transactionLink(txid, options)}">${displayHash(txid)}</a>`

export const addressView = (address: string): Html =>
  html`<a class="long-hash" href="${addressLink(address)}">${address}</a>`
