import * as Effect from "effect/Effect"
import { unixTime } from "../base/clock.ts"
import { agoText } from "../base/outlookWords.ts"
import { grouped, quantityOf } from "../base/quantities.ts"
import { Chain } from "../chain/Chain.ts"
import { expirationDepth } from "../consensus/expiry.ts"
import type { ConsensusParams } from "../consensus/params.ts"
import { NameAnswers } from "../light/NameAnswers.ts"
import type { NameEntry } from "../names/NameDb.ts"
import { blocksToExpiry } from "../names/NameEntry.ts"
import { addressOf } from "../protocol/address.ts"
import type { Bytes } from "../protocol/bytes.ts"
import { addressScript } from "../protocol/nameOperation.ts"
import { bitDomainOf, classify, type NameClass } from "../protocol/nameText.ts"
import type { Network } from "../protocol/networks.ts"
import { soonWithin } from "../protocol/soon.ts"
import { type ExpiryState, NAME_STATES } from "../rpc/words.ts"
import type { StorageFailure } from "../storage/errors.ts"
import { day, distance } from "./format.ts"
import { type Html, html, NOTHING } from "./html.ts"
import { addressView, blockView } from "./places.ts"
import { visible } from "./visible.ts"

export interface Moment {
  /** Seconds since 1970. */
  readonly now: number
  readonly tipHeight: number
  readonly params: ConsensusParams
  /** Names are behind the tip: a name that is missing or expired here may still exist. */
  readonly syncing: boolean
}

/** The moment of the name index, which may be ahead of a chain that is being rebuilt. */
export const momentOf: Effect.Effect<Effect.Effect<Moment, StorageFailure>, never, Chain | NameAnswers> = Effect.gen(
  function*() {
    const { params } = yield* Chain
    const answers = yield* NameAnswers
    return Effect.gen(function*() {
      return {
        now: yield* unixTime,
        tipHeight: yield* answers.height,
        params,
        syncing: !(yield* answers.complete)
      }
    })
  }
)

/** While the node is syncing, a missing name may be found later. */
export const notFound = ({ syncing }: Pick<Moment, "syncing">) =>
  syncing ? { status: 503, headers: { "Retry-After": "60" } } : { status: 404 }

const expiresSoon = (left: number, { params, tipHeight }: Moment): boolean =>
  left <= soonWithin(expirationDepth(tipHeight, params))

const TONES: Readonly<Record<ExpiryState, string>> = { active: "good", soon: "busy", expired: "attention" }

export const badgeOf = (state: ExpiryState): Html =>
  html`<span class="badge ${TONES[state]}">${NAME_STATES[state]}</span>`

export const stateBadge = (record: NameEntry, moment: Moment): Html => {
  const left = blocksToExpiry(record, moment)
  return badgeOf(left <= 0 ? "expired" : expiresSoon(left, moment) ? "soon" : "active")
}

const KINDS: Readonly<Record<NameClass, string>> = {
  "domain": "Domain",
  "domain-data": "Data of a domain",
  "identity": "Identity",
  "identity-data": "Data of an identity",
  "nonstandard": "Name"
}

export const kindOfName = (name: Bytes): Html => {
  const domain = bitDomainOf(name)
  return domain === undefined ? html`${KINDS[classify(name)]}` : html`Domain <b>${visible(domain)}</b>`
}

/** A name prefix of the script is ignored. */
export const ownerOf = (network: Network, script: Bytes): Html => {
  const address = addressOf(network, addressScript(script))
  return address === undefined
    ? html`<span class="muted">a script without an address</span>`
    : addressView(address)
}

/** `undefined` while the network makes blocks on demand, or while the tip is old. */
const secondsLeft = (blocks: number, { params, syncing }: Moment): number | undefined =>
  params.noRetargeting || syncing ? undefined : blocks * params.targetSpacing

/** The sentence after `standing`. */
const detail = (record: NameEntry, moment: Moment): Html => {
  const left = blocksToExpiry(record, moment)
  const at = moment.tipHeight + left
  if (left <= 0) return html`It was registered until ${blockView(at)}.`
  const seconds = secondsLeft(left, moment)
  const when = seconds === undefined ? "" : `${distance(seconds)}, `
  return html`It expires ${when}at block ${grouped(at)}, unless its owner renews it.`
}

const toneOf = (left: number, moment: Moment): string =>
  TONES[left <= 0 ? "expired" : expiresSoon(left, moment) ? "soon" : "active"]

/** The part of a name's life that is left, as a bar. */
export const lifeBar = (record: Pick<NameEntry, "height">, moment: Moment): Html => {
  const depth = expirationDepth(moment.tipHeight, moment.params)
  const left = Math.min(depth, Math.max(0, blocksToExpiry(record, moment)))
  return html`<progress class="life ${toneOf(left, moment)}" max="${depth}" value="${left}" aria-label="Life left: ${
    grouped(left)
  } of ${quantityOf(depth, "block")}"></progress>`
}

/** In one line: alive and until when, or expired and since when. */
export const standing = (record: NameEntry, moment: Moment): string => {
  const left = blocksToExpiry(record, moment)
  if (left <= 0) return `Expired ${agoText(-left)}`
  const seconds = secondsLeft(left, moment)
  const until = seconds === undefined
    ? `for ${quantityOf(left, "more block")}`
    : `until about ${day(moment.now + seconds)}`
  return `Registered ${until}`
}

/** The state of a name first, above all else on its page. */
export const standingView = (
  record: NameEntry,
  { moment, more }: { readonly moment: Moment; readonly more: Html }
): Html =>
  html`<section id="state" class="card standing" aria-labelledby="state-title"><h2 id="state-title">${
    standing(record, moment)
  }</h2>${blocksToExpiry(record, moment) > 0 && lifeBar(record, moment)}<p class="muted">${
    detail(record, moment)
  }</p>${more}</section>`

/** Only a state that needs attention has a badge. */
export const shortExpiry = (record: NameEntry, moment: Moment): Html => {
  const left = blocksToExpiry(record, moment)
  if (left <= 0) return html`${badgeOf("expired")} <span class="wide">${agoText(-left)}</span>`
  const seconds = secondsLeft(left, moment)
  return html`${expiresSoon(left, moment) && html`${badgeOf("soon")} `}${
    seconds === undefined ? `in ${quantityOf(left, "block")}` : day(moment.now + seconds)
  }`
}

export const behind = ({ syncing, tipHeight }: Moment): Html =>
  syncing
    ? html`<p class="note busy">The node is still syncing. This page is as of block ${grouped(tipHeight)}.</p>`
    : NOTHING

export const absent = (moment: Moment): Html =>
  moment.syncing
    ? html`<p>No block up to ${
      grouped(moment.tipHeight)
    } registers this name. The node is still syncing, so a later block may.</p>`
    : html`<p>No block up to ${grouped(moment.tipHeight)} registers this name.</p>`
