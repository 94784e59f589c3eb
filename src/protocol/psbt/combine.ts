import { displayHash, equal } from "../bytes.ts"
import { mapSteps, runSteps, type Steps } from "../steps.ts"
import { makeTransaction, outpointKey, prevoutIndex, prevoutTxid } from "../transaction.ts"
import { EMPTY_INPUT, type Psbt, type PsbtInput, type PsbtMap, type PsbtOutput, type Records } from "./Psbt.ts"

/** Combines PSBTs: of one transaction (the combiner of BIP 174), or of several. Upstream `psbt.cpp`, `Merge`. */

/** The records of both. If both have one, the first one's is used. */
const both = <A>(a: Records<A>, b: Records<A>): Records<A> => b.size === 0 ? a : new Map([...b, ...a])

const mergeMaps = <M extends PsbtMap>(a: M, b: M): M => ({
  ...a,
  redeemScript: a.redeemScript ?? b.redeemScript,
  witnessScript: a.witnessScript ?? b.witnessScript,
  origins: both(a.origins, b.origins),
  taprootInternalKey: a.taprootInternalKey ?? b.taprootInternalKey,
  taprootOrigins: both(a.taprootOrigins, b.taprootOrigins),
  musig2Participants: both(a.musig2Participants, b.musig2Participants),
  proprietary: both(a.proprietary, b.proprietary),
  unknown: both(a.unknown, b.unknown)
})

const mergeInputs = (a: PsbtInput, b: PsbtInput): PsbtInput => ({
  ...mergeMaps(a, b),
  nonWitnessUtxo: a.nonWitnessUtxo ?? b.nonWitnessUtxo,
  witnessUtxo: a.witnessUtxo ?? b.witnessUtxo,
  partialSignatures: both(a.partialSignatures, b.partialSignatures),
  sighashType: a.sighashType ?? b.sighashType,
  finalScriptSig: a.finalScriptSig ?? b.finalScriptSig,
  finalScriptWitness: a.finalScriptWitness ?? b.finalScriptWitness,
  preimages: {
    ripemd160: both(a.preimages.ripemd160, b.preimages.ripemd160),
    sha256: both(a.preimages.sha256, b.preimages.sha256),
    hash160: both(a.preimages.hash160, b.preimages.hash160),
    hash256: both(a.preimages.hash256, b.preimages.hash256)
  },
  taprootKeySignature: a.taprootKeySignature ?? b.taprootKeySignature,
  taprootScriptSignatures: both(a.taprootScriptSignatures, b.taprootScriptSignatures),
  taprootLeaves: both(a.taprootLeaves, b.taprootLeaves),
  taprootMerkleRoot: a.taprootMerkleRoot ?? b.taprootMerkleRoot,
  musig2Nonces: both(a.musig2Nonces, b.musig2Nonces),
  musig2Signatures: both(a.musig2Signatures, b.musig2Signatures)
})

const mergeOutputs = (a: PsbtOutput, b: PsbtOutput): PsbtOutput => ({
  ...mergeMaps(a, b),
  taprootTree: a.taprootTree.length > 0 ? a.taprootTree : b.taprootTree
})

function* mergePsbts(a: Psbt, b: Psbt): Steps<Psbt> {
  return {
    transaction: a.transaction,
    xpubs: both(a.xpubs, b.xpubs),
    inputs: yield* mapSteps(a.inputs, (input, n) => {
      const other = b.inputs[n]
      return other === undefined ? input : mergeInputs(input, other)
    }),
    outputs: yield* mapSteps(a.outputs, (output, n) => {
      const other = b.outputs[n]
      return other === undefined ? output : mergeOutputs(output, other)
    }),
    proprietary: both(a.proprietary, b.proprietary),
    unknown: both(a.unknown, b.unknown)
  }
}

/**
 * Combines several PSBTs of one transaction; `undefined` if their transactions differ. On a contradiction the first
 * PSBT is used.
 */
export function* combinePsbtsSteps(first: Psbt, others: ReadonlyArray<Psbt>): Steps<Psbt | undefined> {
  if (others.some(({ transaction }) => !equal(transaction.txid, first.transaction.txid))) return undefined
  let combined = first
  for (const other of others) combined = yield* mergePsbts(combined, other)
  return combined
}

/** The same in one step. */
export const combinePsbts = (first: Psbt, ...others: ReadonlyArray<Psbt>): Psbt | undefined =>
  runSteps(combinePsbtsSteps(first, others))

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

/** Reorders the items of a list, so that their positions do not show which PSBT a coin comes from. */
export type Shuffle = <A>(items: ReadonlyArray<A>) => ReadonlyArray<A>

/**
 * Joins several transactions into one, without their signatures. It has the highest of their versions, at least 1, and
 * the lowest of their lock times. `shuffle` orders the inputs and outputs. Upstream `rpc/rawtransaction.cpp`,
 * `joinpsbts`.
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
      return { error: `Input ${displayHash(prevoutTxid(prevout))}:${prevoutIndex(prevout)} exists in multiple PSBTs` }
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
      xpubs: psbts.map(({ xpubs }) => xpubs).reduce(both, new Map()),
      inputs: inputs.map(({ map }) => map),
      outputs: outputs.map(({ map }) => map),
      proprietary: psbts.map(({ proprietary }) => proprietary).reduce(both, new Map()),
      unknown: psbts.map(({ unknown }) => unknown).reduce(both, new Map())
    }
  }
}

/** The same in one step. */
export const joinPsbts = (
  psbts: ReadonlyArray<Psbt>,
  shuffle: Shuffle
): { readonly psbt: Psbt } | { readonly error: string } => runSteps(joinPsbtsSteps(psbts, shuffle))
