import * as Effect from "effect/Effect"
import { SALT_SIZE } from "../../consensus/names.ts"
import type { Bytes } from "../../protocol/bytes.ts"
import { nameCommitment } from "../../protocol/nameOperation.ts"
import { InvalidWalletRequest } from "../errors.ts"
import type { OwnScript } from "../keys/WalletKeys.ts"
import { update } from "../WalletParts.ts"
import { newRegistration } from "./commitNew.ts"
import { withEntry } from "./entries.ts"
import { draftName, type NameParts } from "./NameParts.ts"
import { checkNew, preparedFirstUpdate, preparedUpdate } from "./operations.ts"
import { NOTES } from "./progress.ts"
import type {
  FirstUpdateRequest,
  NameDraft,
  NameFailure,
  NewOptions,
  UpdateRequest,
  WalletNames
} from "./WalletNames.ts"

/**
 * Name operations that another machine signs: coins, fee and outputs as if sent, but nothing is signed, taken or sent.
 * The wallet finds the transaction when it comes back, as it finds every transaction that concerns it.
 */

/**
 * The requested owner, else an address of the wallet of the same type as the present owner's. A wallet that gives out
 * no addresses, such as one of a single descriptor, keeps the name where it is.
 */
const draftOwner = (
  { addressType, keys }: NameParts,
  asked: Bytes | undefined,
  now: OwnScript | undefined
): Effect.Effect<Bytes, InvalidWalletRequest> =>
  Effect.suspend(() => {
    const alike = now === undefined || now.type === "other" ? undefined : keys.draftAddress(now.type)
    const script = asked ?? (alike ?? keys.draftAddress(addressType) ?? now)?.script
    return script === undefined
      ? new InvalidWalletRequest({ code: "no-keys", reason: "This wallet has no available keys" })
      : Effect.succeed(script)
  })

/**
 * The salt is random, because only a private key has one of its own. It is in wallet.json before the caller has the
 * draft: without it, the signed commitment would be useless.
 */
export const draftNew = (
  parts: NameParts,
  name: Bytes,
  options: NewOptions
): ReturnType<WalletNames["draftNew"]> =>
  Effect.gen(function*() {
    yield* checkNew(parts, name, options)
    const { destination, sendCoins } = options
    const rand = parts.randomBytes(SALT_SIZE)
    const operation = { op: "name_new", commitment: nameCommitment(rand, name) } as const
    const owner = yield* draftOwner(parts, destination, undefined)
    const draft = yield* draftName(parts, { operation, owner, input: undefined, fees: options, sendCoins })
    const entry = yield* newRegistration({ ...options, name, value: undefined, destination: undefined })
    yield* update(parts, withEntry({ ...entry, rand, unsigned: true, note: NOTES.unsigned }))
    return { ...draft, rand }
  })

export const draftFirstUpdate = (
  parts: NameParts,
  request: FirstUpdateRequest
): Effect.Effect<NameDraft, NameFailure> =>
  Effect.gen(function*() {
    const { coin, payment } = yield* preparedFirstUpdate(parts, request, Effect.void)
    return yield* draftName(parts, { ...payment, owner: yield* draftOwner(parts, request.destination, coin.own) })
  })

export const draftUpdate = (
  parts: NameParts,
  request: UpdateRequest
): Effect.Effect<NameDraft, NameFailure> =>
  Effect.gen(function*() {
    const { coin, payment } = yield* preparedUpdate(parts, request, Effect.void)
    return yield* draftName(parts, { ...payment, owner: yield* draftOwner(parts, request.destination, coin.own) })
  })
