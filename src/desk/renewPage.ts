import * as Effect from "effect/Effect"
import { quantityOf } from "../base/quantities.ts"
import { MAX_NAME_LENGTH } from "../consensus/names.ts"
import { NAME_ACKNOWLEDGE } from "../rpc/contract/wallet/alert.ts"
import { NAME_AUTORENEW, NAME_CANCEL } from "../rpc/contract/wallet/registration.ts"
import { NAME_RENEW } from "../rpc/contract/wallet/renewal.ts"
import { redirect } from "../web/document.ts"
import { html } from "../web/html.ts"
import { NAME_AS_HEX } from "./answers.ts"
import type { Plan } from "./confirmations.ts"
import { deskLink, deskPlace } from "./deskLinks.ts"
import { nmc } from "./money.ts"
import { renewalPlan } from "./namesPage.ts"
import { about, listedHex, recordView } from "./nameViews.ts"
import { type DeskHandler, NotMeant, planned, walletState } from "./visit.ts"

/** Renewals of chosen names or all, and automatic renewal of a name. */

const NAMES_SHOWN = 20

const NAME = new RegExp(`^(?:[0-9a-f]{2}){1,${MAX_NAME_LENGTH}}$`)

const switchedOff = (amount: number): string =>
  `${quantityOf(amount, "name")} ${amount === 1 ? "is" : "are"} left out: renewal is turned off for ${
    amount === 1 ? "it" : "them"
  }. Choose a name to renew it once.`

/** Without renewal the name will be lost, so the password is asked for. */
const stopping = (hex: string): Plan => ({
  title: "Stop renewing a name",
  content: recordView([
    ["Name", listedHex(hex)],
    ["Afterwards", html`The name expires unless you renew it. Then anyone can register it.`]
  ]),
  button: "Stop renewing",
  back: deskLink("name", { hex }),
  spends: true,
  unlocks: "nothing",
  same: `stop ${hex}`,
  run: ({ call }) =>
    Effect.as(call(NAME_AUTORENEW, { name: hex, on: false, options: NAME_AS_HEX }), {
      title: "The wallet will not renew the name",
      text: html`To keep it, renew it yourself before it expires.`
    })
})

export const renew: DeskHandler = (visit) =>
  Effect.gen(function*() {
    const { calls, form } = visit
    const which = form.get("which")
    // A button beside a name renews this one, whatever is ticked.
    const given = form.has("one") ? form.getAll("one") : form.getAll("hex")
    const chosen = [...new Set(given.filter((hex) => NAME.test(hex)))]
    const [first] = chosen
    if (which === "on" || which === "off") {
      if (first === undefined) return yield* new NotMeant({ text: "The form has no name." })
      if (which === "off") return planned(visit, stopping(first))
      yield* calls.call(NAME_AUTORENEW, { name: first, on: true, options: NAME_AS_HEX })
      return redirect(deskPlace("name", { hex: first }))
    }
    if (which !== "all" && first === undefined) {
      return yield* new NotMeant({ text: "No names were selected. Go back, and tick the names to renew." })
    }
    const names = which === "all" ? "all" : chosen
    const plan = yield* renewalPlan(calls, names)
    const skipped = plan.names.filter(({ state }) => state === "skipped")
    const renewed = plan.names.filter(({ state }) => state === "waiting")
    const off = plan.left_out ?? 0
    const { info } = yield* walletState(visit)
    if (renewed.length === 0) {
      return yield* new NotMeant({
        text: skipped[0]?.note !== undefined
          ? `There is nothing to renew: ${skipped[0].note}.`
          : `There are no names to renew.${off > 0 ? ` ${switchedOff(off)}` : ""}`
      })
    }
    return planned(visit, {
      title: renewed.length === 1 ? "Renew a name" : `Renew ${quantityOf(renewed.length, "name")}`,
      content: recordView([
        [
          renewed.length === 1 ? "Name" : "Names",
          html`<ul class="sees">${renewed.slice(0, NAMES_SHOWN).map(({ name }) => html`<li>${listedHex(name)}</li>`)}${
            renewed.length > NAMES_SHOWN && html`<li class="muted">and ${renewed.length - NAMES_SHOWN} more</li>`
          }</ul>`
        ],
        ["Fees", about(plan.fee === undefined ? undefined : nmc(plan.fee))],
        [
          "How",
          html`${
            renewed.length === 1 ? "One transaction" : "One transaction per name, in the next blocks"
          }. The value and the owner stay the same.`
        ],
        skipped.length > 0
          ? ["Left out", html`${quantityOf(skipped.length, "name")} that cannot be renewed now`]
          : undefined,
        off > 0 ? ["Not renewed", html`${switchedOff(off)}`] : undefined
      ]),
      button: renewed.length === 1 ? "Renew it" : "Renew them",
      back: deskLink("names"),
      spends: false,
      unlocks: "renewals",
      same: `renew ${JSON.stringify(names)}`,
      run: ({ call }) =>
        Effect.as(call(NAME_RENEW, { names, options: NAME_AS_HEX }), {
          title: "The renewal is in progress",
          text: !info.private_keys_enabled
            ? html`This wallet has no private keys. It makes a PSBT for each name: <a href="${
              deskLink("sign")
            }">download and sign them</a>.`
            : html`The wallet sends one transaction per name, in the next blocks. <a href="${
              deskLink("names")
            }">Names</a> shows which of them are still changing.`
        })
    })
  })

/** At most as many as the warning shows. */
export const acknowledgeAlerts: DeskHandler = ({ calls, form }) =>
  Effect.gen(function*() {
    const names = [...new Set(form.getAll("hex").filter((hex) => NAME.test(hex)))]
    if (names.length > 0) yield* calls.call(NAME_ACKNOWLEDGE, { names, options: NAME_AS_HEX })
    return redirect(deskPlace("names"))
  })

export const cancel: DeskHandler = (visit) =>
  Effect.gen(function*() {
    const hex = visit.form.get("hex") ?? ""
    if (!NAME.test(hex)) return yield* new NotMeant({ text: "The form has no name." })
    return planned(visit, {
      title: "Cancel a registration",
      content: html`${
        recordView([["Name", listedHex(hex)]])
      }<p class="muted">The name is not sent. The 0.01 NMC of its commitment stays locked. Only another registration of the same name can use it.</p>`,
      button: "Cancel the registration",
      back: deskLink("names"),
      spends: true,
      unlocks: "nothing",
      same: `cancel ${hex}`,
      run: ({ call }) =>
        Effect.as(call(NAME_CANCEL, { name: hex, options: NAME_AS_HEX }), {
          title: "The registration is cancelled",
          text: html`Nothing more will be sent.`
        })
    })
  })
