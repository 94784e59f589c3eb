import { createHash } from "node:crypto"
import type { PageAnswer } from "../http/Pages.ts"
import { version } from "../version.ts"
import { duration } from "./format.ts"
import { escape, type Html, html } from "./html.ts"
import { HOME } from "./links.ts"
import { PAGE_SCRIPT } from "./script.ts"
import { STYLE } from "./style.ts"

/** The frame of all pages, and their headers. */

const hashOf = (content: string): string => `'sha256-${createHash("sha256").update(content).digest("base64")}'`

/**
 * The browser loads, runs and sends only what is named here: the one style and the one script by their hashes, the icon
 * within the page, requests to this server. No frame shows the page.
 */
const POLICY = [
  "default-src 'none'",
  `script-src ${hashOf(PAGE_SCRIPT)}`,
  `style-src ${hashOf(STYLE)}`,
  "img-src data:",
  "connect-src 'self'",
  "form-action 'self'",
  "base-uri 'none'",
  "frame-ancestors 'none'"
].join("; ")

const HEADERS: Readonly<Record<string, string>> = {
  "Content-Type": "text/html; charset=utf-8",
  "Content-Security-Policy": POLICY,
  "X-Content-Type-Options": "nosniff",
  "X-Frame-Options": "DENY",
  "Referrer-Policy": "no-referrer",
  "Cross-Origin-Opener-Policy": "same-origin",
  "Cross-Origin-Resource-Policy": "same-origin",
  "Cache-Control": "no-store",
  "Vary": "Accept"
}

/** An icon within the page: otherwise a browser would request one. */
const ICON = "data:image/svg+xml," + encodeURIComponent(
  "<svg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 16 16'><rect width='16' height='16' rx='4' fill='#0a56a5'/>" +
    "<path d='M5 12V4l6 8V4' fill='none' stroke='#fff' stroke-width='2' stroke-linejoin='round'/></svg>"
)

export interface PageContent {
  readonly status: number
  readonly title: string
  readonly main: Html
  /** `undefined` while the network is unknown. */
  readonly network: string | undefined
  readonly searched?: string
  /** Seconds since 1970: the reference for distances in time. */
  readonly now: number
  /** Whether the script updates the page. */
  readonly live?: boolean
  /** Seconds after which a browser without script reloads. */
  readonly reloadAfter?: number
  readonly headers?: Readonly<Record<string, string>>
}

const top = ({ network, searched = "" }: PageContent): Html =>
  html`<a class="skip" href="#main">Skip to content</a><header class="top"><a class="brand" href="${HOME}">svcd</a>${
    network !== undefined && html`<span class="badge">${network}</span>
<form class="search" role="search" action="${HOME}" method="get"><label class="out" for="q">Name to look up</label><input id="q" name="q" type="search" value="${searched}" placeholder="d/example, example.bit, any text" maxlength="1000" autocomplete="off" autocapitalize="none" spellcheck="false"><button type="submit">Search</button></form><p id="note" class="note attention" role="status" hidden>The node does not answer. What follows is from before; this page keeps trying.</p>`
  }</header>`

const foot = ({ network }: PageContent): Html =>
  html`<footer class="foot"><span>svcd ${version}</span>${
    network !== undefined && html`<span>up for ${duration(process.uptime())}</span>`
  }<button type="button" id="pause" aria-pressed="false" hidden>Pause updates</button></footer>`

const main = ({ live = false, main, now }: PageContent): Html =>
  live
    ? html`<main id="main" data-now="${now}" data-refresh="1">${main}</main>`
    : html`<main id="main" data-now="${now}">${main}</main>`

export const page = (content: PageContent): PageAnswer => {
  const { headers, reloadAfter, status, title } = content
  const body = html`${top(content)}${main(content)}${foot(content)}`
  return {
    status,
    headers: { ...HEADERS, ...headers },
    // The style and the script are constants: the policy names their hashes.
    body: "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n" +
      "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n" +
      (reloadAfter === undefined ? "" : `<meta http-equiv="refresh" content="${reloadAfter}">\n`) +
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
