import * as Effect from "effect/Effect"
import { NAME_FIND } from "../contract/names/find.ts"
import { method } from "../method/method.ts"
import { makeNameSearch } from "./findAnswer.ts"

/** `name_find`: names by what they say, by their owner, by change and by expiry. No other node has it. */

export const findMethods = Effect.map(makeNameSearch, (search) => [
  method(NAME_FIND, ({ query }) => search(query))
])
