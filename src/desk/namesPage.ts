import * as Effect from "effect/Effect"
import { unixTime } from "../base/clock.ts"
import { quantityOf, spanText } from "../base/quantities.ts"
import { amountText } from "../protocol/amount.ts"
import { type Bytes, toHex } from "../protocol/bytes.ts"
import { NAME_PENDING } from "../rpc/contract/names/pending.ts"
import { GETBALANCES } from "../rpc/contract/wallet/balance.ts"
import { NAME_LIST } from "../rpc/contract/wallet/nameWallet.ts"
import { NAME_AUTORENEW, NAME_REGISTRATIONS } from "../rpc/contract/wallet/registration.ts"
import { NAME_RENEW, NAME_RENEWALS } from "../rpc/contract/wallet/renewal.ts"
import type { CallOf } from "../rpc/method/calling.ts"
import { isRecentFailure } from "../rpc/recentFailure.ts"
import { renewalWindow } from "../wallet/names/renewals.ts"
import { type Html, html, NOTHING } from "../web/html.ts"
import { nameLink } from "../web/links.ts"
import { programsView } from "../web/lintView.ts"
import { kindOfName } from "../web/nameState.ts"
import { pagesView } from "../web/parts.ts"
import { valueView } from "../web/valueView.ts"
import { titleName, visible } from "../web/visible.ts"
import { AS_HEX, NAME_AS_HEX, type OwnName, type RegistrationRow } from "./answers.ts"
import { type Calls, unclear, unless } from "./calls.ts"
import { deskLink, ownNameLink } from "./deskLinks.ts"
import { alertView, card, deskCli } from "./frame.ts"
import { nmc } from "./money.ts"
import { bytesOfHex, expiryOf, ifTimed, listedHex, nameHeading, recordView, renewedBy, stepView } from "./nameViews.ts"
import { actView, formerView, ownRow } from "./ownNames.ts"
import {
  deskAnswer,
  type DeskHandler,
  type DeskVisit,
  nameIn,
  NotMeant,
  tokenField,
  type WalletState,
  walletState
} from "./visit.ts"

const PAGE = 50

/** A wallet whose lock endangers names has a warning of its own. */
const lockNote = ({ info, lock }: WalletState, isAlarmed: boolean): Html =>
  html`${
    lock === "locked" && !isAlarmed &&
    alertView(
      "busy",
      html`The wallet is locked. Changes ask for the passphrase. <a href="${
        deskLink("wallet")
      }">Unlock it for renewals</a> so that it can renew names automatically.`
    )
  }${
    info.phrase_kept !== undefined && info.phrase_checked === undefined &&
    alertView(
      "attention",
      html`${
        info.phrase_kept
          ? "You haven't verified your seed phrase. Check it now, while you can still fix a mistake."
          : "The seed phrase of this wallet was never shown. Without it, a disk failure loses your coins and names."
      } <a href="${deskLink("words")}">${info.phrase_kept ? "Check the words" : "Write it down and check it"}</a>`
    )
  }`

const emptyView = (hasCoins: boolean): Html =>
  hasCoins
    ? html`<p>This wallet does not own any names yet.</p><p class="buttons"><a class="button primary" href="${
      deskLink("register")
    }">Register a name</a></p>`
    : html`<p>This wallet has no coins and no names yet. A registration locks 0.01 NMC in the name, and costs two fees.</p><p class="buttons"><a class="button primary" href="${
      deskLink("receive")
    }">Receive coins</a><a class="button" href="${deskLink("register")}">Register a name</a></p>`

const MOST_FAILURES = 10

/** All registrations in progress, the last failures, and the number of omitted failures. */
const registrationsToShow = (all: ReadonlyArray<RegistrationRow>) =>
  Effect.map(unixTime, (now) => {
    const failed = all.filter(({ step }) => step === "failed").toSorted((a, b) => b.time - a.time)
    const recent = new Set(failed.filter(({ time }) => isRecentFailure({ begun: time, now })).slice(0, MOST_FAILURES))
    return {
      shown: all.filter((each) => each.step === "failed" ? recent.has(each) : each.step !== "done"),
      hidden: failed.length - recent.size
    }
  })

const quietLine = (parts: ReadonlyArray<string | false>): Html => {
  const shown = parts.filter((part) => part !== false)
  return shown.length === 0 ? NOTHING : html`<p class="muted">${shown.join(" · ")}</p>`
}

export const ownNamesPage: DeskHandler = (visit) =>
  Effect.gen(function*() {
    const { calls, query } = visit
    const state = yield* walletState(visit)
    const { mine } = yield* calls.call(GETBALANCES, {})
    const all = yield* calls.call(NAME_LIST, { options: AS_HEX })
    const registrations = yield* calls.call(NAME_REGISTRATIONS, { options: AS_HEX })
    const renewals = yield* calls.call(NAME_RENEWALS, { options: NAME_AS_HEX })
    const pending = yield* calls.call(NAME_PENDING, { options: AS_HEX })
    const own = all.filter(({ expired, ismine }) => ismine && !expired).toSorted((a, b) => a.expires_in - b.expires_in)
    const former = all.filter(({ expired, ismine }) => !ismine || expired)
    const pages = Math.max(1, Math.ceil(own.length / PAGE))
    const page = Math.min(pages, Math.max(1, Number(query.get("page")) || 1))
    const changing = new Set([
      ...pending.map(({ name }) => name),
      ...renewals.filter(({ state }) => state === "waiting" || state === "sent").map(({ name }) => name)
    ])
    const { hidden, shown: running } = yield* registrationsToShow(registrations)
    const toCome = mine.untrusted_pending.units + mine.immature.units
    return deskAnswer(visit, {
      title: "Names",
      at: "names",
      main: html`<h1>Names</h1>${lockNote(state, visit.frame.danger !== undefined)}${
        quietLine([
          own.length > 0 && quantityOf(own.length, "name"),
          mine.trusted.units > 0 && nmc(mine.trusted),
          toCome > 0 && `${amountText(toCome)} to come`
        ])
      }${
        running.length + hidden > 0 && card(
          "Registrations under way",
          html`<ul class="operations">${
            running.map((each) =>
              html`<li><span>${each.name === undefined ? "A name that is not revealed" : listedHex(each.name)}<br>${
                stepView(each, visit.frame)
              }</span>${
                (each.step === "committed" || each.step === "maturing") && each.name !== undefined &&
                each.value !== undefined &&
                html`<form class="inline" action="${deskLink("cancel")}" method="post">${
                  tokenField(visit)
                }<input type="hidden" name="hex" value="${each.name}"><button type="submit">Cancel<span class="out"> ${
                  titleName(bytesOfHex(each.name))
                }</span></button></form>`
              }</li>`
            )
          }</ul>${
            hidden > 0 &&
            html`<p class="muted">${quantityOf(hidden, "failed registration")} not shown: <code class="break">${
              deskCli(visit.frame)
            } registrations -all</code> lists all.</p>`
          }`
        )
      }<section class="card"><h2>Own names</h2>${
        own.length === 0 ?
          emptyView(mine.trusted.units + toCome > 0) :
          html`<form action="${deskLink("renew")}" method="post">${tokenField(visit)}<ul class="own">${
            own.slice((page - 1) * PAGE, page * PAGE).map((each) =>
              ownRow(each, { frame: visit.frame, isChanging: changing.has(each.name) })
            )
          }</ul><p class="buttons"><label class="option" hidden><input type="checkbox" data-all="hex">All on this page</label><button type="submit" name="which" value="chosen">Renew chosen names</button><button type="submit" name="which" value="all">Renew all</button></p></form>${
            pagesView(
              { page, pages, label: "Pages of the names", words: ["Before", "Next"] },
              (to) => deskLink("names", { page: String(to) })
            )
          }`
      }</section>${formerView(former)}`
    })
  })

const NOT_OWN = new NotMeant({
  text: "This wallet does not own that name. The name may have expired or have another owner."
})

/** A name that the wallet owns, or owned last. */
const knownName = (visit: DeskVisit, given: URLSearchParams) =>
  Effect.gen(function*() {
    const name = yield* nameIn(given)
    const hex = toHex(name)
    const [record] = yield* visit.calls.call(NAME_LIST, { name: hex, options: AS_HEX })
    return record === undefined || !record.ismine ? yield* NOT_OWN : { name, hex, record }
  })

export const heldName = (visit: DeskVisit, given: URLSearchParams) =>
  Effect.filterOrFail(knownName(visit, given), ({ record }) => !record.expired, () => NOT_OWN)

/** For a change by a transaction: tells the user of a pending one, which the node would refuse, before the form. */
export const changeableName = (visit: DeskVisit, given: URLSearchParams) =>
  Effect.gen(function*() {
    const held = yield* heldName(visit, given)
    const pending = yield* visit.calls.call(NAME_PENDING, { name: held.hex, options: AS_HEX })
    if (pending.length > 0) {
      return yield* new NotMeant({
        text: "A change or a renewal of this name is unconfirmed. Wait until it is in a block, and start again."
      })
    }
    return held
  })

/** What a renewal costs, and which names it skips. */
export const renewalPlan = ({ call }: Pick<Calls, "call">, names: CallOf<typeof NAME_RENEW>["names"]) =>
  Effect.flatMap(
    call(NAME_RENEW, { names, options: { ...NAME_AS_HEX, dryrun: true } }),
    (plan) => "transactions" in plan ? Effect.succeed(plan) : unclear(NAME_RENEW)
  )

/** About that of a renewal; `undefined` if unknown. */
export const feeOfChange = ({ calls }: DeskVisit, hex: string) =>
  Effect.map(
    unless(renewalPlan(calls, [hex]), [
      "forbidden",
      -4
    ]),
    // A plan without a transaction costs nothing, but a change does.
    (plan) => plan === undefined || plan.transactions === 0 || plan.fee === undefined ? undefined : nmc(plan.fee)
  )

/** When the wallet renews a name last changed at a height. */
const beforeExpiry = ({ frame, node }: DeskVisit, height: number): string => {
  const blocks = renewalWindow(height, node.params)
  return `${quantityOf(blocks, "block")}${
    ifTimed(frame, ` (about ${spanText(blocks * node.params.targetSpacing)})`)
  } before it expires`
}

/** What cannot be done now looks so, with the reason beside it. */
const actsView = (
  visit: DeskVisit,
  { hex, isPending, name }: { readonly name: Bytes; readonly hex: string; readonly isPending: boolean }
): Html => {
  const release = html`<a class="button" href="${ownNameLink("release", name)}">Release</a>`
  const acts = isPending
    ? html`${
      ["Change its value", "Renew", "Transfer"].map((text) =>
        html`<button type="button" disabled aria-describedby="why">${text}</button>`
      )
    }${release}`
    : html`<a class="button primary" href="${
      ownNameLink("edit", name)
    }">Change its value</a><form class="inline" action="${deskLink("renew")}" method="post">${
      tokenField(visit)
    }<input type="hidden" name="hex" value="${hex}"><button type="submit" name="which" value="chosen">Renew</button></form><a class="button" href="${
      ownNameLink("transfer", name)
    }">Transfer</a>${release}`
  return html`<section class="card"><h2>What you can do</h2><div class="buttons">${acts}</div>${
    isPending && html`<p class="hint" id="why">Wait until the unconfirmed change is in a block.</p>`
  }</section>`
}

interface RenewalShown {
  readonly hex: string
  readonly record: OwnName
  /** The setting: whether it is renewed depends on the wallet's lock and coins, too. */
  readonly isOn: boolean
}

/** What becomes of the name, and the button that changes the setting. */
const renewalRow = (visit: DeskVisit, { hex, isOn, record }: RenewalShown): Html => {
  const { expired, height, outlook } = record
  return html`${
    outlook === undefined
      ? "What becomes of the name is not known until the node has all blocks."
      : html`The name ${visible(outlook.text)}${outlook.state === "renews" && `, ${beforeExpiry(visit, height)}`}.`
  }${
    !expired &&
    html`<form class="inline" action="${deskLink("renew")}" method="post">${
      tokenField(visit)
    }<input type="hidden" name="hex" value="${hex}"> <button type="submit" name="which" value="${
      isOn ? "off" : "on"
    }">${isOn ? "Stop renewing it" : "Let the wallet renew it"}</button></form>`
  }`
}

export const namePage: DeskHandler = (visit) =>
  Effect.gen(function*() {
    const { calls, query } = visit
    const { hex, name, record } = yield* knownName(visit, query)
    const { expired, outlook } = record
    const pending = yield* calls.call(NAME_PENDING, { name: hex, options: AS_HEX })
    const renewing = yield* calls.call(NAME_AUTORENEW, { options: NAME_AS_HEX })
    const value = bytesOfHex(record.value)
    return deskAnswer(visit, {
      title: titleName(name),
      at: "name",
      main: html`${nameHeading(kindOfName(name), name)}${
        pending.length > 0 &&
        alertView(
          "busy",
          `${quantityOf(pending.length, "unconfirmed change")} of this name. The page shows the state before.`
        )
      }${
        expired
          ? outlook?.state === "free" &&
            html`<p class="buttons">${actView({ ...record, wallet: visit.wallet }, outlook)}</p>`
          : actsView(visit, { hex, name, isPending: pending.length > 0 })
      }<section class="card"><h2>${expired ? "Last value" : "Value"}</h2>${
        valueView(value, true, nameLink(name))
      }</section>${programsView({ name, value, expired })}<section class="card"><h2>Record</h2>${
        recordView([
          ["Expires in", expiryOf(record, visit.frame)],
          ["Renewal", renewalRow(visit, { hex, record, isOn: renewedBy(renewing)(hex) })],
          ["Last change", html`block ${record.height}`],
          ["Address", html`<code class="address">${record.address}</code>`],
          ["More", html`<a href="${nameLink(name)}">Its page in the explorer</a>`]
        ])
      }</section>`
    })
  })
