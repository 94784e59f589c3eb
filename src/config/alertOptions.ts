import * as Kind from "./kinds.ts"
import { listOption, type OptionTable } from "./optionRow.ts"

/** The options of notices before names expire. */

export const ALERT_OPTIONS = {
  watch: listOption(
    Kind.textKind("NAME"),
    "watch",
    "Names and wallet",
    "name whose expiry the node reports beforehand, owned or not, registered or not; may be repeated",
    { defaultNote: "the names of name_watch alone" }
  )
} satisfies OptionTable
