import * as Effect from "effect/Effect"
import { method } from "../method/method.ts"
import { namedOptions, orEmpty } from "../method/params.ts"
import { FIND_ERRORS, FIND_MEMBERS, FOUND, makeNameSearch } from "./findAnswer.ts"

/** `name_find`: names by what they say, by their owner, by change and by expiry. No other node has it. */

export const findMethods = Effect.map(makeNameSearch, (search) => [
  method({
    name: "name_find",
    right: "read",
    group: "Names",
    summary:
      "Finds names by text, by an item of the value, by owner, by their last change or by their expiry. All given " +
      "conditions hold. For the next page, pass next of this page as cursor.",
    params: { query: orEmpty(namedOptions(FIND_MEMBERS, "The conditions.")) },
    results: [{ schema: FOUND }],
    examples: [[{ text: "example" }], [{ key: "ip", value: "192.0.2.1" }], [{ expiresWithin: 4032, namespace: "d/" }]],
    errors: FIND_ERRORS,
    handler: ({ query }) => search(query)
  })
])
