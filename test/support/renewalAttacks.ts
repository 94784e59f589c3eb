import { binaryString, type Bytes, concat } from "../../src/protocol/bytes.ts"
import { hash160 } from "../../src/protocol/hash.ts"
import { nameScript } from "../../src/protocol/nameOperation.ts"
import { encodePsbt } from "../../src/protocol/psbt/encode.ts"
import { EMPTY_INPUT, EMPTY_OUTPUT, type Psbt, type PsbtInput } from "../../src/protocol/psbt/Psbt.ts"
import { makeTransaction, outpoint, type Transaction, type TransactionOutput } from "../../src/protocol/transaction.ts"
import type { Warning } from "../../src/wallet/signing/psbtReview.ts"
import { text } from "./regtest.ts"
import { FEE, fundingOf, inputOf, MONEY, NAME, NAME_COIN, type Renewal, update, VALUE } from "./renewalPsbts.ts"

/** What a malicious maker may do to the PSBT of a renewal. */

/** A script of nobody here. */
const STRANGER = concat(Uint8Array.of(0, 20), hash160(text("a stranger")))

type Parts = Pick<Transaction, "version" | "lockTime" | "inputs" | "outputs">

/** With another transaction, and maps for all its inputs and outputs. */
const changed = (psbt: Psbt, change: (parts: Parts) => Partial<Parts>): Psbt => {
  const { inputs, lockTime, outputs, version } = psbt.transaction
  const transaction = makeTransaction({ inputs, lockTime, outputs, version, ...change(psbt.transaction) })
  return {
    ...psbt,
    transaction,
    inputs: transaction.inputs.map((_, n) => psbt.inputs[n] ?? EMPTY_INPUT),
    outputs: transaction.outputs.map((_, n) => psbt.outputs[n] ?? EMPTY_OUTPUT)
  }
}

const withOutput = (psbt: Psbt, at: number, output: Partial<TransactionOutput>): Psbt =>
  changed(psbt, ({ outputs }) => ({ outputs: outputs.map((each, n) => n === at ? { ...each, ...output } : each) }))

const withInput = (psbt: Psbt, at: number, input: Partial<PsbtInput>): Psbt => ({
  ...psbt,
  inputs: psbt.inputs.map((each, n) => n === at ? { ...each, ...input } : each)
})

/** One more output, whose value is taken from the change. */
const added = (psbt: Psbt, output: TransactionOutput): Psbt =>
  changed(psbt, ({ outputs }) => ({
    outputs: [
      ...outputs.map((each, n) => n === 1 ? { ...each, value: each.value - output.value } : each),
      output
    ]
  }))

/** One more input. */
const spending = (psbt: Psbt, coins: Transaction): Psbt => {
  const more = changed(psbt, ({ inputs }) => ({ inputs: [...inputs, inputOf(outpoint(coins.txid, 0))] }))
  return withInput(more, psbt.inputs.length, { nonWitnessUtxo: coins })
}

const spent = (psbt: Psbt, n: number): TransactionOutput => {
  const found = psbt.inputs[n]?.nonWitnessUtxo?.outputs[0]
  if (found === undefined) throw new Error("no coin")
  return found
}

const firstOrigin = (psbt: Psbt) => {
  const [entry] = psbt.outputs[1]?.origins.values() ?? []
  if (entry === undefined) throw new Error("the change has no origin")
  return entry
}

/** With the key origin of the change, or a forged one, at an output. */
const claiming = (psbt: Psbt, at: number, forged: Partial<ReturnType<typeof firstOrigin>["origin"]> = {}): Psbt => {
  const { origin, pubkey } = firstOrigin(psbt)
  const origins = new Map([[binaryString(pubkey), { pubkey, origin: { ...origin, ...forged } }]])
  return { ...psbt, outputs: psbt.outputs.map((map, n) => n === at ? { ...map, origins } : map) }
}

const noise = (bytes: string) => new Map([[binaryString(text(bytes)), { key: text(bytes), value: text("noise") }]])

const proprietary = new Map([
  [binaryString(text("\u00fc")), {
    key: concat(Uint8Array.of(0xfc, 1), text("x"), Uint8Array.of(1)),
    value: text("noise"),
    identifier: text("x"),
    subtype: 1
  }]
])

/** With a signature of the right form that signs nothing. */
const withSignature = (psbt: Psbt, hashType: number): Psbt => {
  const { pubkey } = firstOrigin(psbt)
  const signature = Uint8Array.of(0x30, 6, 2, 1, 1, 2, 1, 1, hashType)
  return withInput(psbt, 1, { partialSignatures: new Map([[binaryString(hash160(pubkey)), { pubkey, signature }]]) })
}

export interface Attack {
  readonly what: string
  /** The warning, an error of the reader, or a line that says it without a warning. */
  readonly said: Warning["code"] | { readonly error: RegExp } | { readonly line: RegExp }
  readonly make: (renewal: Renewal) => Psbt | Bytes
}

const HASH_TYPES = [0x02, 0x03, 0x81, 0x82, 0x83, 0x41]

/** OP_NOP, OP_2DROP and OP_DROP: all count as the name's, and only 2DROP DROP leaves the stack to the owner. */
const ODD_DROPS = [[0x6d, 0x6d], [0x6d, 0x75, 0x75], [0x75], [0x61], [0x6d, 0x75, 0x61]]

const oddScript = (drops: ReadonlyArray<number>, owner: Bytes): Bytes => {
  const usual = nameScript(update(), owner)
  return concat(usual.subarray(0, usual.length - owner.length - 2), Uint8Array.from(drops), owner)
}

const psbtAttacks: ReadonlyArray<Attack> = [
  {
    what: "another name is set",
    said: "other-name",
    make: ({ psbt, scripts }) => withOutput(psbt, 0, { script: nameScript(update("d/other"), scripts[0] ?? STRANGER) })
  },
  {
    what: "another name with the same beginning is set",
    said: "other-name",
    make: ({ psbt, scripts }) =>
      withOutput(psbt, 0, { script: nameScript(update(`${NAME}\u202e`), scripts[0] ?? STRANGER) })
  },
  {
    what: "the value is changed",
    said: { line: /^Changes d\/cold$/ },
    make: ({ psbt, scripts }) =>
      withOutput(psbt, 0, { script: nameScript(update(NAME, `${VALUE} `), scripts[0] ?? STRANGER) })
  },
  {
    what: "the value is emptied",
    said: { line: /^ {2}New value +\(empty\)$/ },
    make: ({ psbt, scripts }) => withOutput(psbt, 0, { script: nameScript(update(NAME, ""), scripts[0] ?? STRANGER) })
  },
  ...ODD_DROPS.map((drops): Attack => ({
    what: `a name script that drops in another way: ${drops.join(" ")}`,
    said: "odd-script",
    make: ({ psbt, scripts }) => withOutput(psbt, 0, { script: oddScript(drops, scripts[0] ?? STRANGER) })
  })),
  {
    what: "the name is for another owner",
    said: "given-away",
    make: ({ psbt }) => withOutput(psbt, 0, { script: nameScript(update(), STRANGER) })
  },
  {
    what: "the name is for another owner, with a key origin of this wallet",
    said: "claims-key",
    make: ({ psbt }) => claiming(withOutput(psbt, 0, { script: nameScript(update(), STRANGER) }), 0)
  },
  { what: "a hidden output", said: "stranger", make: ({ psbt }) => added(psbt, { value: 100_000, script: STRANGER }) },
  {
    what: "a hidden output of nothing",
    said: "stranger",
    make: ({ psbt }) => added(psbt, { value: 0, script: STRANGER })
  },
  {
    what: "a hidden output that nobody can spend",
    said: "stranger",
    make: ({ psbt }) => added(psbt, { value: 5_000, script: Uint8Array.of(0x6a, 1, 1) })
  },
  {
    what: "a hidden output with a script without an address",
    said: "stranger",
    make: ({ psbt }) => added(psbt, { value: 5_000, script: Uint8Array.of(0x51) })
  },
  {
    what: "a hidden output that claims a key of this wallet",
    said: "claims-key",
    make: ({ psbt }) => claiming(added(psbt, { value: 100_000, script: STRANGER }), 2)
  },
  { what: "change for a stranger", said: "stranger", make: ({ psbt }) => withOutput(psbt, 1, { script: STRANGER }) },
  {
    what: "change for a stranger, with the origin of the wallet's change",
    said: "claims-key",
    make: ({ psbt }) => withOutput(psbt, 1, { script: STRANGER })
  },
  { what: "a fee of 1 NMC", said: "high-fee", make: ({ psbt }) => withOutput(psbt, 1, { value: MONEY - 100_000_000 }) },
  {
    what: "all change as fee",
    said: "high-fee",
    make: ({ psbt }) => changed(psbt, ({ outputs }) => ({ outputs: outputs.slice(0, 1) }))
  },
  {
    what: "a fee of 0.05 NMC",
    said: { line: /^ {2}Fee +0\.05 NMC$/ },
    make: ({ psbt }) => withOutput(psbt, 1, { value: MONEY - 5_000_000 })
  },
  {
    what: "more is paid than spent",
    said: "overspent",
    make: ({ psbt }) => withOutput(psbt, 1, { value: MONEY + 2 * NAME_COIN })
  },
  ...[0, 1].flatMap((at) =>
    HASH_TYPES.map((sighashType): Attack => ({
      what: `input ${at} asks for the hash type ${sighashType}`,
      said: "hash-type",
      make: ({ psbt }) => withInput(psbt, at, { sighashType })
    }))
  ),
  ...[0x02, 0x83].map((type): Attack => ({
    what: `a signature of the hash type ${type}`,
    said: "hash-type",
    make: ({ psbt }) => withSignature(psbt, type)
  })),
  {
    what: "a signature that signs nothing",
    said: "wrong-signature",
    make: ({ psbt }) => withSignature(psbt, 1)
  },
  {
    what: "final scripts that spend nothing",
    said: "wrong-signature",
    make: ({ psbt }) => withInput(psbt, 0, { finalScriptSig: Uint8Array.of(0x51) })
  },
  {
    what: "an amount without its transaction",
    said: "unproven-fee",
    make: ({ psbt }) => withInput(psbt, 1, { nonWitnessUtxo: undefined, witnessUtxo: spent(psbt, 1) })
  },
  {
    what: "a false amount without its transaction",
    said: "unproven-fee",
    make: ({ psbt }) =>
      withInput(psbt, 1, { nonWitnessUtxo: undefined, witnessUtxo: { ...spent(psbt, 1), value: MONEY - 30_000 } })
  },
  {
    what: "a false amount beside its transaction",
    said: "two-coins",
    make: ({ psbt }) => withInput(psbt, 1, { witnessUtxo: { ...spent(psbt, 1), value: MONEY - 50_000 } })
  },
  {
    what: "a false script beside its transaction",
    said: "two-coins",
    make: ({ psbt }) => withInput(psbt, 0, { witnessUtxo: { ...spent(psbt, 0), script: STRANGER } })
  },
  ...[0, 1].map((at): Attack => ({
    what: `input ${at} without its coin`,
    said: "unknown-coin",
    make: ({ psbt }) => withInput(psbt, at, { nonWitnessUtxo: undefined, witnessUtxo: undefined })
  })),
  {
    what: "a coin of another owner",
    said: "foreign-input",
    make: ({ psbt }) => spending(psbt, fundingOf({ value: FEE, script: STRANGER }))
  },
  {
    what: "the same coin twice",
    said: "spent-twice",
    make: ({ psbt }) => {
      const more = changed(psbt, ({ inputs }) => ({ inputs: [...inputs, ...inputs.slice(1)] }))
      return withInput(more, 2, psbt.inputs[1] ?? EMPTY_INPUT)
    }
  },
  {
    what: "no output keeps the name",
    said: "name-lost",
    make: ({ psbt, scripts }) => withOutput(psbt, 0, { script: scripts[0] ?? STRANGER })
  },
  {
    what: "a commitment in place of the name",
    said: "name-lost",
    make: ({ psbt, scripts }) =>
      withOutput(psbt, 0, {
        script: nameScript({ op: "name_new", commitment: new Uint8Array(20) }, scripts[0] ?? STRANGER)
      })
  },
  {
    what: "a registration in place of the renewal",
    said: "wrong-commitment",
    make: ({ psbt, scripts }) =>
      withOutput(psbt, 0, {
        script: nameScript(
          { op: "name_firstupdate", name: text(NAME), rand: new Uint8Array(20), value: text(VALUE) },
          scripts[0] ?? STRANGER
        )
      })
  },
  {
    what: "a second name is set",
    said: "many-names",
    make: ({ psbt, scripts }) =>
      added(psbt, { value: NAME_COIN, script: nameScript(update("d/second"), scripts[1] ?? STRANGER) })
  },
  {
    what: "a second name is spent",
    said: "many-names",
    make: ({ psbt, scripts }) =>
      spending(psbt, fundingOf({ value: FEE, script: nameScript(update("d/second"), scripts[1] ?? STRANGER) }))
  },
  {
    what: "coins are taken out of the name",
    said: "unlocks",
    make: ({ psbt }) => withOutput(psbt, 0, { value: 500_000 })
  },
  ...[1, 2, 0x7101].map((version): Attack => ({
    what: `version ${version}`,
    said: "version",
    make: ({ psbt }) => changed(psbt, () => ({ version }))
  })),
  ...[0, 0x40_0010].map((sequence): Attack => ({
    what: `a relative lock of ${sequence}`,
    said: "waits",
    make: ({ psbt }) =>
      changed(psbt, ({ inputs }) => ({ inputs: inputs.map((each, n) => n === 0 ? { ...each, sequence } : each) }))
  })),
  {
    what: "a lock time in years",
    said: "waits-for-time",
    make: ({ psbt }) => changed(psbt, () => ({ lockTime: 2_000_000_000 }))
  },
  ...[0, 1].map((at): Attack => ({
    what: `a false key origin of input ${at}`,
    said: "other-key",
    make: ({ psbt }) => {
      const { origin, pubkey } = firstOrigin(psbt)
      const forged = { ...origin, path: [...origin.path, 7] }
      return withInput(psbt, at, { origins: new Map([[binaryString(pubkey), { pubkey, origin: forged }]]) })
    }
  })),
  {
    what: "a false key origin of the change",
    said: "other-key",
    make: ({ psbt }) => claiming(psbt, 1, { fingerprint: Uint8Array.of(1, 2, 3, 4) })
  },
  { what: "unknown records", said: "unknown-records", make: ({ psbt }) => ({ ...psbt, unknown: noise("w1") }) },
  {
    what: "unknown records of an input",
    said: "unknown-records",
    make: ({ psbt }) => withInput(psbt, 0, { unknown: noise("w2") })
  },
  { what: "proprietary records", said: "unknown-records", make: ({ psbt }) => withInput(psbt, 1, { proprietary }) }
]

/** The length of the first record of the global map: the unsigned transaction. */
const firstRecord = (bytes: Bytes): Bytes => {
  const size = bytes[7] ?? 0
  const [head, length] = size < 0xfd ? [8, size] : [10, (bytes[8] ?? 0) + 256 * (bytes[9] ?? 0)]
  return bytes.subarray(5, head + length)
}

const byteAttacks: ReadonlyArray<Attack> = [
  {
    what: "the transaction twice",
    said: { error: /Duplicate Key/ },
    make: ({ psbt }) => {
      const bytes = encodePsbt(psbt)
      const record = firstRecord(bytes)
      return concat(bytes.subarray(0, 5), record, record, bytes.subarray(5 + record.length))
    }
  },
  {
    what: "the previous transaction of another coin",
    said: { error: /Non-witness UTXO does not match outpoint hash/ },
    make: ({ psbt }) =>
      withInput(psbt, 1, { nonWitnessUtxo: fundingOf({ value: MONEY, script: spent(psbt, 1).script }) })
  },
  {
    what: "an output that its previous transaction does not have",
    said: { error: /output index that does not exist/ },
    make: ({ psbt }) =>
      changed(psbt, ({ inputs }) => ({
        inputs: inputs.map((each) => ({ ...each, prevout: outpoint(each.prevout.subarray(0, 32), 9) }))
      }))
  },
  {
    what: "bytes behind it",
    said: { error: /extra data/ },
    make: ({ psbt }) => concat(encodePsbt(psbt), text("more"))
  },
  { what: "a lost end", said: { error: /iostream error/ }, make: ({ psbt }) => encodePsbt(psbt).slice(0, -3) },
  { what: "another file", said: { error: /base64/ }, make: () => text("this is text") }
]

export const ATTACKS: ReadonlyArray<Attack> = [...psbtAttacks, ...byteAttacks]

export const attackBytes = (attack: Attack, renewal: Renewal): Bytes => {
  const made = attack.make(renewal)
  return made instanceof Uint8Array ? made : encodePsbt(made)
}
