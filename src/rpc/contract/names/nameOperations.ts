import { jsonObject } from "../../method/params.ts"

/** The operation as a parameter; `withNameOperation` decodes it. */
export const NAMEOP_PARAM = jsonObject(
  "The operation: op (name_new, name_firstupdate or name_update); name; value, except for name_new; rand, the " +
    "salt in hexadecimal digits, random by default for name_new."
)
