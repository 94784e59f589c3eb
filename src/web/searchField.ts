import { type Html, html } from "./html.ts"
import { HOME } from "./links.ts"

/** The field that looks up names, blocks, transactions and addresses: one a page. */

const EXAMPLE = "example.bit, a block, a transaction…"

export interface SearchShown {
  /** The text that is looked up on this page. */
  readonly searched?: string
}

const form = (kind: string, { searched = "" }: SearchShown): Html =>
  html`<form class="${kind}" role="search" action="${HOME}" method="get"><label class="out" for="q">Name, block, transaction or address to look up</label><input id="q" name="q" type="search" value="${searched}" placeholder="${EXAMPLE}" maxlength="1000" autocomplete="off" autocapitalize="none" spellcheck="false"><button type="submit" class="primary">Search</button></form>`

/** In the head of a page. */
export const searchView = (shown: SearchShown): Html => form("search", shown)

/** As the first thing on the overview. */
export const largeSearchView: Html = form("search large", {})
