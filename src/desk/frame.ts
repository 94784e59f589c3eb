import { cliOf } from "../base/ownerCommands.ts"
import { COOKIE_USER } from "../config/cookie.ts"
import type { PageAnswer } from "../http/Pages.ts"
import { version } from "../version.ts"
import { documents } from "../web/document.ts"
import { headerView, linksView } from "../web/header.ts"
import { type Html, html, NOTHING, type Part } from "../web/html.ts"
import type { Tone } from "../web/lightWords.ts"
import { HOME } from "../web/links.ts"
import { STYLE } from "../web/style.ts"
import { visible } from "../web/visible.ts"
import { deskLink, type DeskPage } from "./deskLinks.ts"
import { DESK_SCRIPT } from "./deskScript.ts"
import { DESK_STYLE } from "./deskStyle.ts"

/** With the other pages' `no-referrer`, a browser does not say where a form comes from. */
const REFERRER = { "Referrer-Policy": "same-origin" } as const

const document = documents({ style: STYLE + DESK_STYLE, script: DESK_SCRIPT })

export interface PlainFrame {
  /** `undefined` while unknown. */
  readonly network: string | undefined
  readonly here: string
}

export interface FrameOf extends PlainFrame {
  readonly user: string
  /** `undefined` while none is chosen. */
  readonly wallet: string | undefined
  readonly formToken: string
  /** The warning about names in danger; `undefined` without any. */
  readonly danger?: Html | undefined
}

/** How a command begins that is about the wallet of the page; without a flag for wallet.json. */
export const deskCli = ({ wallet }: Pick<FrameOf, "wallet">): string => cliOf(wallet === "" ? undefined : wallet)

export interface DeskContent {
  readonly status?: number
  readonly title: string
  readonly at: DeskPage
  readonly main: Html
  /** Seconds. */
  readonly reloadAfter?: number
  readonly headers?: Readonly<Record<string, string>>
}

const SECTIONS: ReadonlyArray<readonly [page: DeskPage, text: string]> = [
  ["names", "Names"],
  ["register", "Register"],
  ["payments", "Payments"],
  ["wallet", "Wallet"]
]

/** For pages below a section. */
const SECTION_OF: Partial<Readonly<Record<DeskPage, DeskPage>>> = {
  name: "names",
  edit: "names",
  transfer: "names",
  release: "names",
  receive: "payments",
  send: "payments",
  sign: "names",
  words: "wallet",
  choose: "wallet"
}

const section = (at: DeskPage) => ([page, text]: readonly [page: DeskPage, text: string]): Html => {
  if (at === page) return html`<a href="${deskLink(page)}" aria-current="page">${text}</a>`
  return SECTION_OF[at] === page
    ? html`<a href="${deskLink(page)}" aria-current="true">${text}</a>`
    : html`<a href="${deskLink(page)}">${text}</a>`
}

export const formToken = (token: string): Html => html`<input type="hidden" name="token" value="${token}">`

const walletLink = (wallet: string | undefined): Part =>
  wallet !== undefined &&
  html`<a class="of-wallet" href="${deskLink("choose")}"><span class="out">Choose another wallet. Current: </span>${
    wallet === "" ? "default wallet" : html`wallet ${visible(wallet)}`
  }</a>`

const sessionOf = (at: DeskPage, { formToken: token, wallet }: FrameOf): Html =>
  html`${linksView("Sections", SECTIONS.map(section(at)))}<div class="session">${walletLink(wallet)}<form action="${
    deskLink("logout")
  }" method="post">${formToken(token)}<button type="submit">Sign out</button></form></div>`

export const deskPage = (
  { at, headers, main, reloadAfter, status = 200, title }: DeskContent,
  frame: FrameOf | PlainFrame
): PageAnswer =>
  document({
    status,
    title: `${title} · svcd desk`,
    base: "../",
    reloadAfter,
    headers: { ...REFERRER, ...headers },
    body: html`<a class="skip" href="${`${frame.here}#main`}">Skip to content</a>${
      headerView({
        title: "svcd desk",
        home: deskLink("names"),
        network: frame.network,
        ...("user" in frame ? { menu: sessionOf(at, frame) } : {})
      })
    }<main id="main">${
      "danger" in frame && frame.danger
    }${main}</main><footer class="foot"><span>svcd ${version}</span>${
      "user" in frame && frame.user !== COOKIE_USER && html`<span>You are ${frame.user}</span>`
    }<a href="${HOME}">The node and its explorer</a></footer>`
  })

export const alertView = (tone: Tone, ...paragraphs: ReadonlyArray<Part>): Html =>
  html`<div class="alert ${tone}" role="${tone === "attention" ? "alert" : "status"}">${
    paragraphs.map((each) => each !== undefined && each !== false && html`<p>${each}</p>`)
  }</div>`

export const linksTo = (...pages: ReadonlyArray<DeskPage>): Html =>
  html`<p class="buttons">${
    SECTIONS.flatMap(([page, text]) =>
      pages.includes(page) ? [html`<a class="button" href="${deskLink(page)}">${text}</a>`] : []
    )
  }</p>`

export interface DeskNotice extends Omit<DeskContent, "main"> {
  readonly tone?: Tone
  readonly paragraphs: ReadonlyArray<Part>
  readonly links?: ReadonlyArray<DeskPage>
}

export const noticePage = (
  { links = [], paragraphs, tone = "attention", ...page }: DeskNotice,
  frame: FrameOf | PlainFrame
): PageAnswer =>
  deskPage({
    ...page,
    main: html`<h1>${page.title}</h1>${alertView(tone, ...paragraphs)}${links.length > 0 && linksTo(...links)}`
  }, frame)

export interface FieldShown {
  readonly name: string
  readonly label: string
  readonly value?: string
  readonly hint?: Part
  readonly wrong?: ReadonlyArray<Part>
  readonly type?: "text" | "password"
  /** One line if omitted. */
  readonly rows?: number
  /** Characters. */
  readonly longest?: number
  readonly autocomplete?: "off" | "current-password" | "new-password" | "username"
  readonly required?: boolean
}

const LONGEST = 4_000

export const field = (shown: FieldShown): Html => {
  const {
    autocomplete = "off",
    hint,
    label,
    longest = LONGEST,
    name,
    required = false,
    rows,
    type = "text",
    value = "",
    wrong = []
  } = shown
  const [hintId, wrongId] = [`${name}-hint`, `${name}-wrong`]
  const told = [hint === undefined ? "" : hintId, wrong.length === 0 ? "" : wrongId].filter((id) => id !== "").join(" ")
  const open = html`${hint !== undefined && html`<span class="hint" id="${hintId}">${hint}</span>`}`
  const faults = wrong.length === 0
    ? NOTHING
    : html`<ul class="wrong" id="${wrongId}">${wrong.map((each) => html`<li>${each}</li>`)}</ul>`
  const invalid = wrong.length > 0 ? "true" : "false"
  const control = rows === undefined
    ? required
      ? html`<input id="f-${name}" name="${name}" type="${type}" value="${value}" maxlength="${longest}" autocomplete="${autocomplete}" autocapitalize="none" spellcheck="false" aria-describedby="${told}" aria-invalid="${invalid}" required>`
      : html`<input id="f-${name}" name="${name}" type="${type}" value="${value}" maxlength="${longest}" autocomplete="${autocomplete}" autocapitalize="none" spellcheck="false" aria-describedby="${told}" aria-invalid="${invalid}">`
    : html`<textarea id="f-${name}" name="${name}" rows="${rows}" maxlength="${longest}" autocapitalize="none" spellcheck="false" aria-describedby="${told}" aria-invalid="${invalid}">
${value}</textarea>`
  return html`<div class="field"><label for="f-${name}">${label}</label>${open}${control}${faults}</div>`
}

export interface OptionShown {
  readonly type: "radio" | "checkbox"
  readonly name: string
  readonly value: string
  readonly label: Part
  readonly hint?: string
  readonly checked?: boolean
}

export const option = ({ checked = false, hint, label, name, type, value }: OptionShown): Html => {
  const text = html`<span>${label}${hint !== undefined && html` <span class="hint">${hint}</span>`}</span>`
  return checked
    ? html`<label class="option"><input type="${type}" name="${name}" value="${value}" checked>${text}</label>`
    : html`<label class="option"><input type="${type}" name="${name}" value="${value}">${text}</label>`
}

export const card = (title: Part, content: Part): Html =>
  html`<section class="card"><h2>${title}</h2>${content}</section>`
