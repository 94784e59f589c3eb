import { feeOf } from "../../../src/mempool/policy/feeRate.ts"
import { concat } from "../../../src/protocol/bytes.ts"
import { hash256 } from "../../../src/protocol/hash.ts"
import { outpoint, outpointKey } from "../../../src/protocol/transaction.ts"
import type { OwnScript } from "../../../src/wallet/keys/WalletKeys.ts"
import type { WalletCoin } from "../../../src/wallet/ledger/WalletLedger.ts"
import type { WeighedCoin } from "../../../src/wallet/payments/Draft.ts"

/** Coins for tests without a wallet. */

export const P2PKH = concat(Uint8Array.of(0x76, 0xa9, 20), new Uint8Array(20).fill(7), Uint8Array.of(0x88, 0xac))
export const P2WPKH = concat(Uint8Array.of(0, 20), new Uint8Array(20).fill(8))

/** Weight units of signed inputs. */
export const P2PKH_WEIGHT = 4 * 148
export const P2WPKH_WEIGHT = 4 * 41 + 108

export const ownScript = (overrides: Partial<OwnScript> = {}): OwnScript => ({
  script: P2PKH,
  address: "n1KPaxkVmhFtPmVq2B9eF4FV82ESyQVBBY",
  type: "legacy",
  change: false,
  spendable: true,
  publicKey: undefined,
  path: undefined,
  masterFingerprint: undefined,
  descriptor: "",
  parentDescriptor: undefined,
  redeemScript: undefined,
  witnessScript: undefined,
  timestamp: 0,
  ...overrides
})

export const coin = (id: number, value: number, overrides: Partial<WalletCoin> = {}): WalletCoin => {
  const txid = hash256(Uint8Array.of(id, id >> 8))
  const own = overrides.own ?? ownScript()
  return {
    outpoint: outpointKey(outpoint(txid, 0)),
    txid,
    vout: 0,
    output: { value, script: own.script },
    own,
    name: undefined,
    height: 100,
    coinbase: false,
    trusted: true,
    safe: true,
    locked: false,
    expired: false,
    nameExpired: false,
    ...overrides
  }
}

export const legacy = (id: number, value: number, overrides: Partial<WalletCoin> = {}): WeighedCoin => ({
  coin: coin(id, value, overrides),
  weight: P2PKH_WEIGHT
})

export const segwit = (id: number, value: number, overrides: Partial<WalletCoin> = {}): WeighedCoin => ({
  coin: coin(id, value, { own: ownScript({ script: P2WPKH, type: "bech32" }), ...overrides }),
  weight: P2WPKH_WEIGHT
})

/** The fee of an input. */
export const inputFee = ({ weight }: WeighedCoin, feeRate: number): number => feeOf(feeRate, Math.ceil(weight / 4))

/** Random numbers from 0 to below 1 from a seed (mulberry32). */
export const seeded = (seed: number): () => number => {
  let state = seed >>> 0
  return () => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4294967296
  }
}
