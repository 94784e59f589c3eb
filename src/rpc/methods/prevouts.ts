import * as Either from "effect/Either"
import { scriptOf } from "../../protocol/address.ts"
import { type Bytes, equal } from "../../protocol/bytes.ts"
import { hash160, sha256 } from "../../protocol/hash.ts"
import type { OutpointKey } from "../../protocol/keys.ts"
import { addressScript } from "../../protocol/nameOperation.ts"
import { scriptText } from "../../protocol/scriptText.ts"
import { scriptTemplate } from "../../protocol/scriptType.ts"
import type { Steps } from "../../protocol/steps.ts"
import { outpoint, outpointKey } from "../../protocol/transaction.ts"
import type { SpentOutput } from "../../wallet/signing/SigningContext.ts"
import { type Json, JsonObject } from "../json/json.ts"
import { amount, decodedValue, hash, hex, hexText, int32, object, optional } from "../method/params.ts"
import { type Read, RpcError } from "../method/RpcError.ts"

/** `prevtxs`: outputs that the node may not have. Upstream `ParsePrevouts`. */

const PREVOUT = object({
  txid: hash("The transaction.", { label: "txid" }),
  vout: int32("Index of the output."),
  scriptPubKey: hex("The output script."),
  redeemScript: optional(hexText("The redeem script of a P2SH output.")),
  witnessScript: optional(hexText("The witness script of a P2WSH output.")),
  amount: optional(amount("The amount; witness signatures commit to it."))
}, "An output.")

const SCRIPT = hex("A script.")

const P2WSH = (script: Bytes): Uint8Array => scriptOf({ kind: "witness", version: 0, program: sha256(script) })

/** For a P2SH or P2WSH output. */
const readScripts = (
  scriptPubKey: Bytes,
  { redeemScript, witnessScript }: {
    readonly redeemScript: string | undefined
    readonly witnessScript: string | undefined
  }
): Read<ReadonlyArray<Bytes>> =>
  Either.gen(function*() {
    const address = addressScript(scriptPubKey)
    const { type } = scriptTemplate(scriptPubKey)
    if (type !== "scripthash" && type !== "witness_v0_scripthash") return []
    const given = witnessScript ?? redeemScript
    if (given === undefined) {
      return yield* Either.left(RpcError.invalidParameter("Missing redeemScript/witnessScript"))
    }
    const script = yield* decodedValue(SCRIPT, given, witnessScript === undefined ? "redeemScript" : "witnessScript")
    const program = P2WSH(script)
    if (witnessScript !== undefined && redeemScript !== undefined && witnessScript !== redeemScript) {
      if (!equal(yield* decodedValue(SCRIPT, redeemScript, "redeemScript"), program)) {
        return yield* Either.left(RpcError.invalidParameter("redeemScript does not correspond to witnessScript"))
      }
    }
    const fitting = type === "witness_v0_scripthash"
      ? [program]
      : [script, program].map((inner) => scriptOf({ kind: "scripthash", hash: hash160(inner) }))
    return fitting.some((output) => equal(output, address))
      ? [script, program]
      : yield* Either.left(RpcError.invalidParameter("redeemScript/witnessScript does not match scriptPubKey"))
  })

export interface Prevouts {
  /** By `outpointKey`. */
  readonly outputs: ReadonlyMap<OutpointKey, SpentOutput>
  readonly scripts: ReadonlyArray<Bytes>
}

/** `known` returns the node's coins. A wallet ignores the caller's scripts in favor of its own. */
export function* readPrevouts(
  prevtxs: ReadonlyArray<Json>,
  known: (outpoint: OutpointKey) => SpentOutput | undefined,
  signer: "keys" | "wallet" = "keys"
): Steps<Read<Prevouts>> {
  const outputs = new Map<OutpointKey, SpentOutput>()
  const scripts: Array<Bytes> = []
  for (const item of prevtxs) {
    if (!(item instanceof JsonObject)) {
      return Either.left(RpcError.deserialization("expected object with {\"txid'\",\"vout\",\"scriptPubKey\"}"))
    }
    const decoded = decodedValue(PREVOUT, item, "prevtxs")
    if (Either.isLeft(decoded)) return Either.left(decoded.left)
    const { amount: value, redeemScript, scriptPubKey, txid, vout, witnessScript } = decoded.right
    if (vout < 0) return Either.left(RpcError.deserialization("vout cannot be negative"))
    const key = outpointKey(outpoint(txid, vout))
    const coin = outputs.get(key) ?? known(key)
    if (coin !== undefined && !equal(coin.script, scriptPubKey)) {
      return Either.left(RpcError.deserialization(
        `Previous output scriptPubKey mismatch:\n${scriptText(coin.script)}\nvs:\n${scriptText(scriptPubKey)}`
      ))
    }
    outputs.set(key, { script: scriptPubKey, value })
    if (signer === "keys") {
      const given = readScripts(scriptPubKey, { redeemScript, witnessScript })
      if (Either.isLeft(given)) return Either.left(given.left)
      scripts.push(...given.right)
    }
    yield
  }
  return Either.right({ outputs, scripts })
}
