import * as Kind from "./kinds.ts"
import { singleOption } from "./optionRow.ts"

/** The options of light nodes, and of answers before the whole chain is checked. */
export const LIGHT_OPTIONS = {
  requireproof: singleOption(
    Kind.choiceKind(["work", "signatures", "full"]),
    "requireproof",
    "Names and wallet",
    "what an answer about a name has to rest on, if a call does not say it",
    { default: "work" }
  )
}
