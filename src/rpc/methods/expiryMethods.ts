import * as Effect from "effect/Effect"
import type * as Schema from "effect/Schema"
import { ExpiringNames, type ExpiringQuery, outlooksByName, type Whose } from "../../alerts/ExpiringNames.ts"
import { WatchList } from "../../alerts/WatchList.ts"
import { unixTime } from "../../base/clock.ts"
import { Chain } from "../../chain/Chain.ts"
import { EXPIRATION_DEPTH, expiryHeight } from "../../consensus/expiry.ts"
import { NameAnswers } from "../../light/NameAnswers.ts"
import { Mempool } from "../../mempool/Mempool.ts"
import { NameDb } from "../../names/NameDb.ts"
import { blocksToExpiry } from "../../names/NameEntry.ts"
import { nameKey } from "../../protocol/keys.ts"
import type { StorageFailure } from "../../storage/errors.ts"
import { AnswerOptions } from "../AnswerOptions.ts"
import { MOST_NAMES, NAME_EXPIRING, NAME_WATCH, type WATCHED_NAME } from "../contract/names/expiry.ts"
import { MOST_FOUND, NEEDS_ALL } from "../contract/names/find.ts"
import { method } from "../method/method.ts"
import type { Methods } from "../method/methodTable.ts"
import { RpcError } from "../method/RpcError.ts"
import { nameOutputJson, nameTextJson, outlookJson } from "../shapes/name.ts"
import { storageError } from "./errors.ts"
import { contextFor, decodeGiven } from "./nameEncodings.ts"
import { addressScriptOf } from "./wallet/payees.ts"

/** Only in svcd. */

const COMMANDS = ["list", "add", "remove"] as const

const name_expiring = Effect.gen(function*() {
  const { params } = yield* Chain
  const expiring = yield* ExpiringNames
  const pool = yield* Mempool
  const answers = yield* NameAnswers
  const node = yield* AnswerOptions
  const { network } = params

  const whoseOf = (
    { mine, owner, watched }: {
      readonly mine: boolean
      readonly owner: string | undefined
      readonly watched: boolean
    }
  ): Effect.Effect<Whose, RpcError> => {
    if (owner === undefined) {
      return Effect.succeed<Whose>(mine || watched ? { of: "subjects", mine, watched } : { of: "all" })
    }
    return mine || watched
      ? RpcError.invalidParameter("owner cannot be given with mine or watched")
      : Effect.map(addressScriptOf(network, owner, "invalid address"), (script): Whose => ({ of: "owner", script }))
  }

  const found = (query: ExpiringQuery) =>
    Effect.mapError(
      expiring.list(query),
      (error) => error._tag === "WrongQuery" ? RpcError.invalidParameter(error.reason) : storageError(error)
    )

  return method(NAME_EXPIRING, ({ query: given }) =>
    Effect.gen(function*() {
      if (answers.fromWindow()) return yield* RpcError.misc(NEEDS_ALL)
      const { blocks, cursor, limit } = given
      if (blocks < 1 || blocks > EXPIRATION_DEPTH) {
        return yield* RpcError.invalidParameter(`blocks must be from 1 to ${EXPIRATION_DEPTH}`)
      }
      if (limit < 1 || limit > MOST_FOUND) {
        return yield* RpcError.invalidParameter(`limit must be from 1 to ${MOST_FOUND}`)
      }
      const context = contextFor(network, node, given)
      const page = yield* found({ blocks, whose: yield* whoseOf(given), limit, cursor })
      const now = yield* unixTime
      const complete = yield* Effect.mapError(answers.complete, storageError)
      const outlooks = outlooksByName(complete ? yield* expiring.outlooks : [])
      return {
        names: page.names.map(({ left, record }) => {
          const { height, name } = record
          const mine = expiring.isMine(record.address)
          const outlook = mine ? outlooks.get(nameKey(name)) : undefined
          return {
            ...nameOutputJson(context, record),
            height,
            expires_in: left,
            expires_at: expiryHeight(height, params),
            expires_about: now + left * params.targetSpacing,
            mine,
            watched: expiring.isWatched(name),
            autorenew: mine ? expiring.isRenewed(record) : undefined,
            pending: pool.pending(nameKey(name)).length > 0,
            outlook: outlook === undefined ? undefined : outlookJson(outlook)
          }
        }),
        next: page.next,
        complete
      }
    }))
})

const name_watch = Effect.gen(function*() {
  const { params } = yield* Chain
  const names = yield* NameDb
  const node = yield* AnswerOptions
  const watch = yield* WatchList
  const { network } = params

  const listed = (given: { readonly nameEncoding: string | undefined }) =>
    Effect.gen(function*() {
      const { nameEncoding } = contextFor(network, node, { ...given, valueEncoding: undefined })
      const clock = { tipHeight: (yield* names.cursor)?.height ?? 0, params }
      const all: Array<Schema.Schema.Type<typeof WATCHED_NAME>> = []
      for (const { configured, name } of watch.names()) {
        const record = yield* Effect.catchTag(names.resolve(name), "NameNotFound", () => Effect.succeed(undefined))
        all.push({
          ...nameTextJson(name, nameEncoding),
          configured,
          height: record?.height,
          expires_in: record === undefined ? undefined : blocksToExpiry(record, clock)
        })
      }
      return all
    })

  const change = (command: (typeof COMMANDS)[number], wanted: ReadonlyArray<Uint8Array>) =>
    command === "add" ? watch.add(wanted) : watch.remove(wanted)

  return method(NAME_WATCH, ({ command: word, names: texts = [], options: given }) =>
    Effect.gen(function*() {
      const command = COMMANDS.find((each) => each === word)
      if (command === undefined) {
        return yield* RpcError.invalidParameter(`command must be one of ${COMMANDS.join(", ")}`)
      }
      if (command !== "list") {
        if (texts.length === 0) return yield* RpcError.invalidParameter("add and remove need names")
        if (texts.length > MOST_NAMES) {
          return yield* RpcError.invalidParameter(`at most ${MOST_NAMES} names are allowed in one call`)
        }
        const { nameEncoding } = contextFor(network, node, { ...given, valueEncoding: undefined })
        const wanted = yield* Effect.forEach(texts, (text) => decodeGiven(text, nameEncoding))
        yield* change(command, wanted)
      }
      return yield* listed(given)
    }).pipe(
      Effect.mapError((
        failure: RpcError | StorageFailure | { readonly _tag: "WatchRefused"; readonly reason: string }
      ) =>
        failure._tag === "WatchRefused"
          ? RpcError.invalidParameter(failure.reason)
          : failure._tag === "RpcError"
          ? failure
          : storageError(failure)
      )
    ))
})

export const expiryMethods: Methods<
  Chain | ExpiringNames | Mempool | NameAnswers | NameDb | AnswerOptions | WatchList
> = Effect.all([name_expiring, name_watch])
