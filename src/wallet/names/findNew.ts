import * as Effect from "effect/Effect"
import { type Bytes, equal } from "../../protocol/bytes.ts"
import type { OutpointKey } from "../../protocol/keys.ts"
import { nameCommitment, parseNameScript } from "../../protocol/nameOperation.ts"
import { outpoint, outpointKey } from "../../protocol/transaction.ts"
import type { StorageFailure } from "../../storage/errors.ts"
import type { KeysLocked, NameOperationRefused } from "../errors.ts"
import type { WalletCoin } from "../ledger/WalletLedger.ts"
import { entriesOf, isUnsent, UNSENT } from "./entries.ts"
import { type NameParts, saltOf, unavailable } from "./NameParts.ts"

/** Finds the NAME_NEW for a NAME_FIRSTUPDATE. reference/rpc.md 5.7; upstream `wallet/rpc/walletnames.cpp`. */

export interface OpenableNew {
  readonly outpoint: OutpointKey
  readonly rand: Bytes
}

/** In the search for a transaction's name output. */
const MAX_OUTPUTS = 1_000

const commitmentOf = ({ name }: WalletCoin): Bytes | undefined =>
  name?.operation.op === "name_new" ? name.operation.commitment : undefined

/** By given or stored salts, or salts from the wallet's keys, which alone recover a registration. */
export const findOwnNew = (
  parts: NameParts,
  name: Bytes,
  rand: Bytes | undefined
): Effect.Effect<{ readonly coin: WalletCoin; readonly rand: Bytes } | undefined, KeysLocked> =>
  Effect.gen(function*() {
    const { file, ledger } = parts
    const coins = ledger.coins().filter((coin) => commitmentOf(coin) !== undefined)
    const confirmedFirst = coins.sort((a, b) => (a.height ?? Infinity) - (b.height ?? Infinity))
    const kept = rand === undefined ? entriesOf(file.document, name).map((entry) => entry.rand) : [rand]
    for (const salt of kept) {
      const commitment = nameCommitment(salt, name)
      const coin = confirmedFirst.find((coin) => equal(commitmentOf(coin) ?? UNSENT, commitment))
      if (coin !== undefined) return { coin, rand: salt }
    }
    if (rand !== undefined) return undefined
    for (const coin of confirmedFirst) {
      const salt = yield* saltOf(parts, coin.own.script, name)
      if (salt !== undefined && equal(nameCommitment(salt, name), commitmentOf(coin) ?? UNSENT)) {
        return { coin, rand: salt }
      }
    }
    return undefined
  })

const scanForTxid = (
  parts: NameParts,
  name: Bytes,
  rand: Bytes | undefined
): Effect.Effect<Bytes, NameOperationRefused | KeysLocked> =>
  Effect.gen(function*() {
    const found = yield* findOwnNew(parts, name, rand)
    if (found !== undefined) return found.coin.txid
    // A known NAME_NEW that is spent or missing is reported as not found, not as unknown.
    const entry = entriesOf(parts.file.document, name).find((entry) =>
      !isUnsent(entry) && (rand === undefined || equal(entry.rand, rand))
    )
    return entry?.newTxid ?? (yield* unavailable("no-new", "scan for previous txid failed"))
  })

const nameCoin = ({ chainCoins }: NameParts, txid: Bytes) =>
  Effect.gen(function*() {
    if ((yield* chainCoins.coinOf(txid)) === undefined) return undefined
    for (let vout = 0; vout < MAX_OUTPUTS; vout++) {
      const key = outpointKey(outpoint(txid, vout))
      const { coin } = yield* chainCoins.coin(key)
      const script = coin === undefined ? undefined : parseNameScript(coin.script)
      if (script !== undefined) return { outpoint: key, script }
    }
    return undefined
  })

const ownSalt = (
  parts: NameParts,
  name: Bytes,
  found: { readonly txid: Bytes; readonly address: Bytes; readonly commitment: Bytes | undefined }
): Effect.Effect<Bytes, NameOperationRefused | KeysLocked> =>
  Effect.gen(function*() {
    const kept = entriesOf(parts.file.document, name).find((entry) =>
      found.commitment !== undefined && equal(nameCommitment(entry.rand, name), found.commitment)
    )
    if (kept !== undefined) return kept.rand
    const salt = yield* saltOf(parts, found.address, name)
    if (salt === undefined) return yield* unavailable("no-new", "could not generate rand for txid")
    return found.commitment === undefined || equal(nameCommitment(salt, name), found.commitment)
      ? salt
      : yield* unavailable("mismatch", "generated rand for txid does not match")
  })

/** The request has its salt, its txid, both or neither. Checks that they match. */
export const resolveNew = (
  parts: NameParts,
  request: { readonly name: Bytes; readonly rand: Bytes | undefined; readonly txid: Bytes | undefined }
): Effect.Effect<OpenableNew, NameOperationRefused | KeysLocked | StorageFailure> =>
  Effect.gen(function*() {
    const { name } = request
    if (request.txid !== undefined && equal(request.txid, UNSENT)) {
      return yield* unavailable("no-new", "scan for previous txid failed")
    }
    const txid = request.txid ?? (yield* scanForTxid(parts, name, request.rand))
    const found = yield* nameCoin(parts, txid)
    if (found === undefined) return yield* unavailable("no-new", "previous txid not found")
    const { address, operation } = found.script
    const commitment = operation.op === "name_new" ? operation.commitment : undefined
    const rand = request.rand ?? (yield* ownSalt(parts, name, { txid, address, commitment }))
    if (commitment === undefined) return yield* unavailable("no-new", "previous tx is not name_new")
    return equal(nameCommitment(rand, name), commitment)
      ? { outpoint: found.outpoint, rand }
      : yield* unavailable("mismatch", "rand value is wrong")
  })
