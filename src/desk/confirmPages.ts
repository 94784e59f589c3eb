import * as Effect from "effect/Effect"
import type { PageAnswer } from "../http/Pages.ts"
import { redirect } from "../web/document.ts"
import { type Html, html } from "../web/html.ts"
import { visible } from "../web/visible.ts"
import type { CallFailed } from "./calls.ts"
import type { Confirmation, ConfirmRefusal } from "./confirmations.ts"
import { deskLink, deskPlace } from "./deskLinks.ts"
import { isMendable } from "./errorWords.ts"
import { alertView, field, linksTo, noticePage } from "./frame.ts"
import { needsPassphrase, passphraseField, whileOpen } from "./openWallet.ts"
import { proofOf, proven } from "./proof.ts"
import {
  deskAnswer,
  type DeskHandler,
  type DeskVisit,
  failureParts,
  tokenField,
  type WalletState,
  walletState
} from "./visit.ts"

interface ConfirmShown {
  readonly lock: WalletState
  readonly message?: Html | undefined
  /** What is wrong with a password, or a passphrase. */
  readonly wrong?: ReadonlyArray<string>
}

const confirmView = (
  visit: DeskVisit,
  { id, plan, wallet }: Confirmation,
  { lock, message, wrong = [] }: ConfirmShown
): PageAnswer => {
  const { session } = visit
  const proof = proofOf(visit, plan, lock)
  const unlocks = needsPassphrase(plan.unlocks, lock)
    ? plan.unlocks
    : proof === "passphrase"
    ? "nothing"
    : undefined
  if (proof === "link") session.waiting = id
  const button = html`<button class="primary" type="submit">${plan.button}</button>`
  return deskAnswer(visit, {
    title: plan.title,
    at: "confirm",
    status: message === undefined && wrong.length === 0 ? 200 : 403,
    main:
      html`<h1>${plan.title}</h1>${message}<section class="card">${plan.content}</section><section class="card"><h2>Confirm</h2>${
        wallet !== undefined && wallet !== "" && html`<p class="muted">In the wallet ${visible(wallet)}.</p>`
      }<form class="stacked" action="${deskLink("confirm")}" method="post">${
        tokenField(visit)
      }<input type="hidden" name="id" value="${id}">${
        proof === "password" &&
        field({
          name: "password",
          label: "Your password",
          hint: "The one you signed in with, again. It counts for fifteen minutes.",
          type: "password",
          autocomplete: "current-password",
          required: true,
          wrong
        })
      }${unlocks !== undefined && passphraseField({ unlocks, wrong: proof === "passphrase" ? wrong : [] })}${
        proof === "link" && linkWanted
      }<div class="buttons">${
        proof === "link"
          ? html`<button class="primary" type="submit" disabled aria-describedby="why">${plan.button}</button>`
          : button
      }<a class="button" href="${plan.back}">Back</a></div></form></section>`
  })
}

/** For a wallet without a passphrase. The link leads back to this page. */
const linkWanted =
  html`<div class="alert busy" id="why" role="status"><p>First show that it is you. On the node's machine, type <code>svcd-cli desk</code>, and open its link in this browser. It leads back here, and counts for fifteen minutes.</p></div>`

const REFUSALS: Readonly<Record<ConfirmRefusal, readonly [title: string, text: Html]>> = {
  unknown: [
    "This page is no longer valid",
    html`Its session has ended, or the node was restarted. This request did nothing, but an earlier one may have worked. Check your names and payments before you start again.`
  ],
  old: [
    "This page has expired",
    html`It is more than 15 minutes old, and fees and names may have changed. Nothing was done. Start again if you still want to.`
  ],
  same: [
    "This was already done",
    html`Another window did the same after you opened this page. This request did nothing. Start again only if you want to do it twice.`
  ],
  unclear: [
    "This may already have been done",
    html`Another window tried the same after you opened this page, and it is uncertain whether anything was sent. This request did nothing. Check your names and payments before you start again.`
  ],
  wallet: [
    "This page is for another wallet",
    html`You chose another wallet in another window after you opened this page. Nothing was done. Start again if you still want to.`
  ]
}

const refused = ({ frame }: DeskVisit, refusal: ConfirmRefusal): PageAnswer => {
  const [title, text] = REFUSALS[refusal]
  return noticePage({ title, at: "confirm", status: 409, paragraphs: [text], links: ["names", "payments"] }, frame)
}

const toResult = (id: string): PageAnswer => redirect(deskPlace("result", { id }))

export const confirmPage: DeskHandler = (visit) =>
  Effect.gen(function*() {
    const found = visit.session.confirmations.find(visit.query.get("id"))
    if (found === undefined) return refused(visit, "unknown")
    if (found.state.is !== "open") return toResult(found.id)
    const { now, session: { confirmations }, wallet } = visit
    const refusal = confirmations.refusal(found, { wallet, now: now() })
    return refusal === undefined
      ? confirmView(visit, found, { lock: yield* walletState(visit) })
      : refused(visit, refusal)
  })

const UNSURE = "It is uncertain whether anything was sent. Check your names and payments before you start again."

const failureView = (failure: CallFailed): Html => alertView("attention", ...failureParts(failure, UNSURE))

export const confirm: DeskHandler = (visit) =>
  Effect.gen(function*() {
    const { calls, form, now, session, wallet } = visit
    const { confirmations } = session
    const found = confirmations.find(form.get("id"))
    if (found === undefined) return refused(visit, "unknown")
    const { id, plan, run } = found
    if (found.state.is === "over") return toResult(id)
    if (run === undefined) return refused(visit, "old")
    if (found.state.is === "open") {
      const refusal = confirmations.refusal(found, { wallet, now: now() })
      if (refusal !== undefined) return refused(visit, refusal)
    }
    const state = yield* walletState(visit)
    const passphrase = form.get("passphrase") ?? ""
    const wrong = yield* proven(visit, plan, { state, passphrase })
    if (wrong !== undefined) return confirmView(visit, found, { lock: state, wrong: [wrong] })
    const work = whileOpen(calls, { unlocks: plan.unlocks, state, passphrase }, run(calls))
    const outcome = yield* confirmations.perform(found, work, { again: isMendable, now, wallet })
    if (typeof outcome === "string") return refused(visit, outcome)
    if ("done" in outcome && passphrase !== "" && needsPassphrase(plan.unlocks, state)) session.verified = now()
    return "failed" in outcome && isMendable(outcome.failed)
      ? confirmView(visit, found, { lock: yield* walletState(visit), message: failureView(outcome.failed) })
      : toResult(id)
  })

export const resultPage: DeskHandler = (visit) =>
  Effect.sync(() => {
    const found = visit.session.confirmations.find(visit.query.get("id"))
    if (found === undefined) return refused(visit, "unknown")
    const { plan, state } = found
    if (state.is !== "over") {
      return noticePage({
        title: plan.title,
        at: "result",
        reloadAfter: 2,
        tone: "busy",
        paragraphs: ["In progress. This page will show the result; do not start again."]
      }, visit.frame)
    }
    const { outcome } = state
    return "done" in outcome
      ? deskAnswer(visit, {
        title: outcome.done.title,
        at: "result",
        main: html`<h1>${outcome.done.title}</h1>${alertView("good", outcome.done.text)}${
          outcome.done.psbt !== undefined &&
          html`<p class="buttons"><a class="button primary" href="${
            deskLink("psbt", { id: found.id })
          }">Download the PSBT</a></p>`
        }<section class="card">${plan.content}</section>${linksTo("names", "payments")}`
      })
      : deskAnswer(visit, {
        title: "Nothing was done",
        at: "result",
        status: 409,
        main: html`<h1>Nothing was done</h1>${
          failureView(outcome.failed)
        }<section class="card">${plan.content}</section><p class="buttons"><a class="button primary" href="${plan.back}">Start again</a><a class="button" href="${
          deskLink("names")
        }">Names</a></p>`
      })
  })
