import { type Html, html, NOTHING } from "./html.ts"
import { HOME } from "./links.ts"

/** The field that looks up names, blocks, transactions and addresses: one a page. */

const EXAMPLE = "example.bit, a block, a transaction…"

export interface SearchShown {
  /** The text that is looked up on this page. */
  readonly searched?: string
}

const LABEL = html`<label class="out" for="q">Name, block, transaction or address to look up</label>`

const form = (kind: string, label: Html, { searched = "" }: SearchShown): Html =>
  html`<form class="${kind}" role="search" action="${HOME}" method="get">${label}<input id="q" name="q" type="search" value="${searched}" placeholder="${EXAMPLE}" maxlength="1000" autocomplete="off" autocapitalize="none" spellcheck="false"><button type="submit" class="primary">Search</button></form>`

/** In the head of a page. */
export const searchView = (shown: SearchShown): Html => form("search", LABEL, shown)

/** As the first thing on a page, whose heading is its label. */
export const largeSearchView: Html = form("search large", NOTHING, {})
