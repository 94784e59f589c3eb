import { quantityOf, spanText } from "../base/quantities.ts"
import { expirationDepth } from "../consensus/expiry.ts"
import { paramsOf } from "../consensus/params.ts"
import type { Bytes } from "../protocol/bytes.ts"
import { fromHex } from "../protocol/bytes.ts"
import { networks } from "../protocol/networks.ts"
import { soonWithin } from "../protocol/soon.ts"
import { STEP_WORDS } from "../rpc/words.ts"
import { type Html, html, type Part } from "../web/html.ts"
import { badgeOf, kindOfName } from "../web/nameState.ts"
import { row } from "../web/parts.ts"
import { listedName, wholeName } from "../web/visible.ts"
import type { OwnName, RegistrationRow, Renewing } from "./answers.ts"
import type { PlainFrame } from "./frame.ts"

const BLOCK_SECONDS = 600

/** Life of a name in blocks: the current rule, or thirty on regtest. */
export const lifeOf = ({ network }: Pick<PlainFrame, "network">): number =>
  expirationDepth(Number.MAX_SAFE_INTEGER, paramsOf(networks[network === "regtest" ? network : "mainnet"]))

export const bytesOfHex = (hex: string | undefined): Bytes => fromHex(hex ?? "") ?? new Uint8Array(0)

export const listedHex = (hex: string | undefined): Html => listedName(bytesOfHex(hex))

/** Empty on regtest, where blocks come on demand. */
export const ifTimed = ({ network }: Pick<PlainFrame, "network">, text: string): string =>
  network === "regtest" ? "" : text

export const expiryOf = (
  { expired, expires_in: left }: Pick<OwnName, "expired" | "expires_in">,
  frame: Pick<PlainFrame, "network">
): Html =>
  expired
    ? badgeOf("expired")
    : html`${left <= soonWithin(lifeOf(frame)) && html`${badgeOf("soon")} `}${
      quantityOf(left, "block")
    }<span class="muted">${ifTimed(frame, ` (about ${spanText(left * BLOCK_SECONDS)})`)}</span>`

/** By hex bytes of the name. */
export const renewedBy = ({ all, except = [], names }: Renewing): (hex: string | undefined) => boolean => {
  const chosen = new Set(names.map(({ name }) => name))
  const excepted = new Set(except.map(({ name }) => name))
  return (hex) => chosen.has(hex) || all && !excepted.has(hex)
}

const TONES: Readonly<Record<RegistrationRow["step"], string>> = {
  committed: "busy",
  maturing: "busy",
  revealed: "busy",
  done: "good",
  failed: "attention"
}

const maturingText = (left: number, frame: Pick<PlainFrame, "network">): string =>
  left === 0
    ? "The name can be sent now."
    : `It needs ${quantityOf(left, "more block")}${ifTimed(frame, `, about ${spanText(left * BLOCK_SECONDS)}`)}.`

export const stepView = (row: RegistrationRow, frame: Pick<PlainFrame, "network">): Html => {
  const { blocks_left: left, note, step } = row
  const [word, text] = STEP_WORDS[step]
  return html`<span class="badge ${TONES[step]}">${word}</span> ${text.charAt(0).toUpperCase()}${text.slice(1)}.${
    step === "maturing" && left !== undefined && ` ${maturingText(left, frame)}`
  }${step === "failed" && note !== undefined && html` <span class="muted">${note}.</span>`}`
}

export const about = (text: string | undefined): Html =>
  text === undefined ? html`unknown until it is sent` : html`about ${text}`

export const recordView = (rows: ReadonlyArray<readonly [label: string, content: Html] | undefined>): Html =>
  html`<dl class="record">${rows.map((each) => each !== undefined && row(...each))}</dl>`

/** `above`: what the page is, or the kind of the name. */
export const nameHeading = (above: Part, name: Bytes): Html =>
  html`<header class="name-head"><p class="muted">${above}</p><h1>${wholeName(name)}</h1></header>`

export const changeHeading = (what: string, name: Bytes): Html => nameHeading(html`${what}: ${kindOfName(name)}`, name)
