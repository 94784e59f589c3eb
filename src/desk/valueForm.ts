import { quantityOf } from "../base/quantities.ts"
import type { Bytes } from "../protocol/bytes.ts"
import { toHex } from "../protocol/bytes.ts"
import { decodeText } from "../protocol/nameText.ts"
import type { FormFault } from "../values/formFields.ts"
import { lint } from "../values/lint.ts"
import { findingText } from "../values/lint.ts"
import { type Html, html, NOTHING } from "../web/html.ts"
import { indentedJson } from "../web/valueView.ts"
import { visible } from "../web/visible.ts"
import { deskLink } from "./deskLinks.ts"
import { alertView, field, option } from "./frame.ts"
import { ownerField } from "./newOwner.ts"
import { type FormKind, type MadeValue, MOST_BYTES, type ValueField, valueFieldsOf } from "./valueFields.ts"
import { type DeskVisit, tokenField } from "./visit.ts"

export interface ValueForm {
  readonly name: Bytes
  readonly isNew: boolean
  /** Whether the wallet renews a new name. */
  readonly renew: boolean
  /** Another owner's address for a new name; empty for the wallet. */
  readonly owner: string
  readonly ownerWrong: ReadonlyArray<string>
  readonly kind: FormKind
  /** The value that the fields change, including parts that they do not show. */
  readonly base: string
  /** The value of the name when the form was opened. */
  readonly from: string
  readonly texts: ReadonlyMap<string, string>
  readonly kept: ReadonlyArray<string>
  readonly made: MadeValue
  /** The user sent the form, so the page shows its faults. */
  readonly sent: boolean
}

/** For a name of the wallet. */
export const NO_OWNER = { owner: "", ownerWrong: [] } as const

const FINDINGS = 8

const faultText = ({ field, line, message }: FormFault, kind: FormKind): string => {
  const label = valueFieldsOf(kind).find(({ key }) => key === field)?.label ?? "Value"
  return line === 0 ? message : `${label}, line ${line}: ${message}.`
}

export const draftView = ({ kind, made, name }: Pick<ValueForm, "kind" | "made" | "name">): Html => {
  const { bytes, faults, value } = made
  if (value === undefined) {
    return html`<h2>The value</h2><p class="muted">Fix ${
      quantityOf(faults.length, "line")
    } to see the value.</p><ul class="findings">${
      faults.slice(0, FINDINGS).map((fault) => html`<li>${visible(faultText(fault, kind))}</li>`)
    }</ul>`
  }
  const { findings } = lint(name, decodeText(value, "utf8") ?? new Uint8Array(0))
  return html`<h2>The value</h2><p class="meter"><meter min="0" max="${MOST_BYTES}" value="${
    Math.min(bytes, MOST_BYTES)
  }" aria-label="Bytes of the value"></meter> <b>${bytes}</b> of ${MOST_BYTES} bytes</p><pre class="value" tabindex="0" aria-label="Value as JSON">${
    value === "" ? "(empty)" : visible(indentedJson(value) ?? value, true)
  }</pre>${
    findings.length > 0 &&
    html`<ul class="findings">${
      findings.slice(0, FINDINGS).map((each) =>
        html`<li><span class="badge ${each.severity === "error" ? "attention" : "busy"}">${each.severity}</span> ${
          visible(findingText(each))
        }</li>`
      )
    }</ul>`
  }`
}

const faultsOf = (key: string, { made, sent }: ValueForm): ReadonlyArray<string> =>
  sent
    ? made.faults.filter((fault) => fault.field === key).map(({ line, message }) =>
      line === 0 ? message : `Line ${line} ${message}.`
    )
    : []

const fieldView = (form: ValueForm) => ({ hint, key, label, rows }: ValueField): Html => {
  const value = form.texts.get(key) ?? ""
  return field({
    name: key,
    label,
    hint,
    value,
    ...(rows === undefined ? {} : { rows: Math.min(8, Math.max(rows, value.split("\n").length)) }),
    wrong: faultsOf(key, form)
  })
}

const partView = (form: ValueForm, part: string, fields: ReadonlyArray<ValueField>): Html => {
  const open = fields.some(({ key }) => (form.texts.get(key) ?? "") !== "" || faultsOf(key, form).length > 0)
  const inner = html`<summary>${part}</summary>${fields.map(fieldView(form))}`
  return open ? html`<details open>${inner}</details>` : html`<details>${inner}</details>`
}

const fieldsView = (form: ValueForm): Html => {
  const fields = valueFieldsOf(form.kind)
  if (fields.length === 0) {
    return field({
      name: "json",
      label: "Value",
      hint: "The stored form. Values of domains and identities are JSON objects.",
      value: form.texts.get("json") ?? "",
      rows: 10,
      wrong: [...faultsOf("json", form)]
    })
  }
  const parts = [...new Set(fields.flatMap(({ part }) => part ?? []))]
  return html`${fields.filter(({ part }) => part === undefined).map(fieldView(form))}${
    parts.map((part) => partView(form, part, fields.filter((each) => each.part === part)))
  }`
}

/** Switches the way of editing, and keeps what is typed. */
const otherWay = ({ kind }: ValueForm, suits: FormKind): Html =>
  suits === "json"
    ? NOTHING
    : html`<button type="submit" name="other" value="1">${
      kind === "json" ? "Edit it in fields" : "Edit it as JSON"
    }</button>`

const renewalOption = ({ isNew, renew }: ValueForm): Html =>
  isNew
    ? option({
      type: "checkbox",
      name: "renew",
      value: "1",
      label: "Let the wallet renew the name",
      hint: "Automatically, before the name expires. Each renewal costs a fee",
      checked: renew
    })
    : NOTHING

const hexOf = (text: string): string => Buffer.from(text).toString("hex")

export const valueForm = (visit: DeskVisit, form: ValueForm, suits: FormKind): Html =>
  html`${
    form.sent && form.made.faults.length + form.ownerWrong.length > 0 &&
    alertView(
      "attention",
      `${
        form.made.faults.length > 0 ? "Some lines are invalid." : "The name cannot be registered like this."
      } The errors are marked below. Nothing was sent.`
    )
  }<section class="card fields"><form class="stacked" action="${
    deskLink("write")
  }" method="post" data-draft="./desk/draft">${tokenField(visit)}<input type="hidden" name="hex" value="${
    toHex(form.name)
  }"><input type="hidden" name="new" value="${
    form.isNew ? 1 : 0
  }"><input type="hidden" name="kind" value="${form.kind}"><input type="hidden" name="base" value="${
    hexOf(form.base)
  }"><input type="hidden" name="from" value="${hexOf(form.from)}">${fieldsView(form)}${
    form.kept.length > 0 &&
    html`<p class="hint">Kept as they are, because no field shows them: ${
      form.kept.map((path, at) => html`${at > 0 && ", "}<code class="break">${visible(path)}</code>`)
    }</p>`
  }${form.isNew && ownerField({ owner: form.owner, wrong: form.ownerWrong })}${
    renewalOption(form)
  }<div class="draft" id="draft">${
    draftView(form)
  }</div><div class="buttons"><button class="primary" type="submit">Go on to confirm</button>${
    otherWay(form, suits)
  }<span class="hint">Nothing is sent yet.</span></div></form></section>`
