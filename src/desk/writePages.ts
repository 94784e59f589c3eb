import * as Effect from "effect/Effect"
import { MAX_SPENDABLE_VALUE, MIN_NAME_AMOUNT } from "../consensus/names.ts"
import type { PageAnswer } from "../http/Pages.ts"
import { aboutText, amountText } from "../protocol/amount.ts"
import { type Bytes, fromHex, toHex } from "../protocol/bytes.ts"
import { FEE_TARGET, nameCosts } from "../protocol/nameCosts.ts"
import { encodeText } from "../protocol/nameText.ts"
import { ESTIMATESMARTFEE } from "../rpc/contract/mempool/fee.ts"
import { GETMEMPOOLINFO } from "../rpc/contract/mempool/mempool.ts"
import { NAME_PENDING } from "../rpc/contract/names/pending.ts"
import { NAME_LIST } from "../rpc/contract/wallet/nameWallet.ts"
import { NAME_AUTOREGISTER } from "../rpc/contract/wallet/registration.ts"
import { RPC_CODE } from "../rpc/method/RpcError.ts"
import { type Html, html } from "../web/html.ts"
import { lintView } from "../web/lintView.ts"
import { indentedJson } from "../web/valueView.ts"
import { titleName, visible, wholeName } from "../web/visible.ts"
import { AS_HEX } from "./answers.ts"
import { CallFailed, type Calls, unless } from "./calls.ts"
import { deskLink, ownNameLink } from "./deskLinks.ts"
import { deskPage } from "./frame.ts"
import { changeableName, feeOfChange } from "./namesPage.ts"
import { about, bytesOfHex, changeHeading, ifTimed, recordView } from "./nameViews.ts"
import { ownerFaults, ownerRow } from "./newOwner.ts"
import { draftedChange, plannedOrDrafted, sentChange } from "./psbtPages.ts"
import { type FormKind, kindFor, madeValue, openValue, sentTexts } from "./valueFields.ts"
import { draftView, NO_OWNER, type ValueForm, valueForm } from "./valueForm.ts"
import { deskAnswer, type DeskFailure, type DeskHandler, type DeskVisit, nameIn, NotMeant, planned } from "./visit.ts"

/** The form for the value of a new or an own name, and its confirmation. */

// The value of an own name

const editForm = (name: Bytes, value: Bytes, as: string | null): Effect.Effect<ValueForm, NotMeant> => {
  const kind = as === "json" ? "json" : kindFor(name)
  const open = openValue(value, kind)
  const base = encodeText(value, "utf8")
  if (open === undefined || base === undefined) {
    return new NotMeant({
      text: "This value cannot be edited as text. Change it over RPC, with name_update and valueEncoding hex."
    })
  }
  const made = madeValue({ kind: open.kind, base, texts: open.texts })
  return Effect.succeed({
    ...NO_OWNER,
    name,
    isNew: false,
    renew: false,
    kind: open.kind,
    base,
    from: base,
    texts: open.texts,
    kept: open.kept,
    made,
    sent: false
  })
}

export const edit: DeskHandler = (visit) =>
  Effect.gen(function*() {
    const { name, record } = yield* changeableName(visit, visit.query)
    const form = yield* editForm(name, bytesOfHex(record.value), visit.query.get("as"))
    return deskAnswer(visit, {
      title: `Change ${titleName(name)}`,
      at: "edit",
      main: html`${changeHeading("Change the value", name)}${valueForm(visit, form, kindFor(name))}`
    })
  })

// The form as it was sent

const KINDS: ReadonlyMap<string, FormKind> = new Map([["domain", "domain"], ["identity", "identity"], ["json", "json"]])

const sentForm = ({ form }: DeskVisit): Effect.Effect<ValueForm, NotMeant> =>
  Effect.gen(function*() {
    const name = yield* nameIn(form)
    const kind = KINDS.get(form.get("kind") ?? "")
    const base = encodeText(fromHex(form.get("base") ?? "") ?? new Uint8Array(0), "utf8")
    if (kind === undefined || base === undefined) return yield* new NotMeant({ text: "The form is incomplete." })
    const texts = sentTexts(kind, form)
    const kept = openValue(Buffer.from(base), kind)?.kept ?? []
    const made = madeValue({ kind, base, texts })
    const isNew = form.get("new") === "1"
    const from = encodeText(fromHex(form.get("from") ?? "") ?? new Uint8Array(0), "utf8") ?? base
    const renew = form.get("renew") === "1"
    const owner = isNew ? (form.get("owner") ?? "").trim() : ""
    const said = { ...NO_OWNER, owner, renew }
    return { ...said, name, isNew, kind, base, from: form.has("from") ? from : base, texts, kept, made, sent: true }
  })

/** Fields change the JSON that was typed, so that hidden parts are kept; unreadable input stays as it was. */
const inOtherWay = (form: ValueForm): ValueForm => {
  const { faults, value } = form.made
  if (value === undefined) return form
  const to = form.kind === "json" ? kindFor(form.name) : "json"
  const open = to !== "json" && value.trim() === ""
    ? { kind: to, texts: new Map<string, string>(), kept: [] }
    : openValue(Buffer.from(value), to)
  if (open === undefined || open.kind !== to) {
    const fault = { field: "json", line: 0, message: "This is not a JSON object, so it cannot be edited in fields." }
    return { ...form, made: { ...form.made, faults: [...faults, fault] } }
  }
  const base = to === "json" ? form.base : value.trim() === "" ? "" : value
  const made = madeValue({ kind: to, base, texts: open.texts })
  return { ...form, kind: to, base, texts: open.texts, kept: open.kept, made, sent: false }
}

/** While the form is filled in, for the script. */
export const draft: DeskHandler = (visit) =>
  Effect.map(
    sentForm(visit),
    (form): PageAnswer =>
      deskPage({ title: "Draft", at: "draft", main: html`<div id="draft">${draftView(form)}</div>` }, visit.frame)
  )

/** Approximate fees, in the smallest unit. */
const registrationCost = ({ calls }: DeskVisit, { made, name }: ValueForm) =>
  Effect.gen(function*() {
    const estimate = yield* unless(calls.call(ESTIMATESMARTFEE, { conf_target: FEE_TARGET }), [
      "forbidden",
      // With -blocksonly there are no estimates.
      RPC_CODE.internalError
    ])
    const mempool = yield* unless(calls.call(GETMEMPOOLINFO, {}), ["forbidden"])
    const rates = [estimate?.feerate, mempool?.mempoolminfee]
    const { commitment, operation } = nameCosts(
      name.length + made.bytes,
      rates.map((rate) => rate?.units)
    )
    return commitment + operation
  })

const valueRow = (value: string): Html =>
  value === ""
    ? html`<span class="muted">empty</span>`
    : html`<pre class="value" tabindex="0" aria-label="Value">${visible(indentedJson(value) ?? value, true)}</pre>`

const planRegistration = (visit: DeskVisit, form: ValueForm, value: string) =>
  Effect.gen(function*() {
    const { made, name, owner } = form
    const hex = toHex(name)
    const bytes = Buffer.from(value)
    const forOther = yield* ownerRow(visit.calls, owner)
    const fees = yield* registrationCost(visit, form)
    const payee = owner === "" ? { autorenew: form.renew } : { destAddress: owner }
    const registration = { name: hex, value: toHex(bytes), options: { ...AS_HEX, ...payee } }
    return planned(visit, {
      title: "Register a name",
      content: html`${
        recordView([
          ["Name", wholeName(name)],
          forOther,
          ["Value", valueRow(value)],
          ["Size", html`${made.bytes} of ${MAX_SPENDABLE_VALUE} bytes`],
          [
            "Stays in the name",
            html`${amountText(MIN_NAME_AMOUNT)}. Locked in the name. It moves with the name and is never refunded.`
          ],
          ["Fees", html`${aboutText(fees)}`],
          ["Total", html`${aboutText(MIN_NAME_AMOUNT + fees)}`],
          [
            "Renewal",
            html`${
              form.renew
                ? "By the wallet, before the name expires. It must be unlocked for renewals then, if it has a passphrase."
                : `By ${owner === "" ? "you" : "the owner"}, before the name expires: the wallet does not renew it.`
            }`
          ],
          [
            "How",
            html`A commitment now, which hides the name; the name itself after twelve blocks${
              ifTimed(visit.frame, ", about two hours later")
            }.`
          ]
        ])
      }${lintView(name, bytes)}`,
      button: "Register it",
      back: deskLink("register", { hex }),
      spends: true,
      unlocks: "all",
      same: `register ${hex}`,
      run: ({ call }) =>
        Effect.as(call(NAME_AUTOREGISTER, registration), {
          title: "The registration is under way",
          text:
            html`The commitment is sent. After twelve blocks the wallet sends the name automatically, even after a restart. If the wallet is encrypted, it must be unlocked then: <a href="${
              deskLink("wallet")
            }">unlock it for some time</a>. <a href="${deskLink("names")}">Names</a> shows how far it is.`
        })
    })
  })

const standOf = ({ call }: Pick<Calls, "call">, hex: string) =>
  Effect.gen(function*() {
    const [record] = yield* call(NAME_LIST, { name: hex, options: AS_HEX })
    const pending = yield* call(NAME_PENDING, { name: hex, options: AS_HEX })
    return JSON.stringify([record?.value, pending.map(({ txid }) => txid).toSorted()])
  })

const planUpdate = (visit: DeskVisit, form: ValueForm, value: string) =>
  Effect.gen(function*() {
    const { made, name } = form
    const { hex, record } = yield* changeableName(visit, visit.form)
    const now = encodeText(bytesOfHex(record.value), "utf8") ?? ""
    if (now === value) {
      return yield* new NotMeant({
        text: "The value is the same as before: there is nothing to send. To keep the name for longer, renew it."
      })
    }
    if (now !== form.from) {
      return yield* new NotMeant({
        text:
          "The value of this name was changed after this form was opened. Open it again, so that the other change is not lost."
      })
    }
    const fee = yield* feeOfChange(visit, hex)
    const before = yield* standOf(visit.calls, hex)
    const bytes = Buffer.from(value)
    const change = { name: hex, value: toHex(bytes) }
    const unchanged = ({ call }: Pick<Calls, "call">) =>
      Effect.filterOrFail(standOf({ call }, hex), (stand) => stand === before, () => {
        const message = "this name was changed meanwhile"
        return new CallFailed({ method: "name_update", code: -4, message, reason: "changed" })
      })
    return yield* plannedOrDrafted(visit, {
      title: "Change the value of a name",
      content: html`${
        recordView([
          ["Name", wholeName(name)],
          ["New value", valueRow(value)],
          ["Before", valueRow(now)],
          ["Size", html`${made.bytes} of ${MAX_SPENDABLE_VALUE} bytes`],
          ["Fee", about(fee)],
          ["How", html`A transaction now, which also renews the name. The value counts once a block holds it.`]
        ])
      }${lintView(name, bytes)}`,
      button: "Change it",
      back: ownNameLink("edit", name),
      spends: true,
      unlocks: "all",
      same: `update ${hex} ${toHex(bytes)}`,
      run: ({ call }) =>
        Effect.gen(function*() {
          yield* unchanged({ call })
          yield* sentChange({ call }, change)
          return {
            title: "The change is sent",
            text: html`It counts once a block holds it${ifTimed(visit.frame, ", in about ten minutes")}. <a href="${
              ownNameLink("name", name)
            }">The name</a> shows it then.`
          }
        })
    }, (calls) => Effect.zipRight(unchanged(calls), draftedChange(calls, change)))
  })

export const write: DeskHandler = (visit): Effect.Effect<PageAnswer, DeskFailure> =>
  Effect.gen(function*() {
    const sent = yield* sentForm(visit)
    const isOther = visit.form.has("other")
    const form = isOther ? inOtherWay(sent) : sent
    const { faults, value } = form.made
    const ownerWrong = isOther ? [] : yield* ownerFaults(visit.calls, form)
    if (!isOther && value !== undefined && faults.length + ownerWrong.length === 0) {
      return yield* form.isNew ? planRegistration(visit, form, value) : planUpdate(visit, form, value)
    }
    const doing = form.isNew ? "Register" : "Change"
    return deskAnswer(visit, {
      title: form.sent ? "Something cannot be read" : `${doing} ${titleName(form.name)}`,
      at: form.isNew ? "register" : "edit",
      status: form.sent ? 400 : 200,
      main: html`${changeHeading(form.isNew ? "Register" : "Change the value", form.name)}${
        valueForm(visit, { ...form, ownerWrong }, kindFor(form.name))
      }`
    })
  })
