import { FastCheck } from "effect"
import { binaryString, type Bytes, concat } from "../../src/protocol/bytes.ts"
import { hash160 } from "../../src/protocol/hash.ts"
import { shareKey, sortedHashes } from "../../src/protocol/psbt/codecs.ts"
import {
  EMPTY_INPUT,
  EMPTY_OUTPUT,
  type KeyOrigin,
  leafKey,
  type Psbt,
  type PsbtInput,
  type PsbtMap,
  type PsbtOutput,
  type Records,
  withoutSignatures
} from "../../src/protocol/psbt/Psbt.ts"
import { makeTransaction, NO_WITNESS, outpoint } from "../../src/protocol/transaction.ts"
import { isSignature } from "../../src/wallet/signing/psbtText.ts"
import { pubkeyOf, secretKeys, signEcdsa } from "./keys.ts"

/** PSBTs of any content, for properties. */

const bytes = (minLength: number, maxLength = minLength): FastCheck.Arbitrary<Uint8Array> =>
  FastCheck.uint8Array({ minLength, maxLength })

/** 32 bytes that are not all zeros, which would mean that there is none. */
const hash = bytes(32).map((value) => value.with(0, 1))

const optional = <A>(of: FastCheck.Arbitrary<A>): FastCheck.Arbitrary<A | undefined> =>
  FastCheck.option(of, { nil: undefined })

const records = <A>(of: FastCheck.Arbitrary<A>, key: (record: A) => Bytes | string): FastCheck.Arbitrary<Records<A>> =>
  FastCheck.array(of, { maxLength: 3 }).map((list) =>
    new Map(list.map((record) => {
      const of = key(record)
      return [typeof of === "string" ? of : binaryString(of), record]
    }))
  )

const origin: FastCheck.Arbitrary<KeyOrigin> = FastCheck.record({
  fingerprint: bytes(4),
  path: FastCheck.array(FastCheck.nat({ max: 0xffffffff }), { maxLength: 4 })
})

const pubkey = FastCheck.tuple(secretKeys, FastCheck.boolean()).map(([secret, compressed]) =>
  pubkeyOf(secret, compressed)
)
const compressed = secretKeys.map((secret) => pubkeyOf(secret))

/** Keys of unknown types. */
const unknown = records(
  FastCheck.record({ key: bytes(1, 6).map((key) => concat(Uint8Array.of(0x77), key)), value: bytes(0, 20) }),
  ({ key }) => key
)

const proprietary = records(
  FastCheck.record({
    identifier: bytes(0, 5),
    subtype: FastCheck.nat({ max: 0xfc }),
    rest: bytes(0, 5),
    value: bytes(0, 20)
  })
    .map(({ identifier, rest, subtype, value }) => ({
      identifier,
      subtype,
      key: concat(Uint8Array.of(0xfc, identifier.length), identifier, Uint8Array.of(subtype), rest),
      value
    })),
  ({ key }) => key
)

const script = bytes(1, 30)

const shared: FastCheck.Arbitrary<PsbtMap> = FastCheck.record({
  redeemScript: optional(script),
  witnessScript: optional(script),
  origins: records(FastCheck.record({ pubkey, origin }), (record) => record.pubkey),
  taprootInternalKey: optional(hash),
  taprootOrigins: records(
    FastCheck.record({
      xonly: bytes(32),
      leafHashes: FastCheck.array(bytes(32), { maxLength: 3 }).map(sortedHashes),
      origin
    }),
    ({ xonly }) => xonly
  ),
  musig2Participants: records(
    FastCheck.record({ aggregate: compressed, participants: FastCheck.array(compressed, { maxLength: 3 }) }),
    ({ aggregate }) => aggregate
  ),
  proprietary,
  unknown
})

const partialSignature = FastCheck.tuple(secretKeys, FastCheck.boolean(), FastCheck.constantFrom(1, 2, 3, 0x81)).map(
  ([secret, isCompressed, hashType]) => ({
    pubkey: pubkeyOf(secret, isCompressed),
    signature: signEcdsa(new Uint8Array(32).fill(7), secret, hashType)
  })
).filter(({ signature }) => isSignature(signature))

const preimages = (size: number) =>
  records(FastCheck.record({ hash: bytes(size), preimage: bytes(0, 10) }), ({ hash }) => hash)

const controlBlock = FastCheck.nat({ max: 3 }).chain((steps) => bytes(33 + 32 * steps))

const shares = (size: number) =>
  records(
    FastCheck.record({ participant: compressed, aggregate: compressed, leafHash: optional(hash), value: bytes(size) }),
    shareKey
  )

/** The fields of an input that is not finalized. */
const unfinished: FastCheck.Arbitrary<PsbtInput> = FastCheck.record({
  map: shared,
  input: FastCheck.record({
    witnessUtxo: optional(FastCheck.record({ value: FastCheck.nat(), script: bytes(0, 30) })),
    partialSignatures: records(partialSignature, (record) => hash160(record.pubkey)),
    sighashType: optional(FastCheck.integer()),
    taprootKeySignature: optional(bytes(64, 65)),
    taprootScriptSignatures: records(
      FastCheck.record({ xonly: bytes(32), leafHash: bytes(32), signature: bytes(64, 65) }),
      ({ leafHash, xonly }) => concat(xonly, leafHash)
    ),
    taprootLeaves: records(
      FastCheck.record({
        script: bytes(0, 9),
        leafVersion: FastCheck.constantFrom(0xc0, 0x50),
        controlBlocks: controlBlock.map((one) => [one])
      }),
      leafKey
    ),
    taprootMerkleRoot: optional(hash),
    musig2Nonces: shares(66),
    musig2Signatures: shares(32),
    ripemd160: preimages(20),
    sha256: preimages(32),
    hash160: preimages(20),
    hash256: preimages(32)
  })
}).map(({ input, map }) => ({ ...EMPTY_INPUT, ...map, ...input }))

const finished: FastCheck.Arbitrary<PsbtInput> = FastCheck.record({
  finalScriptSig: bytes(1, 20),
  finalScriptWitness: optional(FastCheck.array(bytes(0, 20), { minLength: 1, maxLength: 3 })),
  proprietary,
  unknown
}).map((input) => ({ ...EMPTY_INPUT, ...input }))

const output: FastCheck.Arbitrary<PsbtOutput> = FastCheck.tuple(
  shared,
  FastCheck.constantFrom<ReadonlyArray<number> | undefined>(undefined, [0], [1, 1], [1, 2, 2], [3, 3, 2, 1]),
  script
).map(([map, depths, leaf]) => ({
  ...EMPTY_OUTPUT,
  ...map,
  taprootTree: depths?.map((depth) => ({ depth, leafVersion: 0xc0, script: leaf }))
}))

/** PSBTs whose inputs, where they have a whole transaction, spend an output of it. */
export const psbts: FastCheck.Arbitrary<Psbt> = FastCheck.record({
  inputs: FastCheck.array(FastCheck.tuple(FastCheck.oneof(unfinished, finished), FastCheck.boolean()), {
    maxLength: 3
  }),
  outputs: FastCheck.array(output, { maxLength: 3 }),
  xpubs: FastCheck.array(FastCheck.tuple(bytes(45), compressed, origin), { maxLength: 2 }),
  proprietary,
  unknown
}).map(({ inputs, outputs, proprietary, unknown, xpubs }) => {
  const previous = inputs.map((_, n) =>
    makeTransaction({
      version: 2,
      inputs: [{
        prevout: outpoint(new Uint8Array(32).fill(9), n),
        scriptSig: new Uint8Array(0),
        sequence: 1,
        witness: NO_WITNESS
      }],
      outputs: [{ value: 5, script: Uint8Array.of(0x51) }],
      lockTime: n
    })
  )
  const transaction = withoutSignatures(makeTransaction({
    version: 2,
    inputs: previous.map(({ txid }) => ({
      prevout: outpoint(txid, 0),
      scriptSig: new Uint8Array(0),
      sequence: 3,
      witness: NO_WITNESS
    })),
    outputs: outputs.map((_, value) => ({ value, script: Uint8Array.of(0x52) })),
    lockTime: 4
  }))
  return {
    transaction,
    xpubs: new Map(xpubs.map(([head, key, from]) => [
      binaryString(concat(key, head.subarray(13))),
      { xpub: concat(head, key), origin: from }
    ])),
    inputs: inputs.map(([input, whole], n) => ({ ...input, nonWitnessUtxo: whole ? previous[n] : undefined })),
    outputs,
    proprietary,
    unknown
  }
})
