import { toHex } from "../../protocol/bytes.ts"
import type { WordedOperation } from "../deeds.ts"
import { type Html, html } from "../html.ts"
import { nameLink } from "../links.ts"
import { listedValue } from "../valueView.ts"
import { listedName } from "../visible.ts"

export const COMMITMENT = "commits to a name"

/** `registered d/example`. */
export const operationLine = ({ operation, word = "" }: WordedOperation): Html =>
  operation.op === "name_new"
    ? html`<span class="badge">${COMMITMENT}</span>`
    : html`<span class="badge good">${word}</span> <a href="${nameLink(operation.name)}">${
      listedName(operation.name)
    }</a>`

/** Shown bytes of a commitment: the rules of early blocks allowed any number. */
const SHOWN = 64

/** `key` identifies the operation on the page. */
export const operationItem = (worded: WordedOperation, key: string): Html => {
  const { operation } = worded
  return operation.op === "name_new"
    ? html`<li><span>${operationLine(worded)} <code class="break">${
      toHex(operation.commitment.subarray(0, SHOWN))
    }</code></span><span class="what">The name is not known before its registration.</span></li>`
    : html`<li><span>${operationLine(worded)}</span><div><span class="what">Value</span> ${
      listedValue(operation.value, key)
    }</div></li>`
}
