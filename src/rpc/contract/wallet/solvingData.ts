import { JsonObject } from "../../json/json.ts"
import { adapted, array, hexText, json, object, optional, type Param, string } from "../../method/params.ts"
import { RpcError } from "../../method/RpcError.ts"
import { knownDescriptors } from "../chain/scanObjects.ts"

export const SOLVING_DATA = optional(
  object({
    pubkeys: optional(array(hexText("A public key."), "Public keys.")),
    scripts: optional(array(hexText("A script."), "Scripts.")),
    descriptors: optional(knownDescriptors(array(string("A descriptor."), "Descriptors.")))
  }, "Keys and scripts of coins that are not the wallet's, to know the fee of their inputs. Nothing is signed with it.")
)

export const INPUT_WEIGHTS = optional(
  array(
    json("Object with txid, vout and weight.", { words: "json object" }),
    "Weights of signed inputs, in place of the wallet's estimate."
  )
)

const WEIGHTS_ELSEWHERE = "Input weights should be specified in inputs rather than in options."

/** Options of methods whose inputs have their weights themselves. */
export const withoutWeights = <A>(options: Param<A>): Param<A> =>
  adapted(options, (value) =>
    value instanceof JsonObject && value.get("input_weights") !== undefined
      ? RpcError.invalidParameter(WEIGHTS_ELSEWHERE)
      : value)
