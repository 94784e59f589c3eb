import { COOKIE_USER } from "../config/cookie.ts"
import type { PageAnswer } from "../http/Pages.ts"
import { type DeskLink, LINK_MS, type LinkBook, linkState } from "../rpc/DeskLinks.ts"
import { redirect } from "../web/document.ts"
import { type Html, html, NOTHING } from "../web/html.ts"
import { deskLink, deskPlace } from "./deskLinks.ts"
import { alertView, deskPage, noticePage, type PlainFrame } from "./frame.ts"
import type { DeskSession, DeskSessions } from "./sessions.ts"

/**
 * Signing in with a link of `svcd-cli desk`. To open it changes nothing, since programs that show a preview of a page open it
 * too: its button does.
 */

export interface LinkVisit {
  readonly book: LinkBook | undefined
  readonly sessions: DeskSessions
  /** The session of the browser that opens the link. */
  readonly session: DeskSession | undefined
  readonly frame: PlainFrame
  readonly secure: boolean
  readonly cookie: string | undefined
  readonly now: number
}

/** With `no-referrer` a browser does not say where a form comes from; this says the origin, and not the link. */
const HEADERS = { "Referrer-Policy": "strict-origin" } as const

const FRESH = html`Make a new link on the node's machine, with <code>svcd-cli desk</code>.`

const MINUTE_MS = 60_000

const minutes = (ms: number): string => {
  const count = Math.max(1, Math.ceil(ms / MINUTE_MS))
  return count === 1 ? "1 minute" : `${count} minutes`
}

const TOKEN = /^[\w-]{43}$/

const found = ({ book }: LinkVisit, token: string): DeskLink | undefined =>
  TOKEN.test(token) ? book?.find(token) : undefined

const hidden = (token: string, act: "open" | "end"): Html =>
  html`<input type="hidden" name="link" value="${token}"><input type="hidden" name="act" value="${act}">`

const usedPage = (token: string, { at }: { readonly at: number }, { frame, now }: LinkVisit): PageAnswer =>
  deskPage({
    title: "This link was already used",
    at: "open",
    status: 410,
    headers: HEADERS,
    main: html`<h1>This link was already used</h1>${
      alertView("attention", `A browser opened the desk with it ${minutes(now - at)} ago. A link works once.`)
    }<section class="card"><h2>If that was you</h2><p>Go on in that browser. For this one, ${html`make a new link on the node's machine, with <code>svcd-cli desk</code>.`}</p></section><section class="card"><h2>If it was not you</h2><p>Someone else saw the link, and can use the desk with your rights. End that session. Then make a new link, and check your names and payments.</p><form action="${
      deskLink("open")
    }" method="post">${
      hidden(token, "end")
    }<button class="primary" type="submit">End that session</button></form></section>`
  }, frame)

const gonePage = (
  { frame }: LinkVisit,
  { text, title }: { readonly title: string; readonly text: string }
): PageAnswer => noticePage({ title, at: "open", status: 410, headers: HEADERS, paragraphs: [text, FRESH] }, frame)

const unusable = (token: string, visit: LinkVisit): PageAnswer | DeskLink => {
  const link = found(visit, token)
  if (link === undefined) {
    const text = "svcd does not know this link. It may be cut short, or was made before svcd was restarted."
    return gonePage(visit, { title: "This link is not valid", text })
  }
  const { used } = link
  if (used !== undefined) {
    return used.session === visit.session ? redirect(deskPlace("names")) : usedPage(token, used, visit)
  }
  return linkState(link, visit.now) === "old"
    ? gonePage(visit, { title: "This link has expired", text: `A link can be used for ${minutes(LINK_MS)}.` })
    : link
}

export const linkPage = (token: string, visit: LinkVisit): PageAnswer => {
  const link = unusable(token, visit)
  if (!("by" in link)) return link
  const { by: { user }, made } = link
  return deskPage({
    title: "Open the desk",
    at: "open",
    headers: HEADERS,
    main: html`<div class="login"><section class="card"><h1>Open the desk</h1><p>The button signs in this browser${
      user === COOKIE_USER ? NOTHING : html` as ${user}`
    }. It works once, within ${minutes(made + LINK_MS - visit.now)}.</p><form action="${
      deskLink("open")
    }" method="post">${
      hidden(token, "open")
    }<button class="primary" type="submit">Open the desk</button></form></section></div>`
  }, visit.frame)
}

const endPage = (token: string, visit: LinkVisit): PageAnswer => {
  const used = found(visit, token)?.used
  const ended = used !== undefined && visit.sessions.close(used.session)
  return noticePage({
    title: ended ? "That session has ended" : "There is no such session",
    at: "open",
    headers: HEADERS,
    tone: ended ? "good" : "busy",
    paragraphs: [
      ended
        ? "The browser that used the link is signed out. What it did before remains: check your names and payments."
        : "It has ended already. Check your names and payments.",
      FRESH
    ]
  }, visit.frame)
}

/** Marks a link as used in the same turn in which it was found open. */
export const openLink = (form: URLSearchParams, visit: LinkVisit): PageAnswer => {
  const token = form.get("link") ?? ""
  if (form.get("act") === "end") return endPage(token, visit)
  const link = unusable(token, visit)
  if (!("by" in link)) return link
  const { cookie, now, secure, session, sessions } = visit
  // A fresh link in the browser that is signed in shows again that it is the user.
  if (session !== undefined && session.user.user === link.by.user) {
    link.used = { at: now, session }
    session.verified = now
    const waiting = session.confirmations.find(session.waiting ?? null)
    session.waiting = undefined
    return redirect(waiting === undefined ? deskPlace("names") : deskPlace("confirm", { id: waiting.id }))
  }
  sessions.end(sessions.tokenOf(cookie))
  const { session: begun, ...tokens } = sessions.begin("link", link.by, now)
  begun.verified = now
  begun.wallet = link.wallet
  link.used = { at: now, session: begun }
  return { ...redirect(deskPlace("names")), cookies: sessions.cookies(tokens, { secure }) }
}
