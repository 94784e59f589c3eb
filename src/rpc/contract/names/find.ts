import { contract } from "../../method/contract.ts"
import { namedOptions, orEmpty } from "../../method/params.ts"
import { FIND_ERRORS, FIND_MEMBERS, FOUND } from "./findAnswer.ts"

export const NAME_FIND = contract({
  name: "name_find",
  right: "read",
  group: "Names",
  summary:
    "Finds names by text, by an item of the value, by owner, by their last change or by their expiry. All given " +
    "conditions hold. For the next page, pass next of this page as cursor.",
  params: { query: orEmpty(namedOptions(FIND_MEMBERS, "The conditions.")) },
  results: [{ schema: FOUND }],
  examples: [[{ text: "example" }], [{ key: "ip", value: "192.0.2.1" }], [{ expiresWithin: 4032, namespace: "d/" }]],
  errors: FIND_ERRORS
})
