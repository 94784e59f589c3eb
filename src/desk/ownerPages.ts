import * as Effect from "effect/Effect"
import type { Bytes } from "../protocol/bytes.ts"
import { NAME_AUTORENEW } from "../rpc/contract/wallet/registration.ts"
import { html } from "../web/html.ts"
import { titleName, visible, wholeName } from "../web/visible.ts"
import { NAME_AS_HEX } from "./answers.ts"
import type { Plan } from "./confirmations.ts"
import { deskLink, ownNameLink } from "./deskLinks.ts"
import { field, option } from "./frame.ts"
import { changeableName, feeOfChange, heldName } from "./namesPage.ts"
import { about, ifTimed, nameHeading, recordView } from "./nameViews.ts"
import { addressFault, isOwnAddress } from "./newOwner.ts"
import { draftedChange, plannedOrDrafted, sentChange } from "./psbtPages.ts"
import { deskAnswer, type DeskHandler, type DeskVisit, planned, tokenField } from "./visit.ts"

/** Transferring a name, and giving it up. */

interface Given {
  readonly name: Bytes
  readonly hex: string
}

const transferForm = (
  visit: DeskVisit,
  { hex, name }: Given,
  { address = "", wrong = [] }: { readonly address?: string; readonly wrong?: ReadonlyArray<string> } = {}
) =>
  deskAnswer(visit, {
    title: `Transfer ${titleName(name)}`,
    at: "transfer",
    status: wrong.length > 0 ? 400 : 200,
    main: html`${nameHeading("Transfer", name)}<section class="card"><form class="stacked" action="${
      deskLink("transfer")
    }" method="post">${tokenField(visit)}<input type="hidden" name="hex" value="${hex}">${
      field({
        name: "address",
        label: "Address of the new owner",
        hint: "The wallet of the new owner shows it, for example under Payments, Receive",
        value: address,
        wrong,
        required: true
      })
    }<p class="hint">The value stays, and the 0.01 NMC in the name go with it. Only the new owner can change the name afterwards.</p><div class="buttons"><button class="primary" type="submit">Go on to confirm</button><a class="button" href="${
      ownNameLink("name", name)
    }">Back</a></div></form></section>`
  })

export const transferPage: DeskHandler = (visit) =>
  Effect.map(changeableName(visit, visit.query), (given) => transferForm(visit, given))

export const transfer: DeskHandler = (visit) =>
  Effect.gen(function*() {
    const given = yield* changeableName(visit, visit.form)
    const { hex, name } = given
    const address = (visit.form.get("address") ?? "").trim()
    if (address === "") return transferForm(visit, given, { wrong: ["Enter the address that the new owner gave you."] })
    const fault = yield* addressFault(visit.calls, address)
    if (fault !== undefined) return transferForm(visit, given, { address, wrong: [fault] })
    const isOwn = yield* isOwnAddress(visit.calls, address)
    const fee = yield* feeOfChange(visit, hex)
    const change = { name: hex, options: { destAddress: address } }
    return yield* plannedOrDrafted(visit, {
      title: "Transfer a name",
      content: recordView([
        ["Name", wholeName(name)],
        ["New owner", html`<code class="address">${visible(address)}</code>`],
        ["Included", html`the value and the 0.01 NMC locked in the name`],
        ["Fee", about(fee)],
        [
          "Afterwards",
          isOwn
            ? html`This address belongs to this wallet, so the name stays yours.`
            : html`Only the new owner can change, renew or return the name. A wrong address cannot be corrected.`
        ]
      ]),
      button: "Transfer it",
      back: ownNameLink("transfer", name),
      spends: true,
      unlocks: "all",
      same: `transfer ${hex}`,
      run: ({ call }) =>
        Effect.as(sentChange({ call }, change), {
          title: "The transfer is sent",
          text: html`The name belongs to the new owner once the transaction is in a block${
            ifTimed(visit.frame, ", in about ten minutes")
          }.`
        })
    }, (calls) => draftedChange(calls, change))
  })

export const releasePage: DeskHandler = (visit) =>
  Effect.map(heldName(visit, visit.query), ({ hex, name }) =>
    deskAnswer(visit, {
      title: `Release ${titleName(name)}`,
      at: "release",
      main: html`${nameHeading("Release", name)}<section class="card"><form class="stacked" action="${
        deskLink("release")
      }" method="post">${
        tokenField(visit)
      }<input type="hidden" name="hex" value="${hex}"><p>A name cannot be released immediately. The wallet stops renewing it, and once it has expired, anyone can register it. Its 0.01 NMC is then lost, unless you renew the name first.</p>${
        option({
          type: "checkbox",
          name: "empty",
          value: "1",
          label: "Empty its value now",
          hint:
            "A transaction with a fee, so that the name leads nowhere from its block on. It starts the time until the expiry again."
        })
      }<div class="buttons"><button class="primary" type="submit">Go on to confirm</button><a class="button" href="${
        ownNameLink("name", name)
      }">Back</a></div></form></section>`
    }))

export const release: DeskHandler = (visit) =>
  Effect.gen(function*() {
    const empties = visit.form.get("empty") === "1"
    const { hex, name } = yield* (empties ? changeableName : heldName)(visit, visit.form)
    const change = { name: hex, value: "" }
    const plan: Plan = {
      title: "Release a name",
      content: recordView([
        ["Name", wholeName(name)],
        ["Renewal", html`The wallet stops renewing it.`],
        ["Value", empties ? html`Is cleared now, by a transaction.` : html`Stays until the name expires.`]
      ]),
      button: "Release it",
      back: ownNameLink("release", name),
      spends: true,
      unlocks: empties ? "all" : "nothing",
      same: `release ${hex}`,
      run: ({ call }) =>
        Effect.gen(function*() {
          yield* call(NAME_AUTORENEW, { name: hex, on: false, options: NAME_AS_HEX })
          // Last: what fails after a transaction would look as if nothing was sent.
          if (empties) yield* sentChange({ call }, change)
          return {
            title: "The name is released",
            text: html`The wallet no longer renews it.${
              empties && " The empty value takes effect once it is in a block."
            }`
          }
        })
    }
    // Without a transaction, there is nothing to sign.
    return yield* empties
      ? plannedOrDrafted(visit, plan, (calls) =>
        Effect.zipRight(
          calls.call(NAME_AUTORENEW, { name: hex, on: false, options: NAME_AS_HEX }),
          draftedChange(calls, change)
        ))
      : Effect.succeed(planned(visit, plan))
  })
