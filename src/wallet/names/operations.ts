import * as Effect from "effect/Effect"
import { SALT_SIZE } from "../../consensus/names.ts"
import type { PoolEntry } from "../../mempool/PoolEntry.ts"
import type { Bytes } from "../../protocol/bytes.ts"
import { nameKey, type OutpointKey } from "../../protocol/keys.ts"
import { outpoint, outpointKey, type Transaction } from "../../protocol/transaction.ts"
import type { StorageFailure } from "../../storage/errors.ts"
import type { KeysLocked, NameOperationRefused } from "../errors.ts"
import type { WalletCoin } from "../ledger/WalletLedger.ts"
import { update } from "../WalletParts.ts"
import { newRegistration, sendNew } from "./commitNew.ts"
import { entriesOf, newOutpoint, registrationOf, withEntry } from "./entries.ts"
import { resolveNew } from "./findNew.ts"
import {
  activeRecord,
  checkLengths,
  ensureKeysOpen,
  ensureRenewalsOpen,
  isBeingRegistered,
  type NameParts,
  type NamePayment,
  ownedCoin,
  payName,
  tell,
  unavailable,
  withOwner
} from "./NameParts.ts"
import type { FirstUpdateRequest, NameFailure, NewOptions, UpdateRequest, WalletNames } from "./WalletNames.ts"

/** The three name operations, one call each. reference/rpc.md 5.7, 5.8; reference/protocol.md 9.3. */

export const checkNew = (
  parts: NameParts,
  name: Bytes,
  { allowExisting }: NewOptions
): Effect.Effect<void, NameOperationRefused | StorageFailure> =>
  Effect.gen(function*() {
    yield* checkLengths(name)
    if (allowExisting !== true && (yield* activeRecord(parts, name, 0)) !== undefined) {
      return yield* unavailable("exists", "this name exists already")
    }
  })

export const nameNew = (
  parts: NameParts,
  name: Bytes,
  options: NewOptions
): ReturnType<WalletNames["nameNew"]> =>
  Effect.gen(function*() {
    yield* checkNew(parts, name, options)
    yield* ensureKeysOpen(parts)
    const draft = yield* newRegistration({ ...options, name, value: undefined, destination: undefined })
    const { destination, sendCoins } = options
    const { entry, transaction } = yield* withOwner(
      parts,
      destination,
      (script) => sendNew(parts, draft, { script, sendCoins })
    )
    return { transaction, rand: entry.rand }
  })

/** For a NAME_FIRSTUPDATE that a caller sent. */
const noteRevealed = (
  parts: NameParts,
  name: Bytes,
  { spent, txid }: { readonly spent: OutpointKey; readonly txid: Bytes }
): Effect.Effect<void, StorageFailure> =>
  Effect.gen(function*() {
    const entry = entriesOf(parts.file.document, name).find((other) => newOutpoint(other) === spent)
    if (entry === undefined) return
    const revealed = { ...entry, firstUpdateTxid: txid, step: "revealed", note: "", failure: undefined } as const
    yield* update(parts, withEntry(revealed))
    yield* tell(parts, registrationOf(revealed))
  })

/** A payment without the owner that its caller chooses, and the wallet's coin that it spends. */
interface Prepared {
  readonly payment: Omit<NamePayment, "owner">
  readonly coin: WalletCoin
}

/** `open` fails on a locked wallet: a draft needs no keys. */
export const preparedFirstUpdate = (
  parts: NameParts,
  request: FirstUpdateRequest,
  open: Effect.Effect<void, KeysLocked>
): Effect.Effect<Prepared, NameFailure> =>
  Effect.gen(function*() {
    const { name, rand, value } = request
    yield* checkLengths(name)
    if (rand !== undefined && rand.length > SALT_SIZE) return yield* unavailable("too-long", "invalid rand value")
    yield* checkLengths(name, value)
    if (isBeingRegistered(parts, name)) {
      return yield* unavailable("registering", "this name is already being registered")
    }
    if (request.allowActive !== true && (yield* activeRecord(parts, name, 0)) !== undefined) {
      return yield* unavailable("exists", "this name is already active")
    }
    const opened = yield* resolveNew(parts, request)
    yield* open
    const coin = yield* ownedCoin(parts, opened.outpoint)
    const operation = { op: "name_firstupdate", name, rand: opened.rand, value } as const
    const { sendCoins } = request
    return { payment: { operation, input: opened.outpoint, fees: request, sendCoins }, coin }
  })

export const nameFirstUpdate = (
  parts: NameParts,
  request: FirstUpdateRequest
): Effect.Effect<Transaction, NameFailure> =>
  Effect.gen(function*() {
    const { destination, name } = request
    const { coin, payment } = yield* preparedFirstUpdate(parts, request, ensureKeysOpen(parts))
    const transaction = yield* withOwner(parts, destination, (owner) => payName(parts, { ...payment, owner }))
    yield* noteRevealed(parts, name, { spent: coin.outpoint, txid: transaction.txid })
    return transaction
  })

interface Held {
  readonly outpoint: OutpointKey
  readonly value: Bytes
}

/** The last unspent operation on a name in the mempool. */
const pendingOutput = (
  { limitNameChains, mempool }: NameParts,
  pending: ReadonlyArray<PoolEntry>
): Effect.Effect<Held | undefined, NameOperationRefused> => {
  if (pending.length >= limitNameChains) {
    return unavailable("pending", "there are already too many pending operations on this name")
  }
  const held = pending.flatMap(({ name, transaction }) => {
    if (name === undefined || name.script.operation.op === "name_new") return []
    const key = outpointKey(outpoint(transaction.txid, name.vout))
    return mempool.spender(key) === undefined ? [{ outpoint: key, value: name.script.operation.value }] : []
  })
  return Effect.succeed(held.at(-1))
}

/**
 * From the mempool, otherwise from the chain. Checked as of the next block: the coin is gone one block before the name
 * counts as expired (reference/protocol.md 4.7).
 */
const heldName = (parts: NameParts, name: Bytes): Effect.Effect<Held, NameOperationRefused | StorageFailure> =>
  Effect.gen(function*() {
    const pending = yield* pendingOutput(parts, parts.mempool.pending(nameKey(name)))
    if (pending !== undefined) return pending
    const record = yield* activeRecord(parts, name, 1)
    if (record === undefined) return yield* unavailable("unknown", "this name can not be updated")
    return { outpoint: outpointKey(outpoint(record.txid, record.vout)), value: record.value }
  })

/** `open` fails on a locked wallet: a draft needs no keys. */
export const preparedUpdate = (
  parts: NameParts,
  request: UpdateRequest,
  open: Effect.Effect<void, KeysLocked>
): Effect.Effect<Prepared, NameFailure> =>
  Effect.gen(function*() {
    const { name, sendCoins } = request
    yield* checkLengths(name, request.value)
    const held = yield* heldName(parts, name)
    yield* open
    const coin = yield* ownedCoin(parts, held.outpoint)
    const operation = { op: "name_update", name, value: request.value ?? held.value } as const
    return { payment: { operation, input: held.outpoint, fees: request, sendCoins }, coin }
  })

/** Changes the value or the owner of a name, or renews it. */
export const nameUpdate = (parts: NameParts, request: UpdateRequest): Effect.Effect<Transaction, NameFailure> =>
  Effect.gen(function*() {
    const { payment } = yield* preparedUpdate(parts, request, ensureRenewalsOpen(parts))
    return yield* withOwner(parts, request.destination, (owner) => payName(parts, { ...payment, owner }))
  })
