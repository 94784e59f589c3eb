import { Effect } from "effect"
import { binaryString, type Bytes, concat } from "../../src/protocol/bytes.ts"
import { hash160 } from "../../src/protocol/hash.ts"
import { NAME_TX_VERSION, type NameOperation, nameScript } from "../../src/protocol/nameOperation.ts"
import { encodePsbt } from "../../src/protocol/psbt/encode.ts"
import { EMPTY_INPUT, EMPTY_OUTPUT, type Psbt, type PsbtInput, psbtOf } from "../../src/protocol/psbt/Psbt.ts"
import {
  makeTransaction,
  NO_WITNESS,
  outpoint,
  type Transaction,
  type TransactionOutput
} from "../../src/protocol/transaction.ts"
import { KeyRing } from "../../src/wallet/keys/KeyRing.ts"
import type { OwnScript } from "../../src/wallet/keys/WalletKeys.ts"
import type { ReviewKeys, Warning } from "../../src/wallet/signing/psbtReview.ts"
import { signPsbt } from "../../src/wallet/signing/signPsbt.ts"
import { about, imported, MASTER, MASTER_PUBLIC, PHRASE, request, taken } from "../wallet/keys/rings.ts"
import { text } from "./regtest.ts"

/** Renewals as PSBTs, and what a malicious maker may do to them. */

export const NAME = "d/cold"
export const VALUE = "{\"ip\":\"192.0.2.1\"}"
export const FEE = 40_000

/** How the wallet owns the coins of a renewal. */
export const OWNERS = ["legacy", "p2sh-segwit", "bech32", "2-of-3"] as const
export type OwnerKind = typeof OWNERS[number]

/** Of the three keys, the wallet has the private one of the first. */
const OTHERS = [`${MASTER_PUBLIC}/1/*`, `${MASTER_PUBLIC}/2/*`]

export const SHARED = `wsh(sortedmulti(2,${MASTER}/48h/0/*,${OTHERS.join(",")}))`

/** The words that every test knows, and a part in an owner of three keys. */
export const coldDocument = Effect.map(about, (document) => imported(document, request(SHARED, { range: [0, 19] })))

export const coldRing = Effect.flatMap(coldDocument, (document) => KeyRing.make(document, 20))

export { PHRASE }

export const keysOf = (ring: KeyRing): ReviewKeys => ({
  network: ring.network,
  own: (script) => ring.own(script),
  knowledge: ring.signer(undefined)
})

const scriptsOf = (ring: KeyRing, kind: OwnerKind): ReadonlyArray<Bytes> => {
  if (kind !== "2-of-3") return [0, 1, 2].map(() => taken(ring, kind).own.script)
  const shared = [...ring.all()].filter((own: OwnScript) =>
    own.parentDescriptor?.startsWith("wsh(sortedmulti") === true
  )
  return shared.slice(0, 3).map(({ script }) => script)
}

const inputOf = (prevout: Bytes, sequence = 0xfffffffd) => ({
  prevout,
  sequence,
  scriptSig: new Uint8Array(0),
  witness: NO_WITNESS
})

let made = 0

/** A transaction with these outputs; each differs. */
export const fundingOf = (...outputs: ReadonlyArray<TransactionOutput>): Transaction =>
  makeTransaction({
    version: NAME_TX_VERSION,
    lockTime: ++made,
    inputs: [inputOf(outpoint(new Uint8Array(32).fill(7), 0))],
    outputs
  })

export interface Renewal {
  readonly kind: OwnerKind
  readonly ring: KeyRing
  readonly psbt: Psbt
  /** Of the name, of the money and of the change. */
  readonly scripts: ReadonlyArray<Bytes>
}

export const update = (name = NAME, value = VALUE): NameOperation => ({
  op: "name_update",
  name: text(name),
  value: text(value)
})

export const NAME_COIN = 1_000_000
const MONEY = 500_000_000

/** A PSBT as `name_update` makes it, with another operation if given. */
export const renewalOf = (
  ring: KeyRing,
  kind: OwnerKind,
  { before = update(), after = update() }: { readonly before?: NameOperation; readonly after?: NameOperation } = {}
): Renewal => {
  const scripts = scriptsOf(ring, kind)
  const [owner, money, change] = scripts
  if (owner === undefined || money === undefined || change === undefined) throw new Error("no scripts")
  const named = fundingOf({ value: NAME_COIN, script: nameScript(before, owner) })
  const coins = fundingOf({ value: MONEY, script: money })
  const bare = psbtOf(makeTransaction({
    version: NAME_TX_VERSION,
    lockTime: 200,
    inputs: [inputOf(outpoint(named.txid, 0)), inputOf(outpoint(coins.txid, 0))],
    outputs: [
      { value: NAME_COIN, script: nameScript(after, owner) },
      { value: MONEY - FEE, script: change }
    ]
  }))
  const filled = {
    ...bare,
    inputs: [named, coins].map((nonWitnessUtxo): PsbtInput => ({ ...EMPTY_INPUT, nonWitnessUtxo }))
  }
  return { kind, ring, scripts, psbt: signPsbt(filled, ring.signer(undefined), { finalize: false }).psbt }
}

/** A script of nobody here. */
export const STRANGER = concat(Uint8Array.of(0, 20), hash160(text("a stranger")))

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

const noise = (bytes: string) => new Map([[binaryString(text(bytes)), { key: text(bytes), value: text("noise") }]])

const proprietary = new Map([
  [binaryString(text("\u00fc")), {
    key: concat(Uint8Array.of(0xfc, 1), text("x"), Uint8Array.of(1)),
    value: text("noise"),
    identifier: text("x"),
    subtype: 1
  }]
])

/** A signature of the right form, which signs nothing. */
const SIGNATURE = concat(
  Uint8Array.of(0x30, 6, 2, 1, 1, 2, 1, 1)
)

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
    make: ({ psbt }) => {
      const given = withOutput(psbt, 0, { script: nameScript(update(), STRANGER) })
      const { origin, pubkey } = firstOrigin(psbt)
      const origins = new Map([[binaryString(pubkey), { pubkey, origin }]])
      return { ...given, outputs: given.outputs.map((map, n) => n === 0 ? { ...map, origins } : map) }
    }
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
    make: ({ psbt }) => {
      const more = added(psbt, { value: 100_000, script: STRANGER })
      const { origin, pubkey } = firstOrigin(psbt)
      const origins = new Map([[binaryString(pubkey), { pubkey, origin }]])
      return { ...more, outputs: more.outputs.map((map, n) => n === 2 ? { ...map, origins } : map) }
    }
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
    make: ({ psbt }) => {
      const { pubkey } = firstOrigin(psbt)
      const signature = concat(SIGNATURE, Uint8Array.of(type))
      return withInput(psbt, 1, {
        partialSignatures: new Map([[binaryString(hash160(pubkey)), { pubkey, signature }]])
      })
    }
  })),
  {
    what: "a signature that signs nothing",
    said: "wrong-signature",
    make: ({ psbt }) => {
      const { pubkey } = firstOrigin(psbt)
      const signature = concat(SIGNATURE, Uint8Array.of(1))
      return withInput(psbt, 1, {
        partialSignatures: new Map([[binaryString(hash160(pubkey)), { pubkey, signature }]])
      })
    }
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
    make: ({ psbt }) => {
      const { origin, pubkey } = firstOrigin(psbt)
      const origins = new Map([[binaryString(pubkey), {
        pubkey,
        origin: { ...origin, fingerprint: Uint8Array.of(1, 2, 3, 4) }
      }]])
      return { ...psbt, outputs: psbt.outputs.map((map, n) => n === 1 ? { ...map, origins } : map) }
    }
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
