import { spanText } from "../base/quantities.ts"
import type { PageAnswer } from "../http/Pages.ts"
import { version } from "../version.ts"
import { documents } from "./document.ts"
import { headerView, linksView } from "./header.ts"
import { type Html, html } from "./html.ts"
import { ACTIVITY, blocksLink, DESK_HOME, HOME, namesLink, poolLink } from "./links.ts"
import { PAGE_SCRIPT } from "./script.ts"
import { searchView } from "./searchField.ts"
import { STYLE } from "./style.ts"

const document = documents({ style: STYLE, script: PAGE_SCRIPT })

export interface PageContent {
  readonly status: number
  readonly title: string
  readonly main: Html
  /** The address of a page beside the overview: one of `links.ts`. */
  readonly at?: string | undefined
  readonly network: string | undefined
  readonly desk?: boolean
  readonly searched?: string
  /** Whether the page has the search field itself. */
  readonly largeSearch?: boolean
  /** Seconds since 1970, for distances in time. */
  readonly now: number
  /** Whether the script updates the page every few seconds. */
  readonly live?: boolean
  /** Events after which the script updates the page. */
  readonly events?: string | undefined
  /** Seconds, for a browser without script. */
  readonly reloadAfter?: number
  readonly headers?: Readonly<Record<string, string>>
}

export type PageBody = Omit<PageContent, "network" | "desk">

/** Links are relative to the overview, which this locates; empty on the overview and the pages at its path. */
const baseOf = (at: string | undefined): string => {
  if (at === undefined) return ""
  const [path = ""] = at.split("?")
  return "../".repeat(path.split("/").length - 2) || HOME
}

const SECTIONS = [
  [blocksLink(), "Blocks"],
  [namesLink(), "Names"],
  [poolLink(), "Mempool"],
  [ACTIVITY, "Activity"]
] as const

const section = (at: string | undefined) => ([link, text]: readonly [link: string, text: string]): Html =>
  at?.split("?")[0] === link
    ? html`<a href="${link}" aria-current="page">${text}</a>`
    : html`<a href="${link}">${text}</a>`

const SILENT =
  html`<p id="note" class="note attention" role="status" hidden>The node does not answer. What follows is from before; this page keeps trying.</p>`

const menu = ({ at, desk = false }: PageContent): Html =>
  linksView("Sections", [...SECTIONS.map(section(at)), ...(desk ? [html`<a href="${DESK_HOME}">Desk</a>`] : [])])

const top = (content: PageContent): Html => {
  const { at, largeSearch = false, network, searched } = content
  const head = { title: "svcd", home: HOME, network }
  return html`<a class="skip" href="${`${at ?? ""}#main`}">Skip to content</a>${
    network === undefined ? headerView(head) : headerView({
      ...head,
      menu: menu(content),
      note: SILENT,
      ...(largeSearch ? {} : { search: searchView(searched === undefined ? {} : { searched }) })
    })
  }`
}

const foot = ({ network }: PageContent): Html =>
  html`<footer class="foot"><span>svcd ${version}</span>${
    network !== undefined && html`<span>up for ${spanText(process.uptime())}</span>`
  }<button type="button" id="pause" aria-pressed="false" hidden>Pause updates</button></footer>`

const main = ({ events = "", live = false, main, now }: PageContent): Html =>
  html`<main id="main" data-now="${now}" data-refresh="${live ? 1 : 0}" data-events="${events}">${main}</main>`

export const page = (content: PageContent): PageAnswer => {
  const { at, headers, reloadAfter, status, title } = content
  const body = html`${top(content)}${main(content)}${foot(content)}`
  return document({ status, title, body, base: baseOf(at), reloadAfter, headers })
}
