import { PROOF_LEVELS } from "../../../light/proof.ts"
import type { Json } from "../../json/json.ts"
import { array, custom, decodedValue, jsonObject, optional, refined, string } from "../../method/params.ts"
import { RpcError } from "../../method/RpcError.ts"

/** The texts of an array, or the only one. */
export const textsIn = (value: Json) => {
  if (typeof value === "string") return [value]
  const read = decodedValue(array(string("A name."), ""), value, "names")
  return read._tag === "Left" ? read.left : read.right
}

export const ENCODINGS = {
  nameEncoding: optional(string("Encoding of names: ascii, utf8 or hex."), "the node's setting"),
  valueEncoding: optional(string("Encoding of values: ascii, utf8 or hex."), "the node's setting")
}

/** Several names, or one as a text. */
export const NAMES = (description: string) =>
  custom<ReadonlyArray<string>>({
    kind: "array",
    words: "json array or string",
    description,
    read: textsIn
  })

/** Decoded by `withNameOperation`. */
export const NAMEOP_PARAM = jsonObject(
  "The operation: op (name_new, name_firstupdate or name_update); name; value, except for name_new; rand, the " +
    "salt in hexadecimal digits, random by default for name_new."
)

export const REQUIRE_PROOF = optional(
  refined(
    string("Minimum proof of the answer: work, signatures or full."),
    (given) =>
      PROOF_LEVELS.find((level) => level === given) ??
        RpcError.invalidParameter(`Invalid value for requireProof: ${given}`)
  ),
  "the node's setting"
)

export const PROOF_ERRORS = ["-8 Invalid value for requireProof: <x>", "-10 The answer rests on work, not on <x>"]
