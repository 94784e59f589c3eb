import { optional, string } from "../../method/params.ts"

/** Options of every method that reads or returns names. */
export const ENCODINGS = {
  nameEncoding: optional(string("Encoding of names: ascii, utf8 or hex."), "the node's setting"),
  valueEncoding: optional(string("Encoding of values: ascii, utf8 or hex."), "the node's setting")
}
