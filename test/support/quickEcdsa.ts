import { createRequire } from "node:module"
import { type Bytes, concat } from "../../src/protocol/bytes.ts"
import { derOf, signEcdsa } from "./keys.ts"

type Sign = (hash: Bytes, secret: Bytes) => { readonly signature: Uint8Array }

const isCurve = (value: unknown): value is { readonly ecdsaSign: Sign } =>
  typeof value === "object" && value !== null && "ecdsaSign" in value && typeof value.ecdsaSign === "function"

const native = (): Sign | undefined => {
  try {
    const curve: unknown = createRequire(import.meta.url)("secp256k1")
    return isCurve(curve) ? (hash, secret) => curve.ecdsaSign(hash, secret) : undefined
  } catch {
    return undefined
  }
}

const sign = native()

/** The signature that `signEcdsa` makes, by libsecp256k1 where it is built: generators need hundreds of thousands. */
export const quickEcdsa = (hash: Bytes, secret: Bytes): Uint8Array =>
  sign === undefined ? signEcdsa(hash, secret) : concat(derOf(sign(hash, secret).signature), Uint8Array.of(1))
