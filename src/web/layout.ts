import { createHash } from "node:crypto"
import type { PageAnswer } from "../http/Pages.ts"
import { version } from "../version.ts"
import { duration } from "./format.ts"
import { escape, type Html, html } from "./html.ts"
import { ACTIVITY, blocksLink, HOME, namesLink } from "./links.ts"
import { PAGE_SCRIPT } from "./script.ts"
import { STYLE } from "./style.ts"

/** The frame of all pages, and their headers. */

const hashOf = (content: string): string => `'sha256-${createHash("sha256").update(content).digest("base64")}'`

/**
 * The browser loads, runs and sends only what is named here: the one style and the one script by their hashes, the icon
 * within the page, requests to this server. No frame shows the page. Only a page beside the overview has a base.
 */
const policyOf = (base: "'none'" | "'self'"): string =>
  [
    "default-src 'none'",
    `script-src ${hashOf(PAGE_SCRIPT)}`,
    `style-src ${hashOf(STYLE)}`,
    "img-src data:",
    "connect-src 'self'",
    "form-action 'self'",
    `base-uri ${base}`,
    "frame-ancestors 'none'"
  ].join("; ")

const headersOf = (policy: string): Readonly<Record<string, string>> => ({
  "Content-Type": "text/html; charset=utf-8",
  "Content-Security-Policy": policy,
  "X-Content-Type-Options": "nosniff",
  "X-Frame-Options": "DENY",
  "Referrer-Policy": "no-referrer",
  "Cross-Origin-Opener-Policy": "same-origin",
  "Cross-Origin-Resource-Policy": "same-origin",
  "Cache-Control": "no-store",
  "Vary": "Accept"
})

const HEADERS = headersOf(policyOf("'none'"))
const HEADERS_WITH_BASE = headersOf(policyOf("'self'"))

/** An icon within the page: otherwise a browser would request one. */
const ICON = "data:image/svg+xml," + encodeURIComponent(
  "<svg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 16 16'><rect width='16' height='16' rx='4' fill='#0a56a5'/>" +
    "<path d='M5 12V4l6 8V4' fill='none' stroke='#fff' stroke-width='2' stroke-linejoin='round'/></svg>"
)

export interface PageContent {
  readonly status: number
  readonly title: string
  readonly main: Html
  /** The address of a page beside the overview: one of `links.ts`. */
  readonly at?: string | undefined
  /** `undefined` while the network is unknown. */
  readonly network: string | undefined
  readonly searched?: string
  /** Seconds since 1970: the reference for distances in time. */
  readonly now: number
  /** Whether the script updates the page every few seconds. */
  readonly live?: boolean
  /** Events after which the script updates the page. */
  readonly events?: string | undefined
  /** Seconds after which a browser without script reloads. */
  readonly reloadAfter?: number
  readonly headers?: Readonly<Record<string, string>>
}

/** Links are relative to the overview, and this says where it is; empty on the overview and the pages at its path. */
const baseOf = (at: string | undefined): string => {
  if (at === undefined) return ""
  const [path = ""] = at.split("?")
  return "../".repeat(path.split("/").length - 2) || HOME
}

const SECTIONS = [[blocksLink(), "Blocks"], [namesLink(), "Names"], [ACTIVITY, "Activity"]] as const

const section = (at: string | undefined) => ([link, text]: readonly [link: string, text: string]): Html =>
  at?.split("?")[0] === link
    ? html`<a href="${link}" aria-current="page">${text}</a>`
    : html`<a href="${link}">${text}</a>`

const top = ({ at, network, searched = "" }: PageContent): Html =>
  html`<a class="skip" href="${`${
    at ?? ""
  }#main`}">Skip to content</a><header class="top"><a class="brand" href="${HOME}">svcd</a>${
    network !== undefined && html`<span class="badge">${network}</span>
<nav class="sections" aria-label="Sections">${SECTIONS.map(section(at))}</nav>
<form class="search" role="search" action="${HOME}" method="get"><label class="out" for="q">Name, block, transaction or address to look up</label><input id="q" name="q" type="search" value="${searched}" placeholder="Name, block, transaction, address, text" maxlength="1000" autocomplete="off" autocapitalize="none" spellcheck="false"><button type="submit">Search</button></form><p id="note" class="note attention" role="status" hidden>The node does not answer. What follows is from before; this page keeps trying.</p>`
  }</header>`

const foot = ({ network }: PageContent): Html =>
  html`<footer class="foot"><span>svcd ${version}</span>${
    network !== undefined && html`<span>up for ${duration(process.uptime())}</span>`
  }<button type="button" id="pause" aria-pressed="false" hidden>Pause updates</button></footer>`

const main = ({ events = "", live = false, main, now }: PageContent): Html =>
  html`<main id="main" data-now="${now}" data-refresh="${live ? 1 : 0}" data-events="${events}">${main}</main>`

export const page = (content: PageContent): PageAnswer => {
  const { at, headers, reloadAfter, status, title } = content
  const base = baseOf(at)
  const body = html`${top(content)}${main(content)}${foot(content)}`
  return {
    status,
    headers: { ...(base === "" ? HEADERS : HEADERS_WITH_BASE), ...headers },
    // The style and the script are constants: the policy names their hashes.
    body: "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n" +
      "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n" +
      (reloadAfter === undefined ? "" : `<meta http-equiv="refresh" content="${reloadAfter}">\n`) +
      (base === "" ? "" : `<base href="${base}">\n`) +
      `<title>${escape(title)}</title>\n<link rel="icon" href="${
        escape(ICON)
      }">\n<style>${STYLE}</style>\n</head>\n<body>\n` +
      `${body.text}\n<script>${PAGE_SCRIPT}</script>\n</body>\n</html>\n`
  }
}

/** Redirects to another page. The address is one of `links.ts`: nothing in it needs escaping. */
export const redirect = (address: string): PageAnswer => ({
  status: 303,
  headers: { ...HEADERS, "Content-Type": "text/plain; charset=utf-8", "Location": address },
  body: ""
})
