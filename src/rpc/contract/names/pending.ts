import * as Schema from "effect/Schema"
import { namesContract } from "../../method/contract.ts"
import { notNull, object, optional, orEmpty, string } from "../../method/params.ts"
import * as Result from "../../method/results.ts"
import { IS_MINE, NAME_OUTPUT_MEMBERS } from "../../shapes/name.ts"
import { ENCODINGS } from "./nameParams.ts"

export const NAME_PENDING = namesContract({
  name: "name_pending",
  coins: "any",
  right: "names",
  heavy: true,
  summary: "Lists the unconfirmed name operations, several on one name in their order. A name_new is not included: " +
    "it does not reveal its name.",
  params: {
    name: optional(string("Only this name."), "all names"),
    options: orEmpty(notNull(object(ENCODINGS, "Options.")))
  },
  results: [{
    schema: Schema.Array(Schema.Struct({
      ...NAME_OUTPUT_MEMBERS,
      ismine: IS_MINE,
      op: Result.string("name_firstupdate or name_update")
    }))
  }],
  examples: [[], ["d/example"]],
  errors: ["-1000 Name/value is invalid for encoding ascii"]
})
