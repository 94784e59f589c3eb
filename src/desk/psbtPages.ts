import * as Effect from "effect/Effect"
import type { PageAnswer } from "../http/Pages.ts"
import { toHex } from "../protocol/bytes.ts"
import { sha256 } from "../protocol/hash.ts"
import { SENDPSBT } from "../rpc/contract/mempool/offer.ts"
import { NAME_UPDATE } from "../rpc/contract/wallet/nameWrite.ts"
import { NAME_RENEWALS } from "../rpc/contract/wallet/renewal.ts"
import { LONGEST_REVIEWED, REVIEWPSBT } from "../rpc/contract/wallet/signing.ts"
import type { CallOf, ResultOf } from "../rpc/method/calling.ts"
import { attachment } from "../web/document.ts"
import { type Html, html } from "../web/html.ts"
import { titleName, visible } from "../web/visible.ts"
import { DRAFTED_AS_HEX, NAME_AS_HEX, SENT_AS_HEX } from "./answers.ts"
import { type CallFailed, type Calls, unclear } from "./calls.ts"
import type { Plan } from "./confirmations.ts"
import { deskLink } from "./deskLinks.ts"
import { alertView, card, field, linksTo } from "./frame.ts"
import { bytesOfHex, ifTimed, listedHex } from "./nameViews.ts"
import { deskAnswer, type DeskHandler, type DeskVisit, NotMeant, planned, tokenField, walletState } from "./visit.ts"

/** Changes of a wallet without private keys: the desk makes PSBTs, and sends what their owner signed elsewhere. */

type Draft = (calls: Calls) => Effect.Effect<string, CallFailed>

/** What the plan of a wallet with keys becomes for one without: a file to sign. Nothing is sent. */
const drafted = ({ content, run: _, ...plan }: Plan, draft: Draft): Plan => ({
  ...plan,
  content: html`${content}${
    alertView(
      "busy",
      "This wallet has no private keys. The desk makes a PSBT, an unsigned transaction in a file, and sends nothing."
    )
  }`,
  button: "Make the PSBT",
  spends: false,
  unlocks: "nothing",
  same: `draft ${plan.same}`,
  run: (calls) =>
    Effect.map(draft(calls), (psbt) => ({
      title: "The PSBT is made",
      text:
        html`Nothing was sent. Download the PSBT, sign it on the machine that has the keys (<code>svcd-wallet sign FILE</code>), and <a href="${
          deskLink("sign")
        }">send the signed one</a>.`,
      psbt
    }))
})

type Change = CallOf<typeof NAME_UPDATE>

/** A change of a name, which is sent or fails. */
export const sentChange = ({ call }: Pick<Calls, "call">, { options, ...change }: Change) =>
  call(NAME_UPDATE, { ...change, options: { ...options, ...SENT_AS_HEX } })

/** The same as a PSBT. */
export const draftedChange = ({ call }: Pick<Calls, "call">, { options, ...change }: Change) =>
  Effect.flatMap(
    call(NAME_UPDATE, { ...change, options: { ...options, ...DRAFTED_AS_HEX } }),
    (answer) => typeof answer === "object" && "psbt" in answer ? Effect.succeed(answer.psbt) : unclear(NAME_UPDATE)
  )

/** A plan to confirm; of a wallet without private keys, that of a PSBT. */
export const plannedOrDrafted = (visit: DeskVisit, plan: Plan, draft: Draft): Effect.Effect<PageAnswer, CallFailed> =>
  Effect.map(
    walletState(visit),
    ({ info }) => planned(visit, info.private_keys_enabled ? plan : drafted(plan, draft))
  )

/** In base64, so that a signed one can be pasted. */
const psbtFile = ({ psbt, title }: { readonly title: string; readonly psbt: string }): PageAnswer =>
  attachment({ name: `${title}.psbt`, text: `${psbt}\n` })

const NO_PSBT = new NotMeant({ text: "This PSBT no longer exists. Make it again." })

const waitingRenewals = ({ calls }: DeskVisit) =>
  Effect.map(
    calls.call(NAME_RENEWALS, { options: NAME_AS_HEX }),
    (renewals) =>
      renewals.flatMap(({ name: hex = "", psbt, state }) =>
        psbt === undefined || state !== "waiting" ? [] : [{ hex, psbt }]
      )
  )

/** The PSBT of a confirmation, or of a renewal that waits for its signature. */
export const psbtPage: DeskHandler = (visit) =>
  Effect.gen(function*() {
    const { query, session, wallet } = visit
    const hex = query.get("hex")
    if (hex !== null) {
      const found = (yield* waitingRenewals(visit)).find((each) => each.hex === hex)
      return found === undefined
        ? yield* NO_PSBT
        : psbtFile({ title: `renew ${titleName(bytesOfHex(hex))}`, psbt: found.psbt })
    }
    const made = session.confirmations.find(query.get("id"))
    const done = made?.state.is === "over" && "done" in made.state.outcome ? made.state.outcome.done : undefined
    return made === undefined || made.wallet !== wallet || done?.psbt === undefined
      ? yield* NO_PSBT
      : psbtFile({ title: made.plan.title, psbt: done.psbt })
  })

type Review = ResultOf<typeof REVIEWPSBT>

const reviewView = ({ lines, warnings }: Review): Html =>
  html`${
    warnings.length > 0 &&
    alertView("attention", ...warnings.map((each) => html`Look at this first: ${visible(each)}.`))
  }<pre class="value" tabindex="0" aria-label="What the PSBT does">${visible(lines.join("\n"), true)}</pre>`

const signForm = (
  visit: DeskVisit,
  { text = "", wrong = [] }: { readonly text?: string; readonly wrong?: ReadonlyArray<string> }
) =>
  html`<form class="stacked" action="${deskLink("sign")}" method="post">${tokenField(visit)}${
    field({
      name: "psbt",
      label: "The signed PSBT",
      hint: "In base64, as svcd-wallet writes it",
      rows: 6,
      longest: LONGEST_REVIEWED,
      value: text,
      wrong
    })
  }<label class="field" hidden>Or choose its file<input type="file" data-into="psbt" accept=".psbt,.txt,application/octet-stream,text/plain"></label><button class="primary" type="submit">See what it does</button></form>`

const MOST_SHOWN = 100

const signView = (
  visit: DeskVisit,
  { review, ...form }: { readonly text?: string; readonly wrong?: ReadonlyArray<string>; readonly review?: Review } = {}
) =>
  Effect.map(waitingRenewals(visit), (renewals) =>
    deskAnswer(visit, {
      title: "Sign elsewhere",
      at: "sign",
      status: form.wrong === undefined ? 200 : 400,
      main: html`<h1>Sign elsewhere</h1>${review !== undefined && card("What it does", reviewView(review))}${
        card(
          "Renewals that wait for a signature",
          renewals.length === 0
            ? html`<p class="empty">None.</p>`
            : html`<p>Sign each on the machine that has the keys: <code>svcd-wallet sign -renewals-only FILE</code>.</p><ul class="operations">${
              renewals.slice(0, MOST_SHOWN).map(({ hex }) =>
                html`<li><span>${listedHex(hex)}</span><a class="button" href="${
                  deskLink("psbt", { hex })
                }">Download the PSBT<span class="out"> of ${titleName(bytesOfHex(hex))}</span></a></li>`
              )
            }</ul>${
              renewals.length > MOST_SHOWN &&
              html`<p class="muted">And ${renewals.length - MOST_SHOWN} more: sign these first.</p>`
            }`
        )
      }${card("Send what you have signed", signForm(visit, form))}${linksTo("names")}`
    }))

export const signPage: DeskHandler = (visit) => signView(visit)

/** Shows what a signed PSBT does, and sends it after a confirmation. */
export const sendSigned: DeskHandler = (visit) =>
  Effect.gen(function*() {
    const { calls, form } = visit
    const psbt = (form.get("psbt") ?? "").replaceAll(/\s/g, "")
    if (psbt === "" || psbt.length > LONGEST_REVIEWED) {
      const wrong = psbt === ""
        ? "Paste the signed PSBT."
        : "The PSBT is too long for this page: use svcd-cli sendpsbt."
      return yield* signView(visit, { wrong: [wrong] })
    }
    if (!calls.may("sendpsbt")) {
      return yield* new NotMeant({
        text: "Your user does not have the right to send. Sign in as a user with this right."
      })
    }
    const review = yield* Effect.catchIf(
      calls.call(REVIEWPSBT, { psbt }),
      ({ code }) => code === -22,
      () => Effect.succeed(undefined)
    )
    if (review === undefined) {
      return yield* signView(visit, { text: psbt, wrong: ["This is not a PSBT in base64. Copy the whole file."] })
    }
    if (!review.complete) {
      const wrong = ["Signatures are missing, so nothing can be sent. Sign it on the machine that has the keys."]
      return yield* signView(visit, { review, text: psbt, wrong })
    }
    return planned(visit, {
      title: "Send a signed PSBT",
      content: reviewView(review),
      button: "Send it",
      back: deskLink("sign"),
      spends: true,
      unlocks: "nothing",
      same: `sendpsbt ${toHex(sha256(Buffer.from(psbt)))}`,
      run: ({ call }) =>
        Effect.map(call(SENDPSBT, { psbt }), (txid) => ({
          title: "The transaction is sent",
          text: html`Transaction <code class="break">${txid}</code>. It takes effect once it is in a block${
            ifTimed(visit.frame, ", in about ten minutes")
          }.`
        }))
    })
  })
