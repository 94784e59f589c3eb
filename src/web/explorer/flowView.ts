import { quantityOf } from "../../base/quantities.ts"
import { addressOf } from "../../protocol/address.ts"
import { amountText } from "../../protocol/amount.ts"
import { type Bytes, equal } from "../../protocol/bytes.ts"
import { addressScript, NAME_TX_VERSION, type NameOperation, parseNameScript } from "../../protocol/nameOperation.ts"
import type { Network } from "../../protocol/networks.ts"
import { prevoutTxid, totalValue, type Transaction } from "../../protocol/transaction.ts"
import { type Html, html, NOTHING } from "../html.ts"
import { nameLink } from "../links.ts"
import { shortAddress, shortTransaction } from "../places.ts"
import { listedName } from "../visible.ts"
import { COMMITMENT } from "./operationView.ts"
import { scriptKind } from "./scriptWords.ts"
import type { InputRow, OutputRow, OutputState, TransactionFound } from "./transactionData.ts"

/**
 * A transaction as a picture: what it spends flows from the left to what it pays on the right, as broad as its amount.
 * The labels are lists beside the drawing, so that they stay readable on a phone and to a screen reader.
 */

/** Parts on each side; the rest of a larger transaction is one more. */
const MOST_PARTS = 7

type PartKind = "plain" | "name" | "fee"

export interface FlowPart {
  /** Smallest units; `undefined` if the spent coins are not known. */
  readonly amount: number | undefined
  readonly kind: PartKind
  readonly label: Html
}

/** Sides of the square that is drawn, stretched to the height of the lists. */
const SIDE = 100
const TRUNK = { from: 44, to: 56 }

/** Maximum fraction of its slot that a part fills. */
const FILLED = 0.8

/** The thinnest part, for a single row. A name locks a small amount and should be seen all the same. */
const THINNEST: Readonly<Record<PartKind, number>> = { plain: 3, fee: 3, name: 7 }

const rounded = (value: number): string => String(Math.round(100 * value) / 100)

interface Band {
  readonly slot: number
  readonly trunk: number
  readonly height: number
}

/** Where the parts of one side begin at the edge, and at the trunk. */
const bandsOf = (parts: ReadonlyArray<FlowPart>, { rows, scale }: FlowScale): ReadonlyArray<Band> => {
  const slot = SIDE / parts.length
  const heights = parts.map(({ amount = 0, kind }) => Math.max(THINNEST[kind] / rows, amount * scale))
  let trunk = (SIDE - heights.reduce((sum, height) => sum + height, 0)) / 2
  return heights.map((height, at) => {
    const band = { slot: (at + 0.5) * slot - height / 2, trunk, height }
    trunk += height
    return band
  })
}

interface FlowScale {
  /** Height for one unit. */
  readonly scale: number
  /** Rows of the side with more parts. */
  readonly rows: number
}

/** The same for both sides: no part is higher than its slot. */
const scaleOf = (sides: ReadonlyArray<ReadonlyArray<FlowPart>>): FlowScale => {
  const limits = sides.flatMap((parts) =>
    parts.flatMap(({ amount = 0 }) => amount > 0 ? [FILLED * SIDE / parts.length / amount] : [])
  )
  const rows = Math.max(1, ...sides.map(({ length }) => length))
  return { scale: limits.length === 0 ? 0 : Math.min(...limits), rows }
}

const bandView = ({ height, slot, trunk }: Band, kind: PartKind, isLeft: boolean): Html => {
  const [edge, inner] = isLeft ? [0, TRUNK.from] : [SIDE, TRUNK.to]
  const middle = (edge + inner) / 2
  const curve = (from: number, to: number) => `C${middle},${rounded(from)} ${middle},${rounded(to)}`
  return html`<path class="${`flow-${kind}`}" d="${`M${edge},${rounded(slot)} ${curve(slot, trunk)} ${inner},${
    rounded(trunk)
  } V${rounded(trunk + height)} ${curve(trunk + height, slot + height)} ${edge},${rounded(slot + height)}Z`}"/>`
}

const drawing = (left: ReadonlyArray<FlowPart>, right: ReadonlyArray<FlowPart>): Html => {
  const scale = scaleOf([left, right])
  const [from, to] = [bandsOf(left, scale), bandsOf(right, scale)]
  const trunk = Math.max(...[from, to].map((bands) => bands.reduce((sum, { height }) => sum + height, 0)))
  const bands = (of: ReadonlyArray<Band>, parts: ReadonlyArray<FlowPart>, isLeft: boolean) =>
    of.map((band, at) => bandView(band, parts[at]?.kind ?? "plain", isLeft))
  return html`<div class="flow" aria-hidden="true"><svg viewBox="${`0 0 ${SIDE} ${SIDE}`}" preserveAspectRatio="none">${
    bands(from, left, true)
  }${bands(to, right, false)}<rect x="${TRUNK.from}" y="${rounded((SIDE - trunk) / 2)}" width="${
    TRUNK.to - TRUNK.from
  }" height="${rounded(trunk)}"/></svg></div>`
}

const partView = ({ kind, label }: FlowPart): Html => html`<li class="${`flow-${kind}`}">${label}</li>`

/** Parts in their order; each side has one at least. */
export const flowView = (left: ReadonlyArray<FlowPart>, right: ReadonlyArray<FlowPart>): Html =>
  html`<div class="flows"><ul aria-label="Inputs">${left.map(partView)}</ul>${
    drawing(left, right)
  }<ul aria-label="Outputs">${right.map(partView)}</ul></div>`

/** What is drawn of a side: its name coins first, then the largest parts, in their order. */
const drawnOf = <A extends { readonly amount: number | undefined; readonly kind: PartKind }>(
  parts: ReadonlyArray<A>
): ReadonlyArray<A> => {
  if (parts.length <= MOST_PARTS + 1) return parts
  const weight = ({ amount = 0, kind }: A): number => kind === "name" ? Infinity : amount
  const chosen = new Set(
    parts.toSorted((a, b) => weight(b) === weight(a) ? 0 : weight(b) - weight(a)).slice(0, MOST_PARTS)
  )
  return parts.filter((part) => chosen.has(part))
}

interface Rest {
  readonly all: number
  /** `undefined` if not known. */
  readonly total: number | undefined
  readonly what: string
}

const withRest = (drawn: ReadonlyArray<FlowPart>, { all, total, what }: Rest): ReadonlyArray<FlowPart> => {
  if (drawn.length >= all) return drawn
  const shown = drawn.reduce((sum, { amount = 0 }) => sum + amount, 0)
  const amount = total === undefined ? undefined : Math.max(0, total - shown)
  return [...drawn, {
    amount,
    kind: "plain",
    label: html`${amountView(amount)}<span class="muted">${quantityOf(all - drawn.length, `more ${what}`)}</span>`
  }]
}

const amountView = (amount: number | undefined): Html =>
  amount === undefined ? html`<span class="muted">not known</span>` : html`<b>${amountText(amount)}</b>`

/** An operation on the name of a coin is certain only in a name transaction. */
const operationIn = (script: Bytes, isName: boolean): NameOperation | undefined =>
  isName ? parseNameScript(script)?.operation : undefined

const payeeView = (network: Network, script: Bytes): Html => {
  const address = addressOf(network, addressScript(script))
  return address === undefined ? html`<span class="muted">${scriptKind(script)}</span>` : shortAddress(address)
}

const holderView = (network: Network, script: Bytes, operation: NameOperation | undefined): Html => {
  if (operation === undefined) return payeeView(network, script)
  return operation.op === "name_new"
    ? html`<span>${COMMITMENT}</span>`
    : html`<a href="${nameLink(operation.name)}">${listedName(operation.name)}</a>`
}

const inputPart = (network: Network) => ({ coin, input: { prevout } }: InputRow): FlowPart => {
  const operation = coin === undefined ? undefined : operationIn(coin.script, true)
  const from = shortTransaction(prevoutTxid(prevout), coin === undefined ? {} : { block: coin.height })
  return {
    amount: coin?.value,
    kind: operation === undefined ? "plain" : "name",
    label: html`${amountView(coin?.value)}${
      coin !== undefined && holderView(network, coin.script, operation)
    }<span class="muted">from ${from}</span>`
  }
}

const stateText = (state: OutputState | undefined): Html => {
  switch (state) {
    case undefined:
      return NOTHING
    case "unspent":
    case "spent":
      return html`<span class="muted">${state}</span>`
    case "unspendable":
      return html`<span class="muted">cannot be spent</span>`
    default:
      return html`<span class="muted">spent by ${shortTransaction(state.txid, { block: state.height })}</span>`
  }
}

/** Only an output to an address that was spent from is certainly change. */
const isChange = (script: Bytes, inputs: ReadonlyArray<InputRow>): boolean =>
  inputs.some(({ coin }) => coin !== undefined && equal(coin.script, script))

const outputPart = ({ inputs, network, transaction }: FlowFound) =>
(
  { output: { script, value }, state }: OutputRow
): FlowPart => {
  const operation = operationIn(script, transaction.version === NAME_TX_VERSION)
  return {
    amount: value,
    kind: operation === undefined ? "plain" : "name",
    label: html`${amountView(value)}${holderView(network, script, operation)}${
      operation === undefined && isChange(script, inputs) && html`<span class="muted">change</span>`
    }${stateText(state)}`
  }
}

const feePart = (fee: number | undefined, { isCoinbase }: Transaction): ReadonlyArray<FlowPart> =>
  isCoinbase || fee === undefined || fee <= 0
    ? []
    : [{ amount: fee, kind: "fee", label: html`${amountView(fee)}<span class="muted">fee</span>` }]

const inputParts = ({ fee, inputs, network, transaction }: FlowFound): ReadonlyArray<FlowPart> => {
  const paid = totalValue(transaction.outputs)
  if (transaction.isCoinbase) {
    return [{
      amount: paid,
      kind: "plain",
      label: html`${amountView(paid)}<span class="muted">new coins and fees</span>`
    }]
  }
  return withRest(drawnOf(inputs.map(inputPart(network))), {
    all: transaction.inputs.length,
    total: fee === undefined ? undefined : paid + fee,
    what: "input"
  })
}

export type FlowFound = Pick<TransactionFound, "fee" | "inputs" | "network" | "outputs" | "page" | "transaction">

/** The flow on the first page. Later pages have other rows. */
export const transactionFlow = (found: FlowFound): Html => {
  const { fee, outputs, page, transaction } = found
  if (page > 1) return NOTHING
  const paid = withRest(drawnOf(outputs.map(outputPart(found))), {
    all: transaction.outputs.length,
    total: totalValue(transaction.outputs),
    what: "output"
  })
  return html`<section class="card" aria-labelledby="flow-title"><h2 id="flow-title">Where the coins go</h2>${
    flowView(inputParts(found), [...paid, ...feePart(fee, transaction)])
  }</section>`
}
