import { grouped } from "../base/quantities.ts"
import { namesTable } from "./explorer/namesPage.ts"
import { type Html, html, NOTHING } from "./html.ts"
import { searchLink } from "./links.ts"
import { absent, listedRecord, suggestions } from "./nameView.ts"
import { moreView } from "./parts.ts"
import { addressView, blockView, transactionView } from "./places.ts"
import { type FoundPlace, placeMeant } from "./placesMeant.ts"
import type { SearchFound } from "./searchData.ts"
import { visible } from "./visible.ts"

/** What a text in the search field found, as HTML. */

const saying = (text: string, found: SearchFound): Html => {
  if (found.saying === undefined) return NOTHING
  const { indexed, next, records } = found.saying
  const none = html`<p class="empty">${
    next === undefined ? "No name and no value has this text." : "No name on this page; there may be more."
  }</p>`
  return html`<section class="card" aria-labelledby="saying-title"><h2 id="saying-title">Names with this text</h2>${
    indexed < 1 &&
    html`<p class="note busy">The search index is being built: it has ${
      Math.floor(100 * indexed)
    } % of the names so far.</p>`
  }${records.length === 0 ? none : namesTable(records, found)}${
    moreView({
      label: "Pages of the search",
      link: next === undefined ? undefined : searchLink({ text, after: next })
    })
  }<p class="muted">Searched in names and values. <code>ip:192.0.2.1</code>, <code>ns:</code>, <code>email:</code>, <code>nostr:</code>, <code>tor:</code> and <code>owner:</code> search for one thing, <code>text:</code> for any text.</p></section>`
}

const placeItem = (place: FoundPlace): Html => {
  switch (place._tag) {
    case "Block":
      return html`<li>${
        blockView(place.height, `Block ${grouped(place.height)}`)
      }<span class="what">of the chain</span></li>`
    case "Transaction":
      return html`<li>${transactionView(place.txid)}<span class="what">a transaction</span></li>`
    case "Address":
      return html`<li>${
        addressView(place.address)
      }<span class="what">an address, with the names that it owns</span></li>`
  }
}

/** A height without a block, and the last block that there is. */
const missingBlock = (text: string, { params, syncing, tipHeight }: SearchFound): Html => {
  const meant = placeMeant(text, params.network)
  return meant?._tag !== "Height" ?
    NOTHING :
    html`<p>Block ${grouped(meant.height)} is not there${syncing && " yet"}; the last one is ${
      blockView(tipHeight, grouped(tipHeight))
    }.</p>`
}

const meanings = (text: string, found: SearchFound): Html => {
  const { exact, guessed, place, syncing } = found
  if (!guessed) return NOTHING
  if (exact.length === 0 && place === undefined) {
    // The names that say it are the answer.
    if ((found.saying?.records.length ?? 0) > 0) return NOTHING
    return html`<section class="card" aria-labelledby="meant-title"><h2 id="meant-title">${
      syncing ? "Not known yet" : "No such name"
    }</h2>${missingBlock(text, found)}${absent(found)}</section>`
  }
  return html`<section class="card" aria-labelledby="meant-title"><h2 id="meant-title">What it can mean</h2><ul class="operations">${
    place !== undefined && placeItem(place)
  }${exact.map(listedRecord(found))}</ul></section>`
}

/** The result of a search, unless it can mean one thing only. */
export const searchView = (text: string, found: SearchFound): Html =>
  html`<h1>Search for ${html`<bdi class="name">${visible(text)}</bdi>`}</h1>
${meanings(text, found)}${suggestions(found)}${saying(text, found)}`
