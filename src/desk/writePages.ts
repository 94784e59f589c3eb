import * as Effect from "effect/Effect"
import type { PageAnswer } from "../http/Pages.ts"
import { type Bytes, fromHex, toHex } from "../protocol/bytes.ts"
import { decodeText, encodeText } from "../protocol/nameText.ts"
import { type Html, html, type Part } from "../web/html.ts"
import { lintView } from "../web/lintView.ts"
import { hostBelow, namesMeant } from "../web/namesMeant.ts"
import { kindOfName } from "../web/nameState.ts"
import { indentedJson } from "../web/valueView.ts"
import { titleName, visible, wholeName } from "../web/visible.ts"
import { Anything, AS_HEX, FeeRateAnswer, OwnNameList, Pending, Registrations, ShownOwner } from "./answers.ts"
import { CallFailed, type CallParam, type Calls, unless } from "./calls.ts"
import { deskLink, ownNameLink } from "./deskLinks.ts"
import { alertView, deskPage, field, option } from "./frame.ts"
import { nmc, unitsOf } from "./money.ts"
import { changeableName, feeOfChange } from "./namesPage.ts"
import { about, bytesOfHex, ifTimed, recordView } from "./nameViews.ts"
import { type FormKind, kindFor, madeValue, nameFaults, openValue, sentTexts } from "./valueFields.ts"
import { draftView, type ValueForm, valueForm } from "./valueForm.ts"
import { deskAnswer, type DeskFailure, type DeskHandler, type DeskVisit, nameIn, NotMeant, planned } from "./visit.ts"

/** Registering a name, and changing its value: the same form, and a page on which the user confirms it. */

const heading = (kind: string, name: Bytes): Html =>
  html`<header class="name-head"><p class="muted">${kind}: ${kindOfName(name)}</p><h1>${wholeName(name)}</h1></header>`

// The name to register

const chooseName = (
  visit: DeskVisit,
  { as = null, text = "", wrong = [] }: {
    readonly as?: string | null
    readonly text?: string
    readonly wrong?: ReadonlyArray<Part>
  } = {}
) =>
  deskAnswer(visit, {
    title: "Register a name",
    at: "register",
    status: wrong.length > 0 ? 400 : 200,
    main: html`<h1>Register a name</h1><section class="card"><form class="stacked" action="${
      deskLink("register")
    }" method="get">${
      field({
        name: "name",
        label: "Name",
        hint: "A domain such as example.bit, an identity such as id/alice, or any other name",
        value: text,
        wrong,
        required: true
      })
    }<fieldset><legend>What it is</legend>${
      option({
        type: "radio",
        name: "as",
        value: "domain",
        label: "A domain",
        hint: "example, for example.bit",
        checked: as !== "identity" && as !== "other"
      })
    }${
      option({
        type: "radio",
        name: "as",
        value: "identity",
        label: "An identity",
        hint: "alice, for id/alice",
        checked: as === "identity"
      })
    }${
      option({
        type: "radio",
        name: "as",
        value: "other",
        label: "Exactly what is written above",
        checked: as === "other"
      })
    }</fieldset><div class="buttons"><button class="primary" type="submit">Go on</button><span class="hint">Others do not see which name you ask for.</span></div></form></section>`
  })

/** The name that a user wrote, with its namespace, or why it is none. */
const nameGiven = (text: string, as: string | null): Bytes | string => {
  const typed = text.trim()
  if (/^(?:[a-z]+\/)?$/.test(typed)) {
    return typed === "" ? "Write a name." : `${typed} is no whole name: write what follows, as ${typed}example.`
  }
  const exactly = () => decodeText(typed, "utf8") ?? "The name is no text."
  if (as === "other") return exactly()
  if (typed.includes("/")) return namesMeant(typed).find((name) => kindFor(name) !== "json") ?? exactly()
  if (as === "identity") {
    const name = decodeText(`id/${typed.toLowerCase()}`, "utf8")
    if (name !== undefined && kindFor(name) === "identity") return name
    return "This cannot be the name of an identity: it has a character that is no letter, digit or mark of ASCII."
  }
  return namesMeant(typed).find((name) => kindFor(name) === "domain") ??
    "This cannot be the name of a domain: it has a character that no domain can have, perhaps one that is not seen."
}

/** Why a name cannot be registered: sentences. */
const barriers = ({ calls }: DeskVisit, name: Bytes): Effect.Effect<ReadonlyArray<Part>, CallFailed> =>
  Effect.gen(function*() {
    if (name.length > 255) return ["The name has more than 255 bytes."]
    const hex = toHex(name)
    const found = yield* unless(calls.call("name_show", [hex, { ...AS_HEX, allowExpired: false }], ShownOwner), [-4])
    if (found?.ismine === true) return [html`This name is yours: <a href="${ownNameLink("edit", name)}">change it</a>.`]
    if (found !== undefined) return ["This name belongs to an owner already. Choose another one."]
    const registrations = yield* calls.call("name_registrations", [AS_HEX], Registrations)
    const running = registrations.some((each) => each.name === hex && each.step !== "done" && each.step !== "failed")
    return running ? ["The wallet is registering this name already: see its names."] : []
  })

const emptyForm = (name: Bytes, kind: FormKind): ValueForm => {
  const made = madeValue({ kind, base: "", texts: new Map() })
  return { name, isNew: true, renew: true, kind, base: "", from: "", texts: new Map(), kept: [], made, sent: false }
}

export const register: DeskHandler = (visit) =>
  Effect.gen(function*() {
    const { query } = visit
    const text = query.get("name")
    const hex = query.get("hex")
    if (text === null && hex === null) return chooseName(visit)
    const as = query.get("as")
    const name = hex === null ? nameGiven(text ?? "", as) : yield* nameIn(query)
    if (typeof name === "string") return chooseName(visit, { text: text ?? "", as, wrong: [visible(name)] })
    const wrong = yield* barriers(visit, name)
    if (wrong.length > 0) {
      return chooseName(visit, { text: text ?? encodeText(name, "utf8") ?? "", as, wrong })
    }
    const faults = nameFaults(name)
    const suits = kindFor(name)
    const below = as === "other" || suits !== "domain" ? undefined : hostBelow(text ?? "")
    return deskAnswer(visit, {
      title: `Register ${titleName(name)}`,
      at: "register",
      main: html`${heading("Register", name)}${
        below !== undefined && alertView(
          "busy",
          html`${visible(below.host)} is below ${
            visible(below.domain)
          }: that is the name to register. What is below it is a line of its value, under Sub-domains.`
        )
      }${
        faults.length > 0 && alertView(
          "attention",
          ...faults.map((each) => visible(each)),
          "It can be registered, but programs may not read it."
        )
      }${valueForm(visit, emptyForm(name, as === "json" ? "json" : suits), suits)}`
    })
  })

// The value of an own name

const editForm = (name: Bytes, value: Bytes, as: string | null): Effect.Effect<ValueForm, NotMeant> => {
  const kind = as === "json" ? "json" : kindFor(name)
  const open = openValue(value, kind)
  const base = encodeText(value, "utf8")
  if (open === undefined || base === undefined) {
    return new NotMeant({
      text:
        "The value of this name is no text that a field can show. Change it by RPC: name_update with valueEncoding hex."
    })
  }
  const made = madeValue({ kind: open.kind, base, texts: open.texts })
  return Effect.succeed({
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
      main: html`${heading("Change the value", name)}${valueForm(visit, form, kindFor(name))}`
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
    return { name, isNew, renew, kind, base, from: form.has("from") ? from : base, texts, kept, made, sent: true }
  })

/**
 * What was typed, in the other way of editing; as it was if it cannot be read. Fields change the JSON that was typed, so that what
 * no field shows is kept.
 */
const inOtherWay = (form: ValueForm): ValueForm => {
  const { faults, value } = form.made
  if (value === undefined) return form
  const to = form.kind === "json" ? kindFor(form.name) : "json"
  const open = to !== "json" && value.trim() === ""
    ? { kind: to, texts: new Map<string, string>(), kept: [] }
    : openValue(Buffer.from(value), to)
  if (open === undefined || open.kind !== to) {
    const fault = { field: "json", line: 0, message: "This is no JSON object: fields can show nothing else." }
    return { ...form, made: { ...form.made, faults: [...faults, fault] } }
  }
  const base = to === "json" ? form.base : value.trim() === "" ? "" : value
  const made = madeValue({ kind: to, base, texts: open.texts })
  return { ...form, kind: to, base, texts: open.texts, kept: open.kept, made, sent: false }
}

/** The value of a form while it is filled in, for the script. */
export const draft: DeskHandler = (visit) =>
  Effect.map(
    sentForm(visit),
    (form): PageAnswer =>
      deskPage({ title: "Draft", at: "draft", main: html`<div id="draft">${draftView(form)}</div>` }, visit.frame)
  )

/** Bytes of the two transactions of a registration, without the name and its value. */
const NEW_BYTES = 230
const FIRST_BYTES = 320

/** The least fee of 1000 bytes, in NMC: the default of -mintxfee. */
const LEAST_RATE = 0.001

const LOCKED = 0.01

/** The fees of a registration, about. */
const registrationCost = ({ calls }: DeskVisit, { made, name }: ValueForm) =>
  Effect.map(
    unless(calls.call("estimatesmartfee", [6], FeeRateAnswer), ["forbidden"]),
    (found) => {
      const rate = Math.max(found?.feerate ?? LEAST_RATE, LEAST_RATE)
      return Math.ceil(unitsOf(rate) * (NEW_BYTES + FIRST_BYTES + name.length + made.bytes) / 1000) / 1e8
    }
  )

const valueRow = (value: string): Html =>
  value === ""
    ? html`<span class="muted">empty</span>`
    : html`<pre class="value" tabindex="0" aria-label="Value">${visible(indentedJson(value) ?? value, true)}</pre>`

const planRegistration = (visit: DeskVisit, form: ValueForm, value: string) =>
  Effect.gen(function*() {
    const { made, name } = form
    const hex = toHex(name)
    const bytes = Buffer.from(value)
    const fees = yield* registrationCost(visit, form)
    const params: ReadonlyArray<CallParam> = [hex, toHex(bytes), { ...AS_HEX, autorenew: form.renew }]
    return planned(visit, {
      title: "Register a name",
      content: html`${
        recordView([
          ["Name", wholeName(name)],
          ["Value", valueRow(value)],
          ["Size", html`${made.bytes} of 520 bytes`],
          [
            "Stays in the name",
            html`${LOCKED} NMC. They go with the name, also to its next owner, and do not come back to your balance.`
          ],
          ["Fees", about(nmc(fees))],
          ["In all", about(nmc(LOCKED + fees))],
          [
            "Renewal",
            html`${
              form.renew
                ? "By the wallet, before the name expires. It must be unlocked for renewals then, if it has a passphrase."
                : "By you, before the name expires: the wallet does not renew it."
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
        Effect.as(call("name_autoregister", params, Anything), {
          title: "The registration is under way",
          text:
            html`The commitment is sent. After twelve blocks the wallet sends the name by itself, also after a restart. If the wallet is encrypted, it must be unlocked then: <a href="${
              deskLink("wallet")
            }">unlock it for some time</a>. <a href="${deskLink("names")}">Names</a> shows how far it is.`
        })
    })
  })

/** What the wallet knows of a name: its value, and the changes that wait for a block. */
const standOf = ({ call }: Pick<Calls, "call">, hex: string) =>
  Effect.gen(function*() {
    const [record] = yield* call("name_list", [hex, AS_HEX], OwnNameList)
    const pending = yield* call("name_pending", [hex, AS_HEX], Pending)
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
    return planned(visit, {
      title: "Change the value of a name",
      content: html`${
        recordView([
          ["Name", wholeName(name)],
          ["New value", valueRow(value)],
          ["Before", valueRow(now)],
          ["Size", html`${made.bytes} of 520 bytes`],
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
          if ((yield* standOf({ call }, hex)) !== before) {
            return yield* new CallFailed({
              method: "name_update",
              code: -4,
              message: "this name was changed meanwhile"
            })
          }
          yield* call("name_update", [hex, toHex(bytes), AS_HEX], Anything)
          return {
            title: "The change is sent",
            text: html`It counts once a block holds it${ifTimed(visit.frame, ", in about ten minutes")}. <a href="${
              ownNameLink("name", name)
            }">The name</a> shows it then.`
          }
        })
    })
  })

export const write: DeskHandler = (visit): Effect.Effect<PageAnswer, DeskFailure> =>
  Effect.gen(function*() {
    const sent = yield* sentForm(visit)
    const isOther = visit.form.has("other")
    const form = isOther ? inOtherWay(sent) : sent
    const { faults, value } = form.made
    if (!isOther && value !== undefined && faults.length === 0) {
      return yield* form.isNew ? planRegistration(visit, form, value) : planUpdate(visit, form, value)
    }
    const doing = form.isNew ? "Register" : "Change"
    return deskAnswer(visit, {
      title: form.sent ? "A line cannot be read" : `${doing} ${titleName(form.name)}`,
      at: form.isNew ? "register" : "edit",
      status: form.sent ? 400 : 200,
      main: html`${heading(form.isNew ? "Register" : "Change the value", form.name)}${
        valueForm(visit, form, kindFor(form.name))
      }`
    })
  })
