import * as Effect from "effect/Effect"
import * as Redacted from "effect/Redacted"
import type { PageAnswer, PageVisit } from "../http/Pages.ts"
import { redirect } from "../web/document.ts"
import { type Html, html } from "../web/html.ts"
import { deskLink, deskPlace } from "./deskLinks.ts"
import { alertView, deskPage, field, type PlainFrame } from "./frame.ts"
import type { DeskSessions } from "./sessions.ts"

/** Log-in with RPC credentials. */

export interface LoginMessage {
  readonly status: number
  readonly text: Html | string
}

export const loginPage = (frame: PlainFrame, message?: LoginMessage): PageAnswer =>
  deskPage({
    title: "Sign in",
    at: "login",
    status: message?.status ?? 200,
    main: html`<div class="login"><section class="card"><h1>Sign in</h1>${
      message !== undefined && alertView("attention", message.text)
    }<form class="stacked" action="${deskLink("login")}" method="post">${
      field({
        name: "user",
        label: "User",
        hint: "The user of -rpcuser or -rpcauth. Leave it empty to sign in with the cookie file",
        autocomplete: "username"
      })
    }${
      field({
        name: "password",
        label: "Password",
        hint: "Or the whole content of the cookie file: .cookie in the data directory",
        type: "password",
        autocomplete: "current-password",
        required: true
      })
    }<button class="primary" type="submit">Sign in</button></form></section></div>`
  }, frame)

export const ENDED: LoginMessage = {
  status: 403,
  text:
    "You have been signed out, because the session ended or svcd was restarted. Your last request did nothing. Sign in, and check your names and payments before you start again."
}

const COOKIE_USER = "__cookie__"

const credentialsOf = (form: URLSearchParams): { readonly user: string; readonly password: string } => {
  const [user, password] = [form.get("user") ?? "", form.get("password") ?? ""]
  const colon = password.indexOf(":")
  return user === "" && colon > 0
    ? { user: password.slice(0, colon), password: password.slice(colon + 1).trim() }
    : { user, password }
}

/** Accepts the whole content of a cookie file, as at the log-in. */
export const passwordAgain = (user: string, { text }: { readonly text: string }): Redacted.Redacted<string> => {
  const given = credentialsOf(new URLSearchParams({ password: text }))
  return Redacted.make(user === COOKIE_USER && given.user === user ? given.password : text)
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
      return loginPage(frame, {
        status: 403,
        text: "The user name or password is wrong. The node has a new cookie after each restart."
      })
    }
    sessions.end(sessions.tokenOf(cookie))
    const { token } = sessions.begin(admitted, now)
    return redirect(deskPlace("names"), { "Set-Cookie": sessions.cookie(token, { secure }) })
  })
}
