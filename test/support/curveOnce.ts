import { loadNativeCurve } from "../../src/consensus/signatureNative.ts"

/**
 * Remembers what libsecp256k1 computed in this process. The tests connect the same chains again and again, in hundreds of
 * nodes, and derive the keys of the same wallets: every signature and every key is computed once, by the native code.
 * Exceptions are not remembered.
 */

/** Results to remember, some 40 MB. After as many, it starts again. */
const MOST = 100_000

/** Marks a curve whose functions remember: the setup runs before each test file, the curve is one for the process. */
const REMEMBERS = Symbol.for("svcd/test/curveOnce")

/** One text for the parts and their lengths: a wrong split is another key. */
const keyOf = (...parts: ReadonlyArray<Uint8Array>): string =>
  `${parts.map(({ length }) => length).join(" ")} ${Buffer.concat(parts).toString("latin1")}`

const remembered = <A>(known: Map<string, A>, key: string, compute: () => A): A => {
  const old = known.get(key)
  if (old !== undefined) return old
  const value = compute()
  if (known.size >= MOST) known.clear()
  known.set(key, value)
  return value
}

const curve = loadNativeCurve()

if (curve !== undefined && !(REMEMBERS in curve)) {
  const { ecdsaVerify, publicKeyTweakAdd } = curve
  const verdicts = new Map<string, boolean>()
  const sums = new Map<string, Uint8Array>()
  Object.assign(curve, {
    [REMEMBERS]: true,
    ecdsaVerify: (compact: Uint8Array, message: Uint8Array, pubkey: Uint8Array): boolean =>
      remembered(verdicts, keyOf(compact, message, pubkey), () => ecdsaVerify(compact, message, pubkey)),
    publicKeyTweakAdd: (pubkey: Uint8Array, tweak: Uint8Array, compressed: boolean, output: Uint8Array): Uint8Array => {
      const key = `${compressed}${keyOf(tweak, pubkey)}`
      output.set(remembered(sums, key, () => publicKeyTweakAdd(pubkey, tweak, compressed, output).slice()))
      return output
    }
  })
}
