import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import { actOf, isAlarming } from "../base/outlookWords.ts"
import { quantityOf, spanText } from "../base/quantities.ts"
import { NAME_ALERTS } from "../rpc/contract/wallet/alert.ts"
import type { ResultOf } from "../rpc/method/calling.ts"
import { type Html, html, NOTHING } from "../web/html.ts"
import { nameLink } from "../web/links.ts"
import { shortValue } from "../web/valueView.ts"
import { titleName, visible } from "../web/visible.ts"
import { NAME_AS_HEX, type OwnName } from "./answers.ts"
import { deskLink, ownNameLink } from "./deskLinks.ts"
import { card, deskCli } from "./frame.ts"
import { bytesOfHex, ifTimed, lifeOf, listedHex } from "./nameViews.ts"
import { type DeskVisit, tokenField } from "./visit.ts"

/** Lists of own names: how long each lives, what becomes of it, and what to do next. */

type Outlook = NonNullable<OwnName["outlook"]>
type Alert = ResultOf<typeof NAME_ALERTS>["names"][number]

const BLOCK_SECONDS = 600

/** One obvious act, where one helps. `one`: renews this name alone, in a form of the list. */
export const actView = (
  { name: hex = "", wallet }: Pick<OwnName, "name"> & { readonly wallet: string | undefined },
  { pending_txid: txid, state }: Pick<Outlook, "pending_txid" | "state">
): Html => {
  const name = bytesOfHex(hex)
  const of = html`<span class="out"> ${titleName(name)}</span>`
  switch (actOf(state)) {
    case "unlock":
      return html`<a class="button" href="${deskLink("wallet")}">Unlock for renewals</a>`
    case "fund":
      return html`<a class="button" href="${deskLink("receive")}">Receive coins</a>`
    case "renew":
      return html`<button type="submit" name="one" value="${hex}">Renew${of}</button>`
    case "sign":
      return html`<a class="button" href="${deskLink("sign")}">Sign its renewal</a>`
    case "raise-fee":
      return html`<span class="hint">If no block takes it: <code class="break">${deskCli({ wallet })} bumpfee ${
        txid ?? "TXID"
      }</code> raises its fee.</span>`
    case "register":
      return html`<a class="button" href="${deskLink("register", { hex })}">Register again${of}</a>`
    default:
      return NOTHING
  }
}

const toneOf = ({ urgency }: Pick<Outlook, "urgency">): "good" | "busy" | "attention" =>
  isAlarming(urgency) ? "attention" : urgency === "notice" ? "busy" : "good"

export interface OwnRow {
  readonly frame: DeskVisit["frame"]
  readonly isChanging: boolean
}

/** While the node syncs, there is no outlook. */
export const ownRow = (each: OwnName, { frame, isChanging }: OwnRow): Html => {
  const { expires_in: left, name: hex = "", outlook } = each
  const name = bytesOfHex(hex)
  const depth = lifeOf(frame)
  const tone = outlook === undefined ? "busy" : toneOf(outlook)
  return html`<li class="${tone}"><label class="check"><input type="checkbox" name="hex" value="${hex}"><span class="out">Choose ${
    titleName(name)
  }</span></label><a class="own-name" href="${ownNameLink("name", name)}">${
    listedHex(hex)
  }</a><span class="own-value">${shortValue(bytesOfHex(each.value))}</span><span class="own-left">${
    ifTimed(frame, `${spanText(left * BLOCK_SECONDS).split(" ").slice(0, 2).join(" ")}`)
  }${frame.network === "regtest" && quantityOf(left, "block")}</span><progress class="life" max="${depth}" value="${
    Math.max(0, Math.min(left, depth))
  }" aria-label="${`Life left of ${titleName(name)}`}"></progress><span class="own-state">${
    isChanging && html`<span class="badge busy">changing</span> `
  }${outlook !== undefined && visible(outlook.text)}</span><span class="own-act">${
    outlook !== undefined && outlook.urgency !== "ok" && actView({ ...each, wallet: frame.wallet }, outlook)
  }</span></li>`
}

const MOST_FORMER = 50

export const formerView = (names: ReadonlyArray<OwnName>): Html =>
  names.length === 0
    ? NOTHING
    : card(
      "Former names",
      html`<details><summary>${
        quantityOf(names.length, "name")
      }, expired or with another owner</summary><ul class="operations">${
        names.slice(0, MOST_FORMER).map((each) =>
          html`<li><a href="${nameLink(bytesOfHex(each.name))}">${listedHex(each.name)}</a><span class="muted">${
            each.outlook === undefined
              ? each.expired ? "expired" : "has another owner"
              : visible(each.outlook.text)
          }${
            each.outlook?.state === "free" && html` ${actView({ ...each, wallet: undefined }, each.outlook)}`
          }</span></li>`
        )
      }</ul></details>`
    )

const MOST_ALERTED = 10

/** Stays until the owner says that they know. */
const dangerView = (visit: DeskVisit, names: ReadonlyArray<Alert>): Html => {
  if (names.length === 0) return NOTHING
  const shown = names.slice(0, MOST_ALERTED)
  return html`<section class="alert attention danger" role="alert" aria-labelledby="danger"><h2 id="danger">${
    names.length === 1 ? "A name is in danger" : `${names.length} names are in danger`
  }</h2><form action="${deskLink("renew")}" method="post">${tokenField(visit)}<ul>${
    shown.map((each) =>
      html`<li><span><b>${listedHex(each.name)}</b> ${visible(each.text)}.</span> ${actView(each, each)}</li>`
    )
  }</ul></form>${
    names.length > shown.length && html`<p>And ${quantityOf(names.length - shown.length, "more name")}.</p>`
  }<form action="${deskLink("acknowledge")}" method="post">${tokenField(visit)}${
    shown.map(({ name = "" }) => html`<input type="hidden" name="hex" value="${name}">`)
  }<button type="submit">I know</button><span class="hint"> Hides this until something else happens to ${
    shown.length === 1 ? "the name" : "these names"
  }.</span></form></section>`
}

/**
 * With the names in danger in the frame of its pages: none while blocks are missing, or if the user may not see them.
 * A page is never worse for a warning that fails.
 */
export const warned = (visit: DeskVisit): Effect.Effect<DeskVisit> =>
  Effect.map(
    Effect.option(visit.calls.call(NAME_ALERTS, { options: NAME_AS_HEX })),
    Option.match({
      onNone: () => visit,
      onSome: ({ complete, names }) =>
        complete && names.length > 0 ? { ...visit, frame: { ...visit.frame, danger: dangerView(visit, names) } } : visit
    })
  )
