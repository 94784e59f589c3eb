import * as Effect from "effect/Effect"
import * as Redacted from "effect/Redacted"
import { COOKIE_USER } from "../config/cookie.ts"
import type { PageAnswer, PageVisit } from "../http/Pages.ts"
import { redirect } from "../web/document.ts"
import { type Html, html } from "../web/html.ts"
import { deskLink, deskPlace } from "./deskLinks.ts"
import { alertView, deskPage, field, type PlainFrame } from "./frame.ts"
import type { DeskSessions } from "./sessions.ts"

/** How to sign in: with a link (`linkPages.ts`), or with RPC credentials. */

export interface LoginMessage {
  readonly status: number
  readonly text: Html | string
  /** Whether a password was wrong. */
  readonly ofPassword?: boolean
}

const passwordForm = html`<form class="stacked" action="${deskLink("login")}" method="post">${
  field({ name: "user", label: "User", hint: "Of -rpcauth or -rpcuser", autocomplete: "username" })
}${
  field({
    name: "password",
    label: "Password",
    type: "password",
    autocomplete: "current-password",
    required: true
  })
}<button type="submit">Sign in</button></form>`

export const loginPage = (frame: PlainFrame, message?: LoginMessage): PageAnswer => {
  const others = html`<summary>Sign in as an RPC user with a password</summary>${passwordForm}`
  return deskPage({
    title: "Sign in",
    at: "login",
    status: message?.status ?? 200,
    main: html`<div class="login"><section class="card"><h1>Sign in</h1>${
      message !== undefined && alertView("attention", message.text)
    }<p>On the node's machine, as the user that runs svcd, type:</p><pre class="command"><code>svcd-cli desk</code></pre><p>It prints a link. Open it in this browser. <span class="muted">With <code>-open</code> it opens the link, too.</span></p></section><section class="card">${
      message?.ofPassword === true ? html`<details open>${others}</details>` : html`<details>${others}</details>`
    }</section></div>`
  }, frame)
}

export const ENDED: LoginMessage = {
  status: 403,
  text:
    "You have been signed out, because the session ended or svcd was restarted. Your last request did nothing. Sign in, and check your names and payments before you start again."
}

/** The whole content of a cookie file is a user and a password, too. */
const credentialsOf = (form: URLSearchParams): { readonly user: string; readonly password: string } => {
  const [user, password] = [form.get("user") ?? "", form.get("password") ?? ""]
  const colon = password.indexOf(":")
  return user === "" && colon > 0
    ? { user: password.slice(0, colon), password: password.slice(colon + 1).trim() }
    : { user, password }
}

export const login = (
  form: URLSearchParams,
  { cookie, frame, now, secure, sessions, visit }: {
    readonly visit: Pick<PageVisit, "admit">
    readonly sessions: DeskSessions
    readonly frame: PlainFrame
    readonly now: number
    readonly secure: boolean
    readonly cookie: string | undefined
  }
): Effect.Effect<PageAnswer> => {
  const { password, user } = credentialsOf(form)
  return Effect.map(visit.admit(user, Redacted.make(password)), (admitted) => {
    if (admitted === undefined) {
      return loginPage(frame, { status: 403, text: "The user name or password is wrong.", ofPassword: true })
    }
    sessions.end(sessions.tokenOf(cookie))
    // Nobody remembers the password of a cookie file: a link shows again that it is the user.
    const { session: _, ...tokens } = sessions.begin(user === COOKIE_USER ? "link" : "password", admitted, now)
    return { ...redirect(deskPlace("names")), cookies: sessions.cookies(tokens, { secure }) }
  })
}
