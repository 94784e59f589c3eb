import { grouped } from "../base/quantities.ts"
import { type Html, html, NOTHING, type Part } from "./html.ts"

export const row = (label: string, value: Html): Html => html`<div><dt>${label}</dt><dd>${value}</dd></div>`

export interface PagesShown {
  readonly page: number
  readonly pages: number
  /** For screen readers. */
  readonly label: string
  /** Words of the links to the preceding and the next page. */
  readonly words: readonly [before: string, next: string]
}

/** Between numbered pages; empty for a single one. */
export const pagesView = (
  { label, page, pages, words: [before, next] }: PagesShown,
  link: (page: number) => string
): Html =>
  pages <= 1 ?
    NOTHING :
    html`<nav class="pager" aria-label="${label}">${
      page > 1 && html`<a rel="prev" href="${link(page - 1)}">${before}</a>`
    }<span>Page ${grouped(page)} of ${grouped(pages)}</span>${
      page < pages && html`<a rel="next" href="${link(page + 1)}">${next}</a>`
    }</nav>`

/** For a list with cursors; empty at its end. */
export const moreView = (
  { label, link }: { readonly label: string; readonly link: string | undefined }
): Html =>
  link === undefined
    ? NOTHING
    : html`<nav class="pager" aria-label="${label}"><a rel="next" href="${link}">More</a></nav>`

/** In a list of class `choices`. */
export const tab = (text: string, { isHere, link }: { readonly link: string; readonly isHere: boolean }): Html =>
  isHere
    ? html`<li><a href="${link}" aria-current="true">${text}</a></li>`
    : html`<li><a href="${link}">${text}</a></li>`

/** With the kind of the page above, and links beside it. */
export const headingView = (kind: string, heading: Html, beside: Html = NOTHING): Html =>
  html`<header class="page-head"><div class="name-head"><p class="muted">${kind}</p><h1>${heading}</h1></div>${beside}</header>`

/** In a list of class `facts`. */
export const fact = (label: string, value: Html | string, note?: Part): Html =>
  html`<div class="fact"><dt>${label}</dt><dd><b>${value}</b>${
    note !== undefined && note !== false && html`<span>${note}</span>`
  }</dd></div>`
