import * as Effect from "effect/Effect"
import { Chain } from "../../chain/Chain.ts"
import { expirationDepth } from "../../consensus/expiry.ts"
import { NameAnswers } from "../../light/NameAnswers.ts"
import type { WrongQuery } from "../../names/errors.ts"
import { type FoundNames, NameDb, type NameQuery } from "../../names/NameDb.ts"
import { decodeAddress, scriptOf } from "../../protocol/address.ts"
import type { Bytes } from "../../protocol/bytes.ts"
import { decodeText } from "../../protocol/nameText.ts"
import type { StorageFailure } from "../../storage/errors.ts"
import { type Moment, momentOf } from "../nameData.ts"
import type { NameList } from "../routes.ts"

/** The data of lists of names: all of them by an order, and those of one owner. */

export interface NamesListed extends Moment {
  readonly list: NameList
  /** `undefined` while the node has only the last blocks. */
  readonly found: FoundNames | undefined
}

export interface AddressFound extends Moment {
  readonly address: string
  readonly script: Bytes
  /** The names that it owns; `undefined` while the node has only the last blocks. */
  readonly found: FoundNames | undefined
}

/** A text that is not an address of the network, and why. */
export interface AddressWrong extends Moment {
  readonly error: string
}

/** Names on a page. */
const LISTED_NAMES = 50

/** Milliseconds after which a page ends, full or not. */
const WITHIN_MS = 25

const queryOf = ({ expired, order, prefix }: NameList, { params, tipHeight }: Moment): NameQuery | undefined => {
  const begin = decodeText(prefix, "utf8")
  if (begin === undefined) return undefined
  switch (order) {
    case "name":
      return { prefix: begin, includeExpired: expired }
    case "changed":
      return { prefix: begin, includeExpired: expired, newestFirst: true }
    case "expiring":
      return { prefix: begin, expiresWithin: expirationDepth(tipHeight, params) }
  }
}

export interface NameLister {
  readonly names: (list: NameList) => Effect.Effect<NamesListed, StorageFailure | WrongQuery>
  readonly address: (asked: {
    readonly text: string
    readonly after?: string
  }) => Effect.Effect<AddressFound | AddressWrong, StorageFailure | WrongQuery>
}

export const makeNameLister: Effect.Effect<NameLister, never, Chain | NameAnswers | NameDb> = Effect.gen(function*() {
  const { params } = yield* Chain
  const names = yield* NameDb
  const answers = yield* NameAnswers
  const readMoment = yield* momentOf

  const find = (asked: NameQuery, cursor: string | undefined, { tipHeight }: Moment) =>
    answers.fromWindow()
      ? Effect.succeed(undefined)
      : names.find(asked, { clock: { tipHeight, params }, limit: LISTED_NAMES, cursor, within: WITHIN_MS })

  return {
    names: (list) =>
      Effect.gen(function*() {
        const moment = yield* readMoment
        const asked = queryOf(list, moment)
        const nothing: FoundNames = { records: [], next: undefined, indexed: 1 }
        return { ...moment, list, found: asked === undefined ? nothing : yield* find(asked, list.after, moment) }
      }),
    address: ({ after, text }) =>
      Effect.gen(function*() {
        const moment = yield* readMoment
        const decoded = decodeAddress(params.network, text)
        if ("error" in decoded) return { ...moment, error: decoded.error }
        const script = scriptOf(decoded.destination)
        const found = yield* find({ owner: script, includeExpired: true }, after, moment)
        return { ...moment, address: text, script, found }
      })
  }
})
