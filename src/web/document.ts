import { createHash } from "node:crypto"
import type { PageAnswer } from "../http/Pages.ts"
import { escape, type Html } from "./html.ts"
import { ICON } from "./mark.ts"

const hashOf = (content: string): string => `'sha256-${createHash("sha256").update(content).digest("base64")}'`

export interface Looks {
  readonly style: string
  readonly script: string
}

/**
 * The browser loads, runs and sends only what is named here: one style and one script by hash, the inline icon,
 * requests to this server. No frame shows the page. Only a page beside the overview has a base.
 */
const policyOf = ({ script, style }: Looks, base: "'none'" | "'self'"): string =>
  [
    "default-src 'none'",
    `script-src ${hashOf(script)}`,
    `style-src ${hashOf(style)}`,
    "img-src data:",
    "connect-src 'self'",
    "form-action 'self'",
    `base-uri ${base}`,
    "frame-ancestors 'none'"
  ].join("; ")

const COMMON = {
  "X-Content-Type-Options": "nosniff",
  "X-Frame-Options": "DENY",
  "Referrer-Policy": "no-referrer",
  "Cross-Origin-Opener-Policy": "same-origin",
  "Cross-Origin-Resource-Policy": "same-origin",
  "Cache-Control": "no-store",
  "Vary": "Accept"
} as const

const headersOf = (policy: string): Readonly<Record<string, string>> => ({
  "Content-Type": "text/html; charset=utf-8",
  "Content-Security-Policy": policy,
  ...COMMON
})

export interface DocumentContent {
  readonly status: number
  readonly title: string
  readonly body: Html
  /** What links are relative to; empty for the page itself. */
  readonly base: string
  /** Seconds, for a browser without script. */
  readonly reloadAfter?: number | undefined
  readonly headers?: Readonly<Record<string, string>> | undefined
}

/** Style and script are constants, whose hashes the policy names. */
export const documents = (looks: Looks): (content: DocumentContent) => PageAnswer => {
  const plain = headersOf(policyOf(looks, "'none'"))
  const withBase = headersOf(policyOf(looks, "'self'"))
  return ({ base, body, headers, reloadAfter, status, title }) => ({
    status,
    headers: { ...(base === "" ? plain : withBase), ...headers },
    body: "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n" +
      "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n" +
      (reloadAfter === undefined ? "" : `<meta http-equiv="refresh" content="${reloadAfter}">\n`) +
      (base === "" ? "" : `<base href="${base}">\n`) +
      `<title>${escape(title)}</title>\n<link rel="icon" href="${
        escape(ICON)
      }">\n<style>${looks.style}</style>\n</head>\n<body>\n` +
      `${body.text}\n<script>${looks.script}</script>\n</body>\n</html>\n`
  })
}

const EMPTY_POLICY = policyOf({ style: "", script: "" }, "'none'")

const UNSAFE_IN_FILE = /[^a-z0-9._-]+/gi
const LONGEST_FILE_NAME = 80

/** A text that the browser saves as a file, and never shows. */
export const attachment = ({ name, text }: { readonly name: string; readonly text: string }): PageAnswer => ({
  status: 200,
  headers: {
    ...headersOf(EMPTY_POLICY),
    "Content-Type": "application/octet-stream",
    "Content-Disposition": `attachment; filename="${name.replaceAll(UNSAFE_IN_FILE, "-").slice(-LONGEST_FILE_NAME)}"`
  },
  body: text
})

/** Nothing in the address needs escaping. */
export const redirect = (address: string, headers: Readonly<Record<string, string>> = {}): PageAnswer => ({
  status: 303,
  headers: {
    ...headersOf(EMPTY_POLICY),
    "Content-Type": "text/plain; charset=utf-8",
    "Location": address,
    ...headers
  },
  body: ""
})
