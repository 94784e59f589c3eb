import { type Html, html, NOTHING, type Part } from "./html.ts"
import { markView } from "./mark.ts"

/** The head of a page, one row on every screen. */

export interface HeaderShown {
  readonly title: string
  /** The page that the mark leads to. */
  readonly home: string
  /** `undefined` while unknown. */
  readonly network: string | undefined
  /** Links, and what else is behind the menu on a phone. */
  readonly menu?: Html
  /** Stays visible on a phone. */
  readonly search?: Html
  /** Below the row. */
  readonly note?: Part
}

/** A browser without popovers shows the menu below the row. */
const menuView = (menu: Html): Html =>
  html`<button type="button" class="menu-button" popovertarget="menu">Menu</button><div id="menu" class="menu" popover>${menu}</div>`

export const headerView = ({ home, menu, network, note, search = NOTHING, title }: HeaderShown): Html =>
  html`<header class="top"><a class="brand" href="${home}">${markView}<span>${title}</span></a>${
    network !== undefined && html`<span class="badge">${network}</span>`
  }${search}${menu !== undefined && menuView(menu)}${note}</header>`

export const linksView = (label: string, links: ReadonlyArray<Html>): Html =>
  html`<nav class="sections" aria-label="${label}">${links}</nav>`
