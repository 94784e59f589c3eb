import * as Chunk from "effect/Chunk"
import * as Effect from "effect/Effect"
import * as Stream from "effect/Stream"
import { grouped } from "../base/quantities.ts"
import { Chain } from "../chain/Chain.ts"
import { isExpired } from "../consensus/expiry.ts"
import { NameAnswers } from "../light/NameAnswers.ts"
import type { NameEntry } from "../names/NameDb.ts"
import type { Bytes } from "../protocol/bytes.ts"
import { nameKey } from "../protocol/keys.ts"
import type { StorageFailure } from "../storage/errors.ts"
import { type Html, html, NOTHING } from "./html.ts"
import { nameLink } from "./links.ts"
import { type Moment, stateBadge } from "./nameState.ts"
import { listedName } from "./visible.ts"

export interface Suggestions {
  readonly records: ReadonlyArray<NameEntry>
  readonly more: boolean
}

const SUGGESTIONS = 20

const SUGGESTIONS_EACH = 10

/** Names that are read for each text; most of a prefix may have expired. */
const READ_EACH = 500

/** Registered names that begin with one of some texts, each once, without known ones. */
export const makeSuggestions = Effect.gen(function*() {
  const answers = yield* NameAnswers
  const { params } = yield* Chain
  return (
    prefixes: ReadonlyArray<Bytes>,
    known: ReadonlyArray<NameEntry>
  ): Effect.Effect<Suggestions, StorageFailure> =>
    Effect.gen(function*() {
      const tipHeight = yield* answers.height
      const seen = new Set(known.map(({ name }) => nameKey(name)))
      const records: Array<NameEntry> = []
      let more = false
      for (const prefix of prefixes) {
        // One more shows whether there are others.
        const some = Chunk.toReadonlyArray(
          yield* answers.scanByPrefix({ prefix, count: READ_EACH }).pipe(
            Stream.map(({ record }) => record),
            Stream.filter((record) => !seen.has(nameKey(record.name)) && !isExpired(record, tipHeight, params)),
            Stream.take(SUGGESTIONS_EACH + 1),
            Stream.runCollect
          )
        )
        const taken = some.slice(0, Math.min(SUGGESTIONS_EACH, SUGGESTIONS - records.length))
        if (taken.length < some.length) more = true
        for (const record of taken) {
          records.push(record)
          seen.add(nameKey(record.name))
        }
      }
      return { records, more }
    })
})

export const listedRecord = (moment: Moment) => (record: NameEntry): Html =>
  html`<li><a href="${nameLink(record.name)}">${listedName(record.name)}</a><span class="what">${
    stateBadge(record, moment)
  } <span>last changed at block ${grouped(record.height)}</span></span></li>`

export const suggestions = (found: Moment & { readonly suggestions: Suggestions }): Html =>
  found.suggestions.records.length === 0 ? NOTHING : html`<section class="card" aria-labelledby="like-title">
<h2 id="like-title">Registered names that start like this</h2>
<ul class="operations">${found.suggestions.records.map(listedRecord(found))}</ul>${
    found.suggestions.more && html`<p class="muted">There are more. Type more letters.</p>`
  }</section>`
