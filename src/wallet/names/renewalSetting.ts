import * as Effect from "effect/Effect"
import { isLostState } from "../../base/outlookWords.ts"
import { type Bytes, equal } from "../../protocol/bytes.ts"
import { nameKey } from "../../protocol/keys.ts"
import type { StorageFailure } from "../../storage/errors.ts"
import { InvalidWalletRequest } from "../errors.ts"
import { update } from "../WalletParts.ts"
import { hasEnded } from "./entries.ts"
import type { NameParts } from "./NameParts.ts"
import { outlooksOf, withAcknowledged } from "./outlooks.ts"
import {
  forgottenNames,
  heldNames,
  isRenewed,
  lostNames,
  ownSetting,
  withException,
  withoutRenewal,
  withRenewal
} from "./renewals.ts"
import { withdrawn } from "./renewalVerdict.ts"
import type { RenewalSetting } from "./WalletNames.ts"

/** Whether the wallet holds a name, even unconfirmed, or is registering it: only such names have a setting. */
const concernOf = ({ file: { document }, ledger }: NameParts): (name: Bytes) => boolean => {
  const held = heldNames(ledger.coins(), document)
  const begun = document.registrations.flatMap((entry) => hasEnded(entry) ? [] : [nameKey(entry.name)])
  const registering = new Set(begun)
  return (name) => held.has(nameKey(name)) || registering.has(nameKey(name))
}

const lostOf = (parts: NameParts) => {
  const { chain, file: { document }, ledger } = parts
  const { except = [], names } = document.renewals
  if (names.length + except.length === 0) return []
  const lost = lostNames(document, ledger.names(), { height: ledger.tip.height, params: chain.params })
  if (lost.length === 0) return []
  const concerns = concernOf(parts)
  return lost.filter(({ name }) => !concerns(name))
}

export const shownRenewal = (parts: NameParts): RenewalSetting => {
  const { all, except = [], names } = parts.file.document.renewals
  const lost = new Set(lostOf(parts).map(({ name }) => nameKey(name)))
  const kept = (list: ReadonlyArray<Bytes>) => list.filter((name) => !lost.has(nameKey(name)))
  return { all, names: kept(names), except: kept(except) }
}

/**
 * Forgets settings of names lost for good, which would count if a name were transferred back later. A name that was
 * never confirmed keeps its setting, since its transaction may be on the way.
 */
export const forgetLost = (parts: NameParts): Effect.Effect<void> =>
  Effect.gen(function*() {
    const { chain, index, ledger, status } = parts
    // While the wallet or the node is catching up, its knowledge of a name may be old.
    if (!index.complete() || (yield* status.syncing) || (yield* chain.tip).height !== ledger.tip.height) return
    const forgotten = forgottenNames(lostOf(parts), ledger.tip.height)
    if (forgotten.size === 0) return
    // Without its exception, the name would look like one that was lost by mistake.
    const meant = (yield* outlooksOf(parts)).filter(({ name, outlook }) =>
      outlook.off === true && isLostState(outlook.state) && forgotten.has(nameKey(name))
    )
    yield* update(parts, (document) => withoutRenewal(forgotten)(withAcknowledged(meant)(document)))
  }).pipe(
    Effect.catchAll((failure) =>
      Effect.logError("settings of lost names cannot be dropped", { reason: failure.message })
    )
  )

/** Refuses mistyped names. Where renewal ends, unsent requested renewals end too. */
export const setRenewal = (
  parts: NameParts,
  name: Bytes | undefined,
  on: boolean
): Effect.Effect<void, InvalidWalletRequest | StorageFailure> =>
  Effect.suspend((): Effect.Effect<void, InvalidWalletRequest | StorageFailure> => {
    const { document } = parts.file
    const isRemembered = name !== undefined &&
      (on || document.renewals.all && ownSetting(document, name) === undefined)
    if (isRemembered && !concernOf(parts)(name)) {
      return new InvalidWalletRequest({ code: "missing", reason: "the wallet neither owns nor registers this name" })
    }
    if (on) return update(parts, withRenewal(name, on))
    // An exception persists while its coin is not found yet, as after a restore of the wallet file.
    const held = name !== undefined &&
      (ownSetting(document, name) === false || heldNames(parts.ledger.coins(), document).has(nameKey(name)))
    const after = held ? withException(name) : withRenewal(name, on)
    const set = after(document)
    const ends = (each: Bytes): boolean =>
      name === undefined ? isRenewed(document, each) && !isRenewed(set, each) : equal(each, name)
    return update(parts, (now) => withdrawn(ends)(after(now)))
  })
