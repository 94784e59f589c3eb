import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { ExpiringNames, type ExpiringQuery, type Whose } from "../../alerts/ExpiringNames.ts"
import { WatchList } from "../../alerts/WatchList.ts"
import { unixTime } from "../../base/clock.ts"
import { Chain } from "../../chain/Chain.ts"
import { expiryHeight } from "../../consensus/expiry.ts"
import { NameAnswers } from "../../light/NameAnswers.ts"
import { Mempool } from "../../mempool/Mempool.ts"
import { NameDb } from "../../names/NameDb.ts"
import { blocksToExpiry } from "../../names/NameEntry.ts"
import { nameKey } from "../../protocol/keys.ts"
import type { StorageFailure } from "../../storage/errors.ts"
import { AnswerOptions } from "../AnswerOptions.ts"
import { method } from "../method/method.ts"
import type { Method } from "../method/methodTable.ts"
import {
  array,
  boolean,
  custom,
  decodedValue,
  int32,
  namedOptions,
  notNull,
  object,
  optional,
  orEmpty,
  string,
  withDefault
} from "../method/params.ts"
import * as Result from "../method/results.ts"
import { RpcError } from "../method/RpcError.ts"
import { NAME_OUTPUT_MEMBERS, NAME_TEXT_MEMBERS, nameOutputJson, nameTextJson } from "../shapes/name.ts"
import { storageError } from "./errors.ts"
import { MOST_FOUND, NEEDS_ALL } from "./findAnswer.ts"
import { contextFor, decodeGiven, ENCODINGS } from "./nameEncodings.ts"
import { addressScriptOf } from "./wallet/payees.ts"

/** `name_expiring` and `name_watch`: names before they expire. No other node has these methods. */

/** Four weeks: the time in which an owner should renew. */
const USUAL_BLOCKS = 4_032
const USUAL_NAMES = 100

/** As many blocks as a name lives; a name cannot expire later. */
const MOST_BLOCKS = 36_000

const EXPIRING_NAME = Schema.Struct({
  ...NAME_OUTPUT_MEMBERS,
  height: Result.integer("Height of the operation"),
  expires_in: Result.integer("Blocks until the record expires"),
  expires_at: Result.integer("Height from which on the record is expired"),
  expires_about: Result.time("Estimated time of the expiry"),
  mine: Result.boolean("Whether a loaded wallet has the address"),
  watched: Result.boolean("Whether the name is in the list of name_watch"),
  autorenew: Schema.optional(
    Result.boolean("Whether the wallet renews it by itself (name_autorenew); missing for names of others")
  ),
  pending: Result.boolean("Whether an operation on the name waits for a block, such as its renewal")
})

const EXPIRING = Schema.Struct({
  names: Schema.Array(EXPIRING_NAME).annotations({ description: "The first to expire first" }),
  next: Schema.optional(
    Result.string("Where the next page begins; missing on the last page. A page may have fewer names than the limit")
  ),
  complete: Result.boolean("Whether all blocks are known; otherwise there may be other names")
})

const WATCHED_NAME = Schema.Struct({
  ...NAME_TEXT_MEMBERS,
  configured: Result.boolean("Whether the settings have it (-watch); otherwise a caller added it"),
  height: Schema.optional(Result.integer("Height of the last operation; missing if the name was never registered")),
  expires_in: Schema.optional(Result.integer("Blocks until the record expires; 0 or less if it has expired"))
})

const COMMANDS = ["list", "add", "remove"] as const

/** Names of one call. */
const MOST_NAMES = 1_000

const NAMES = custom({
  kind: "array",
  words: "json array or string",
  description: `The names to add or to remove, up to ${MOST_NAMES}; a text is one name.`,
  read: (value) => {
    if (typeof value === "string") return [value]
    const read = decodedValue(array(string("A name."), ""), value, "names")
    return read._tag === "Left" ? read.left : read.right
  }
})

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

  return method({
    name: "name_expiring",
    right: "names",
    group: "Names",
    summary:
      "Lists names that expire soon, the first to expire first: of all owners, of one, of the loaded wallets, or those " +
      "that name_watch watches; with mine and watched, the names of both. For the next page, pass next as cursor.",
    params: {
      query: orEmpty(namedOptions({
        blocks: withDefault(
          int32(`Names that expire within so many blocks, up to ${MOST_BLOCKS}.`),
          USUAL_BLOCKS
        ),
        owner: optional(string("The owner's address.")),
        mine: withDefault(boolean("Whether to list names of the loaded wallets."), false),
        watched: withDefault(boolean("Whether to list names that are watched."), false),
        limit: withDefault(int32(`Maximum number of names, up to ${MOST_FOUND}.`), USUAL_NAMES),
        cursor: optional(string("next of the page before, with the same conditions.")),
        ...ENCODINGS
      }, "The conditions."))
    },
    results: [{ schema: EXPIRING }],
    examples: [[], [{ mine: true, watched: true }], [{ blocks: 144, limit: 10 }]],
    errors: [
      `-1 ${NEEDS_ALL}`,
      `-8 blocks must be from 1 to ${MOST_BLOCKS}`,
      `-8 limit must be from 1 to ${MOST_FOUND}`,
      "-8 owner cannot be given with mine or watched",
      "-8 the cursor is not one of this query: pass back next with the same conditions",
      "-5 invalid address"
    ],
    handler: ({ query: given }) =>
      Effect.gen(function*() {
        if (answers.fromWindow()) return yield* RpcError.misc(NEEDS_ALL)
        const { blocks, cursor, limit } = given
        if (blocks < 1 || blocks > MOST_BLOCKS) {
          return yield* RpcError.invalidParameter(`blocks must be from 1 to ${MOST_BLOCKS}`)
        }
        if (limit < 1 || limit > MOST_FOUND) {
          return yield* RpcError.invalidParameter(`limit must be from 1 to ${MOST_FOUND}`)
        }
        const context = contextFor(network, node, given)
        const page = yield* found({ blocks, whose: yield* whoseOf(given), limit, cursor })
        const now = yield* unixTime
        return {
          names: page.names.map(({ left, record }) => {
            const { height, name } = record
            const mine = expiring.isMine(record.address)
            return {
              ...nameOutputJson(context, record),
              height,
              expires_in: left,
              expires_at: expiryHeight(height, params),
              expires_about: now + left * params.targetSpacing,
              mine,
              watched: expiring.isWatched(name),
              autorenew: mine ? expiring.isRenewed(record) : undefined,
              pending: pool.pending(nameKey(name)).length > 0
            }
          }),
          next: page.next,
          complete: yield* Effect.mapError(answers.complete, storageError)
        }
      })
  })
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

  return method({
    name: "name_watch",
    right: "names",
    writes: true,
    group: "Names",
    summary:
      "Returns the list of names whose expiry the node reports beforehand, or first adds names to it or removes some. " +
      "The names need not belong to a wallet, and need not be registered. The list is kept across restarts.",
    params: {
      command: withDefault(string("list, add or remove."), "list"),
      names: optional(NAMES),
      options: orEmpty(notNull(object({ nameEncoding: ENCODINGS.nameEncoding }, "Options.")))
    },
    results: [{ schema: Schema.Array(WATCHED_NAME) }],
    examples: [[], ["add", ["d/example"]], ["remove", "d/example"]],
    errors: [
      "-8 command must be one of list, add, remove",
      "-8 add and remove need names",
      `-8 there can be ${MOST_NAMES} names at most in one call`,
      "-8 a name has from 1 to 255 bytes",
      "-8 10000 names can be watched; remove some first",
      "-8 the settings have this name: remove its watch= line from svcd.conf, or the flag -watch, and restart",
      "-1000 Name/value is invalid for encoding <encoding>"
    ],
    handler: ({ command: word, names: texts = [], options: given }) =>
      Effect.gen(function*() {
        const command = COMMANDS.find((each) => each === word)
        if (command === undefined) {
          return yield* RpcError.invalidParameter(`command must be one of ${COMMANDS.join(", ")}`)
        }
        if (command !== "list") {
          if (texts.length === 0) return yield* RpcError.invalidParameter("add and remove need names")
          if (texts.length > MOST_NAMES) {
            return yield* RpcError.invalidParameter(`there can be ${MOST_NAMES} names at most in one call`)
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
      )
  })
})

export const expiryMethods: Effect.Effect<
  ReadonlyArray<Method>,
  never,
  Chain | ExpiringNames | Mempool | NameAnswers | NameDb | AnswerOptions | WatchList
> = Effect.all([name_expiring, name_watch])
