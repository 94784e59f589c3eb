import * as Effect from "effect/Effect"
import { Chain } from "../../chain/Chain.ts"
import { NameAnswers } from "../../light/NameAnswers.ts"
import { type FoundNames, NameDb, type NameQuery } from "../../names/NameDb.ts"
import { SEARCH_KEYS } from "../../values/searchable.ts"
import { AnswerOptions } from "../AnswerOptions.ts"
import { type FIND_MEMBERS, type FOUND, MOST_FOUND, NAME_FIND, NEEDS_ALL } from "../contract/names/find.ts"
import { method } from "../method/method.ts"
import type { Decoded } from "../method/params.ts"
import type * as Result from "../method/results.ts"
import { RpcError } from "../method/RpcError.ts"
import type { ShapeContext } from "../shapes/context.ts"
import { nameInfoText } from "../shapes/name.ts"
import { storageError } from "./errors.ts"
import { contextFor, decodeGiven } from "./nameEncodings.ts"
import { addressScriptOf } from "./wallet/payees.ts"

/** Shared by `name_find` and REST. */

export type GivenFind = Decoded<typeof FIND_MEMBERS>

const queryOf = (given: GivenFind, { nameEncoding, network }: ShapeContext): Effect.Effect<NameQuery, RpcError> =>
  Effect.gen(function*() {
    const { changedSince, expiresWithin, includeExpired, limit, namespace, owner, text, value } = given
    const key = SEARCH_KEYS.find((each) => each === given.key)
    if (given.key !== undefined && key === undefined) {
      return yield* RpcError.invalidParameter(`key must be one of ${SEARCH_KEYS.join(", ")}`)
    }
    if (limit < 1 || limit > MOST_FOUND) {
      return yield* RpcError.invalidParameter(`limit must be from 1 to ${MOST_FOUND}`)
    }
    return {
      text,
      key,
      value,
      changedSince,
      expiresWithin,
      includeExpired,
      owner: owner === undefined ? undefined : yield* addressScriptOf(network, owner, "invalid address"),
      prefix: namespace === undefined ? undefined : yield* decodeGiven(namespace, nameEncoding)
    }
  })

export const makeNameSearch: Effect.Effect<
  (given: GivenFind) => Effect.Effect<Result.ValueOf<typeof FOUND>, RpcError>,
  never,
  Chain | NameAnswers | NameDb | AnswerOptions
> = Effect.gen(function*() {
  const { params } = yield* Chain
  const names = yield* NameDb
  const node = yield* AnswerOptions
  const answers = yield* NameAnswers

  return (given) =>
    Effect.gen(function*() {
      if (answers.fromWindow()) return yield* RpcError.misc(NEEDS_ALL)
      const context = contextFor(params.network, node, given)
      const asked = yield* queryOf(given, context)
      const cursor = yield* Effect.mapError(names.cursor, storageError)
      const clock = { tipHeight: cursor?.height ?? 0, params }
      const found: FoundNames = yield* Effect.mapError(
        names.find(asked, { clock, limit: given.limit, cursor: given.cursor }),
        (error) => error._tag === "WrongQuery" ? RpcError.invalidParameter(error.reason) : storageError(error)
      )
      return {
        names: found.records.map((record) => nameInfoText(context, record, { clock, ismine: undefined })),
        next: found.next,
        complete: found.indexed === 1 && (yield* Effect.mapError(answers.complete, storageError)),
        indexed: Math.floor(10_000 * found.indexed) / 10_000
      }
    })
})

/** Only in svcd. */

export const findMethods = Effect.map(makeNameSearch, (search) => [
  method(NAME_FIND, ({ query }) => search(query))
])
