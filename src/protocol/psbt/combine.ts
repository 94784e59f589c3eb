import { equal } from "../bytes.ts"
import { mapSteps, type Steps } from "../steps.ts"
import { makeTransaction, outpointKey, outpointText } from "../transaction.ts"
import { INPUT, OUTPUT } from "./fields.ts"
import { both, EMPTY_INPUT, NO_RECORDS, type Psbt, type PsbtInput, type Records } from "./Psbt.ts"

/** Upstream `psbt.cpp`, `Merge`. */

function* mergePsbts(a: Psbt, b: Psbt): Steps<Psbt> {
  return {
    transaction: a.transaction,
    xpubs: both(a.xpubs, b.xpubs),
    inputs: yield* mapSteps(a.inputs, (input, n) => {
      const other = b.inputs[n]
      return other === undefined ? input : INPUT.merge(input, other)
    }),
    outputs: yield* mapSteps(a.outputs, (output, n) => {
      const other = b.outputs[n]
      return other === undefined ? output : OUTPUT.merge(output, other)
    }),
    proprietary: both(a.proprietary, b.proprietary),
    unknown: both(a.unknown, b.unknown)
  }
}

/** `undefined` if the transactions differ. On a contradiction the first PSBT is used. */
export function* combinePsbtsSteps(first: Psbt, others: ReadonlyArray<Psbt>): Steps<Psbt | undefined> {
  if (others.some(({ transaction }) => !equal(transaction.txid, first.transaction.txid))) return undefined
  let combined = first
  for (const other of others) combined = yield* mergePsbts(combined, other)
  return combined
}

/** An input for another transaction. Its signatures are removed: they are not valid there. */
const unsigned = (input: PsbtInput): PsbtInput => ({
  ...input,
  partialSignatures: EMPTY_INPUT.partialSignatures,
  finalScriptSig: undefined,
  finalScriptWitness: undefined,
  taprootKeySignature: undefined,
  taprootScriptSignatures: EMPTY_INPUT.taprootScriptSignatures,
  musig2Nonces: EMPTY_INPUT.musig2Nonces,
  musig2Signatures: EMPTY_INPUT.musig2Signatures
})

const all = <A>(maps: ReadonlyArray<Records<A>>): Records<A> => maps.reduce<Records<A>>(both, NO_RECORDS)

/** Reorders the items of a list, so that their positions do not show which PSBT a coin comes from. */
export type Shuffle = <A>(items: ReadonlyArray<A>) => ReadonlyArray<A>

/**
 * Without signatures, with the highest version, at least 1, and the lowest lock time. Upstream
 * `rpc/rawtransaction.cpp`, `joinpsbts`.
 */
export function* joinPsbtsSteps(
  psbts: ReadonlyArray<Psbt>,
  shuffle: Shuffle
): Steps<{ readonly psbt: Psbt } | { readonly error: string }> {
  const seen = new Set<string>()
  for (const { inputs } of psbts.map(({ transaction }) => transaction)) {
    for (const { prevout } of inputs) {
      yield
      if (seen.size !== seen.add(outpointKey(prevout)).size) continue
      return { error: `Input ${outpointText(prevout)} exists in multiple PSBTs` }
    }
  }
  const parts = psbts.flatMap((psbt) =>
    psbt.transaction.inputs.flatMap((input, n) => {
      const map = psbt.inputs[n]
      return map === undefined ? [] : [{ input, map }]
    })
  )
  yield
  const inputs = shuffle(yield* mapSteps(parts, ({ input, map }) => ({ input, map: unsigned(map) })))
  yield
  const outputs = shuffle(psbts.flatMap((psbt) =>
    psbt.transaction.outputs.flatMap((output, n) => {
      const map = psbt.outputs[n]
      return map === undefined ? [] : [{ output, map }]
    })
  ))
  yield
  const transaction = makeTransaction({
    version: psbts.reduce((most, { transaction }) => Math.max(most, transaction.version), 1),
    lockTime: psbts.reduce((least, { transaction }) => Math.min(least, transaction.lockTime), 0xffffffff),
    inputs: inputs.map(({ input }) => input),
    outputs: outputs.map(({ output }) => output)
  })
  return {
    psbt: {
      transaction,
      xpubs: all(psbts.map(({ xpubs }) => xpubs)),
      inputs: inputs.map(({ map }) => map),
      outputs: outputs.map(({ map }) => map),
      proprietary: all(psbts.map(({ proprietary }) => proprietary)),
      unknown: all(psbts.map(({ unknown }) => unknown))
    }
  }
}
