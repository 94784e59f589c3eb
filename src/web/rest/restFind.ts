import * as Effect from "effect/Effect"
import type { PageAnswer, PageHandler } from "../../http/Pages.ts"
import { encodeJson } from "../../rpc/json/encodeJson.ts"
import { RPC_CODE, RpcError } from "../../rpc/method/RpcError.ts"
import { type GivenFind, makeNameSearch } from "../../rpc/methods/findAnswer.ts"
import { restAnswer, restFailure } from "./restAnswer.ts"

/** `GET /rest/names.json?text=…`: the search of `name_find`, with its conditions in the query. */

export const FIND_PATH = "/rest/names.json"

const USUAL = 100

const WHOLE = /^\d{1,9}$/

/** Reads the query; a condition that is no number where one is needed is an error. */
const givenOf = (query: URLSearchParams): Effect.Effect<GivenFind, RpcError> =>
  Effect.gen(function*() {
    const text = (name: string) => query.get(name) ?? undefined
    const number = (name: string) => {
      const given = text(name)
      if (given === undefined) return Effect.succeed(undefined)
      return WHOLE.test(given)
        ? Effect.succeed(Number(given))
        : RpcError.invalidParameter(`${name} must be a whole number`)
    }
    return {
      text: text("text"),
      key: text("key"),
      value: text("value"),
      owner: text("owner"),
      namespace: text("namespace"),
      changedSince: yield* number("changedSince"),
      expiresWithin: yield* number("expiresWithin"),
      includeExpired: text("includeExpired") === "1" || text("includeExpired") === "true",
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
