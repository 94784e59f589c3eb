import * as Effect from "effect/Effect"
import type { PageAnswer, PageHandler } from "../../http/Pages.ts"
import { FIND_MEMBERS } from "../../rpc/contract/names/find.ts"
import { encodeJson } from "../../rpc/json/encodeJson.ts"
import { RPC_CODE, RpcError } from "../../rpc/method/RpcError.ts"
import { type GivenFind, makeNameSearch } from "../../rpc/methods/findAnswer.ts"
import { checkParts } from "../events/eventQuery.ts"
import { restAnswer, restFailure } from "./restAnswer.ts"

/** `GET /rest/names.json?text=…`: the search of `name_find`, with its conditions in the query. */

export const FIND_PATH = "/rest/names.json"

const USUAL = 100

const PARTS = Object.keys(FIND_MEMBERS)

const SWITCHED: ReadonlyMap<string, boolean> = new Map([["0", false], ["1", true], ["false", false], ["true", true]])

const WHOLE = /^\d{1,9}$/

/** Unknown, repeated or malformed parts are errors: without a condition, the search would find other names. */
const givenOf = (query: URLSearchParams): Effect.Effect<GivenFind, RpcError> =>
  Effect.gen(function*() {
    yield* Effect.mapError(checkParts(query, PARTS, PARTS), (problem) => RpcError.invalidParameter(problem))
    const text = (name: string) => query.get(name) ?? undefined
    const number = (name: string) => {
      const given = text(name)
      if (given === undefined) return Effect.succeed(undefined)
      return WHOLE.test(given)
        ? Effect.succeed(Number(given))
        : RpcError.invalidParameter(`${name} must be a whole number`)
    }
    const includeExpired = SWITCHED.get(text("includeExpired") ?? "0")
    if (includeExpired === undefined) {
      return yield* RpcError.invalidParameter("includeExpired must be one of 0, 1, true, false")
    }
    return {
      text: text("text"),
      key: text("key"),
      value: text("value"),
      owner: text("owner"),
      namespace: text("namespace"),
      changedSince: yield* number("changedSince"),
      expiresWithin: yield* number("expiresWithin"),
      includeExpired,
      limit: (yield* number("limit")) ?? USUAL,
      cursor: text("cursor"),
      nameEncoding: text("nameEncoding"),
      valueEncoding: text("valueEncoding")
    }
  })

const failed = ({ code, message }: RpcError): Effect.Effect<PageAnswer> =>
  code === RPC_CODE.misc || code === RPC_CODE.invalidParameter || code === RPC_CODE.invalidAddressOrKey ||
    code === RPC_CODE.invalidEncoding
    ? Effect.succeed(restFailure(400, message))
    // Callers without credentials must not see paths of files.
    : Effect.as(
      Effect.logError("names cannot be searched", { reason: message }),
      restFailure(500, "Internal error")
    )

export const restFind = Effect.map(makeNameSearch, (search): PageHandler => ({
  serves: ({ path }) => path === FIND_PATH,
  authenticated: false,
  answer: ({ query }) =>
    Effect.flatMap(givenOf(query), search).pipe(
      Effect.map((found) => restAnswer(200, "application/json", `${encodeJson(found)}\n`)),
      Effect.catchAll(failed)
    )
}))
