import { anchorKind } from "./chainKinds.ts"
import * as Kind from "./kinds.ts"
import { singleOption } from "./optionRow.ts"

/** The options of light nodes, and of answers before the whole chain is checked. */
export const LIGHT_OPTIONS = {
  sync: singleOption(
    Kind.choiceKind(["full", "light"]),
    "sync",
    "Chain",
    "what to sync: the whole chain, or light, which is headers and the names of the last 36,000 blocks",
    { default: "full" }
  ),
  anchor: singleOption(
    anchorKind,
    "anchor",
    "Chain",
    "block at which the headers of a light chain begin; none to begin at genesis, and without a light start of -sync full",
    { defaultNote: "those of the network" }
  ),
  requireproof: singleOption(
    Kind.choiceKind(["work", "signatures", "full"]),
    "requireproof",
    "Names and wallet",
    "what an answer about a name has to rest on, if a call does not say it",
    { default: "work" }
  )
}
