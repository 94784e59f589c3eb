import { toHex } from "../../protocol/bytes.ts"
import type { NameOperation } from "../../protocol/nameOperation.ts"
import { type Html, html } from "../html.ts"
import { nameLink } from "../links.ts"
import { listedValue } from "../valueView.ts"
import { listedName } from "../visible.ts"

/** Name operations of transactions. */

const VERBS: Readonly<Record<NameOperation["op"], string>> = {
  name_new: "commits to a name",
  name_firstupdate: "registers",
  name_update: "updates"
}

/** An operation in a line: `registers d/example`. */
export const operationLine = (operation: NameOperation): Html =>
  operation.op === "name_new"
    ? html`<span class="badge">${VERBS.name_new}</span>`
    : html`<span class="badge good">${VERBS[operation.op]}</span> <a href="${nameLink(operation.name)}">${
      listedName(operation.name)
    }</a>`

/** Bytes of a commitment that are shown: the rules of early blocks allowed any. */
const SHOWN = 64

/** An operation with its value; `key` identifies it on the page. */
export const operationItem = (operation: NameOperation, key: string): Html =>
  operation.op === "name_new"
    ? html`<li><span>${operationLine(operation)} <code class="break">${
      toHex(operation.commitment.subarray(0, SHOWN))
    }</code></span><span class="what">The name is not known before its registration.</span></li>`
    : html`<li><span>${operationLine(operation)}</span>${listedValue(operation.value, key)}</li>`
