import { grouped } from "../base/quantities.ts"
import type { Bytes } from "../protocol/bytes.ts"
import { classify } from "../protocol/nameText.ts"
import { type Finding, findingText, lint, type ProgramView } from "../values/lint.ts"
import { type Html, html, NOTHING } from "./html.ts"
import { firstOf, visible } from "./visible.ts"

/** What programs read in a value, and what is wrong with it. */

const FINDINGS = 20
const LINES = 20

const LONGEST = 400

const findingItem = (finding: Finding): Html =>
  html`<li><span class="badge ${finding.severity === "error" ? "attention" : "busy"}">${finding.severity}</span> ${
    visible(firstOf(findingText(finding), LONGEST))
  }</li>`

const more = (left: number): Html => left <= 0 ? NOTHING : html`<li class="muted">and ${grouped(left)} more</li>`

const programRow = ({ program, sees }: ProgramView): Html =>
  html`<div><dt>${program}</dt><dd><ul class="sees">${
    sees.slice(0, LINES).map((line) => html`<li><code class="break">${visible(firstOf(line, LONGEST))}</code></li>`)
  }${more(sees.length - LINES)}</ul></dd></div>`

/** Empty if no program reads the value and nothing is wrong. */
export const lintView = (name: Bytes, value: Bytes): Html => {
  const { findings, programs } = lint(name, value)
  const told = programs.filter(({ sees }) => sees.length > 0)
  if (findings.length === 0 && told.length === 0) return NOTHING
  return html`<section id="lint" class="card" aria-labelledby="lint-title"><h2 id="lint-title">What programs see</h2>${
    findings.length > 0 &&
    html`<ul class="findings">${findings.slice(0, FINDINGS).map(findingItem)}${more(findings.length - FINDINGS)}</ul>`
  }${told.length > 0 && html`<dl class="record">${told.map(programRow)}</dl>`}</section>`
}

const seesNothing = (why: string): Html =>
  html`<section id="lint" class="card" aria-labelledby="lint-title"><h2 id="lint-title">What programs see</h2><p><b>Nothing.</b> ${why}</p></section>`

/** What programs see of a registered name: nothing once it has expired, whatever its value says. */
export const programsView = (
  { expired, name, value }: { readonly name: Bytes; readonly value: Bytes; readonly expired: boolean }
): Html => {
  if (expired) {
    return seesNothing(
      "Resolvers, browsers and other programs treat an expired name as not registered, whatever its last value says."
    )
  }
  const view = lintView(name, value)
  return view === NOTHING && classify(name) !== "nonstandard" ? seesNothing("Its value has no records.") : view
}
