import { PROOF_LEVELS } from "../../../light/proof.ts"
import { optional, refined, string } from "../../method/params.ts"
import { RpcError } from "../../method/RpcError.ts"

export const REQUIRE_PROOF = optional(
  refined(
    string("What the answer has to rest on at least: work, signatures or full."),
    (given) =>
      PROOF_LEVELS.find((level) => level === given) ??
        RpcError.invalidParameter(`Invalid value for requireProof: ${given}`)
  ),
  "the node's setting"
)

export const PROOF_ERRORS = ["-8 Invalid value for requireProof: <x>", "-10 The answer rests on work, not on <x>"]
