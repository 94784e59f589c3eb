import * as Effect from "effect/Effect"
import { SALT_SIZE } from "../../consensus/names.ts"
import type { PoolEntry } from "../../mempool/PoolEntry.ts"
import { binaryString, type Bytes } from "../../protocol/bytes.ts"
import { outpoint, outpointKey, type Transaction } from "../../protocol/transaction.ts"
import type { StorageFailure } from "../../storage/errors.ts"
import type { NameOperationRefused } from "../errors.ts"
import type { NameFailure, NameOptions, Wallet } from "../Wallet.ts"
import { newRegistration, sendNew } from "./commitNew.ts"
import { entriesOf, newOutpoint, registrationOf, withEntry } from "./entries.ts"
import { resolveNew } from "./findNew.ts"
import {
  activeRecord,
  checkLengths,
  ensureKeysOpen,
  ensureOwned,
  isBeingRegistered,
  type NamesContext,
  payName,
  unavailable,
  withOwner
} from "./NamesContext.ts"

/** The three name operations, one call each. reference/rpc.md 5.7, 5.8; reference/protocol.md 9.3. */

/** Sends a NAME_NEW and stores its salt. */
export const nameNew = (
  context: NamesContext,
  name: Bytes,
  options: Parameters<Wallet["nameNew"]>[1]
): ReturnType<Wallet["nameNew"]> =>
  Effect.gen(function*() {
    yield* checkLengths(name)
    if (options.allowExisting !== true && (yield* activeRecord(context, name, 0)) !== undefined) {
      return yield* unavailable("exists", "this name exists already")
    }
    yield* ensureKeysOpen(context)
    const draft = yield* newRegistration({ ...options, name, value: undefined, destination: undefined })
    const { destination, sendCoins } = options
    const { entry, transaction } = yield* withOwner(
      context,
      destination,
      (owner) => sendNew(context, draft, owner, { sendCoins })
    )
    return { transaction, rand: entry.rand }
  })

/** Records a NAME_FIRSTUPDATE that a caller sent for a registration of the wallet. */
const noteRevealed = (
  context: NamesContext,
  name: Bytes,
  spent: string,
  { txid }: Transaction
): Effect.Effect<void, StorageFailure> =>
  Effect.gen(function*() {
    const { core } = context
    const entry = entriesOf(core.document(), name).find((other) => newOutpoint(other) === spent)
    if (entry === undefined) return
    const revealed = { ...entry, firstUpdateTxid: txid, step: "revealed", note: "" } as const
    yield* core.update(withEntry(revealed))
    yield* context.tell(registrationOf(revealed))
  })

/** Sends the NAME_FIRSTUPDATE that opens a NAME_NEW. */
export const nameFirstUpdate = (
  context: NamesContext,
  request: Parameters<Wallet["nameFirstUpdate"]>[0]
): Effect.Effect<Transaction, NameFailure> =>
  Effect.gen(function*() {
    const { name, rand, value } = request
    yield* checkLengths(name)
    if (rand !== undefined && rand.length > SALT_SIZE) return yield* unavailable("too-long", "invalid rand value")
    yield* checkLengths(name, value)
    if (isBeingRegistered(context, name)) {
      return yield* unavailable("registering", "this name is already being registered")
    }
    if (request.allowActive !== true && (yield* activeRecord(context, name, 0)) !== undefined) {
      return yield* unavailable("exists", "this name is already active")
    }
    const opened = yield* resolveNew(context, request)
    yield* ensureKeysOpen(context)
    yield* ensureOwned(context, opened.outpoint)
    const operation = { op: "name_firstupdate", name, rand: opened.rand, value } as const
    const { destination, sendCoins } = request
    const payment = { operation, input: opened.outpoint, fees: request, sendCoins }
    const transaction = yield* withOwner(context, destination, (owner) => payName(context, { ...payment, owner }))
    yield* noteRevealed(context, name, opened.outpoint, transaction)
    return transaction
  })

/** The output that holds a name, and its value. */
interface Held {
  readonly outpoint: string
  readonly value: Bytes
}

/** The last unspent operation on a name in the mempool; `undefined` if there is none. */
const pendingOutput = (
  { core, limitNameChains }: NamesContext,
  pending: ReadonlyArray<PoolEntry>
): Effect.Effect<Held | undefined, NameOperationRefused> => {
  if (pending.length >= limitNameChains) {
    return unavailable("pending", "there are already too many pending operations on this name")
  }
  const held = pending.flatMap(({ name, transaction }) => {
    if (name === undefined || name.script.operation.op === "name_new") return []
    const key = outpointKey(outpoint(transaction.txid, name.vout))
    return core.mempool.spender(key) === undefined ? [{ outpoint: key, value: name.script.operation.value }] : []
  })
  return Effect.succeed(held.at(-1))
}

/**
 * The current output of a name: from the mempool, otherwise from the chain. The name is checked as of the next block,
 * because its coin is gone one block before the name counts as expired (reference/protocol.md 4.7).
 */
const heldName = (context: NamesContext, name: Bytes): Effect.Effect<Held, NameOperationRefused | StorageFailure> =>
  Effect.gen(function*() {
    const pending = yield* pendingOutput(context, context.core.mempool.pending(binaryString(name)))
    if (pending !== undefined) return pending
    const record = yield* activeRecord(context, name, 1)
    if (record === undefined) return yield* unavailable("unknown", "this name can not be updated")
    return { outpoint: outpointKey(outpoint(record.txid, record.vout)), value: record.value }
  })

/** Sends a NAME_UPDATE: changes the value or the owner of a name, or renews it. */
export const nameUpdate = (
  context: NamesContext,
  request: NameOptions & { readonly name: Bytes; readonly value: Bytes | undefined }
): Effect.Effect<Transaction, NameFailure> =>
  Effect.gen(function*() {
    const { name } = request
    yield* checkLengths(name, request.value)
    const held = yield* heldName(context, name)
    yield* ensureKeysOpen(context)
    yield* ensureOwned(context, held.outpoint)
    const operation = { op: "name_update", name, value: request.value ?? held.value } as const
    const { destination, sendCoins } = request
    const payment = { operation, input: held.outpoint, fees: request, sendCoins }
    return yield* withOwner(context, destination, (owner) => payName(context, { ...payment, owner }))
  })
