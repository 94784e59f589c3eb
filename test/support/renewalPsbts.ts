import { Effect } from "effect"
import type { Bytes } from "../../src/protocol/bytes.ts"
import { NAME_TX_VERSION, type NameOperation, nameScript } from "../../src/protocol/nameOperation.ts"
import { EMPTY_INPUT, type Psbt, type PsbtInput, psbtOf } from "../../src/protocol/psbt/Psbt.ts"
import {
  makeTransaction,
  NO_WITNESS,
  outpoint,
  type Transaction,
  type TransactionOutput
} from "../../src/protocol/transaction.ts"
import { KeyRing } from "../../src/wallet/keys/KeyRing.ts"
import type { OwnScript } from "../../src/wallet/keys/WalletKeys.ts"
import type { ReviewKeys } from "../../src/wallet/signing/psbtReview.ts"
import { signPsbt } from "../../src/wallet/signing/signPsbt.ts"
import { about, imported, MASTER, MASTER_PUBLIC, request, taken } from "../wallet/keys/rings.ts"
import { text } from "./regtest.ts"

/** Renewals as PSBTs. */

export const NAME = "d/cold"
export const VALUE = "{\"ip\":\"192.0.2.1\"}"
export const FEE = 40_000

/** How the wallet owns the coins of a renewal. */
export const OWNERS = ["legacy", "p2sh-segwit", "bech32", "2-of-3"] as const
export type OwnerKind = typeof OWNERS[number]

/** Of the three keys, the wallet has the private one of the first. */
const OTHERS = [`${MASTER_PUBLIC}/1/*`, `${MASTER_PUBLIC}/2/*`]

const SHARED = `wsh(sortedmulti(2,${MASTER}/48h/0/*,${OTHERS.join(",")}))`

/** The words that every test knows, and a part in an owner of three keys. */
export const coldDocument = Effect.map(about, (document) => imported(document, request(SHARED, { range: [0, 19] })))

export const coldRing = Effect.flatMap(coldDocument, (document) => KeyRing.make(document, 20))

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

export const inputOf = (prevout: Bytes, sequence = 0xfffffffd) => ({
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
export const MONEY = 500_000_000

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
