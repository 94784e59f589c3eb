import * as Effect from "effect/Effect"
import * as Queue from "effect/Queue"
import type * as Scope from "effect/Scope"
import * as Stream from "effect/Stream"
import { unixTime } from "../base/clock.ts"
import { outlookText } from "../base/outlookWords.ts"
import { Scheduler } from "../base/Scheduler.ts"
import { Chain } from "../chain/Chain.ts"
import { SyncStatus } from "../chain/SyncStatus.ts"
import { expiryHeight } from "../consensus/expiry.ts"
import { MAX_NAME_LENGTH } from "../consensus/names.ts"
import { NameAnswers } from "../light/NameAnswers.ts"
import { EXPIRY_LABELS, namesExpiring, OWNED_STATES, ownNames } from "../metrics/alertMetrics.ts"
import type { WrongQuery } from "../names/errors.ts"
import { noticesOf } from "../names/events/NameEvent.ts"
import type { Bytes } from "../protocol/bytes.ts"
import { type NameKey, nameKey } from "../protocol/keys.ts"
import { nameField } from "../protocol/nameText.ts"
import type { StorageFailure } from "../storage/errors.ts"
import type { WordedOutlook } from "./advice.ts"
import { AlertFile } from "./AlertFile.ts"
import { ExpiringNames, outlooksByName, type OwnedOutlook } from "./ExpiringNames.ts"
import { AlertMail } from "./mail/AlertMail.ts"
import { countWithin, dueLosses, dueNotices, type ExpiryNotice } from "./notices.ts"
import { WatchList } from "./WatchList.ts"

// Reports own and watched names before they expire, in the log and the metrics. Given notices are on disk, so that a
// restart repeats none.

/** Maximum number of tracked names. The first to expire are kept. */
const MOST_SUBJECTS = 20_000

/** Log entries for the notices of one block. Further ones are counted. */
const MOST_LOGGED = 20

/** Checks between blocks, because a wallet may be loaded or a renewal dropped. */
const LOOK_INTERVAL = "1 minute"

export interface ExpiryAlertsOptions {
  readonly isPending: (name: Bytes) => boolean
}

const worded = ({ outlook, wallet }: OwnedOutlook): WordedOutlook => ({
  state: outlook.state,
  text: outlookText(outlook),
  ...outlook.txid === undefined ? {} : { txid: outlook.txid },
  ...wallet === undefined ? {} : { wallet }
})

/** None for a record of another owner, who may have registered a name that the wallet lost. */
const outlookOf = (
  { height, name }: Pick<ExpiryNotice, "height" | "name">,
  outlooks: ReadonlyMap<NameKey, OwnedOutlook>
): WordedOutlook | undefined => {
  const known = outlooks.get(nameKey(name))
  return known?.height === height ? worded(known) : undefined
}

const wordsOf = ({ pending, renewed }: ExpiryNotice): string => {
  if (pending) {
    return "name expires soon, and its renewal is unconfirmed. Raise the fee of the renewal if it stays unconfirmed"
  }
  return renewed
    ? "name expires soon, and its wallet has not renewed it. Unlock the wallet or fund it"
    : "name expires soon. Renew it, or make sure that its owner does"
}

export type AlertServices =
  | AlertFile
  | AlertMail
  | Chain
  | ExpiringNames
  | NameAnswers
  | Scheduler
  | SyncStatus
  | WatchList

/** Reports on own and watched names until the scope closes, for the first time before it returns. */
export const runExpiryAlerts = (
  { isPending }: ExpiryAlertsOptions
): Effect.Effect<void, never, AlertServices | Scope.Scope> =>
  Effect.gen(function*() {
    const { params, subscription } = yield* Chain
    const expiring = yield* ExpiringNames
    const answers = yield* NameAnswers
    const status = yield* SyncStatus
    const watch = yield* WatchList
    const scheduler = yield* Scheduler
    const notices = noticesOf(params)
    const [earliest = 0] = notices
    const file = yield* AlertFile
    const mail = yield* AlertMail

    const log = (
      due: ReadonlyArray<ExpiryNotice>,
      outlooks: ReadonlyMap<NameKey, OwnedOutlook>
    ): Effect.Effect<void> =>
      Effect.gen(function*() {
        for (const notice of due.slice(0, MOST_LOGGED)) {
          const { height, left, name } = notice
          const known = outlookOf(notice, outlooks)
          const facts = {
            name: nameField(name),
            blocksLeft: left,
            expiresAt: expiryHeight(height, params),
            ...known === undefined ? {} : { reason: known.text }
          }
          yield* Effect.logWarning(wordsOf(notice), facts)
        }
        const others = due.length - MOST_LOGGED
        if (others > 0) {
          yield* Effect.logWarning("more names expire soon. Run svcd-cli expiring to list them", { names: others })
        }
      })

    const look: Effect.Effect<void, StorageFailure | WrongQuery> = Effect.gen(function*() {
      // Old names expire during the initial download or while their index is rebuilt.
      if (answers.fromWindow() || (yield* status.syncing) || !(yield* answers.complete)) {
        return
      }
      const whose = { of: "subjects", mine: true, watched: true } as const
      const { clock, names: all } = yield* expiring.list({ blocks: earliest, whose, limit: MOST_SUBJECTS })
      // A coinbase can give a wallet a longer name, which no operation can renew.
      const names = all.filter(({ record: { name } }) => name.length <= MAX_NAME_LENGTH)
      for (const [i, count] of countWithin(names, notices).entries()) {
        const within = EXPIRY_LABELS[i]
        if (within !== undefined) {
          namesExpiring.of(within).set(count)
        }
      }
      const own = yield* expiring.outlooks
      for (const state of OWNED_STATES) {
        ownNames.of(state).set(own.filter(({ outlook }) => outlook.state === state).length)
      }
      const outlooks = outlooksByName(own)
      const subjects = names.map((each) => {
        const { address, name } = each.record
        const mine = expiring.isMine(address)
        const outlook = outlooks.get(nameKey(name))?.outlook
        // A wallet that is locked or lacks coins renews nothing, so its notices begin early.
        const renewed = mine && expiring.isRenewed(each.record) && (outlook === undefined || outlook.state === "renews")
        return { ...each, mine, pending: isPending(name), renewed }
      })
      const { due, told } = dueNotices(file.current().told, subjects, { clock, notices })
      // The log has each loss already: see outlookWatch.ts.
      const losses = dueLosses(file.current().lost, own, clock)
      const { told: lost } = losses
      yield* log(due, outlooks)
      const known = file.current()
      const isSame = told.length === known.told.length && lost.length === known.lost.length
      if (due.length === 0 && losses.due.length === 0 && isSame && file.isSaved()) return
      const now = yield* unixTime
      const letters = [
        ...due.map(({ left, within: _, ...notice }) => ({
          ...notice,
          about: now + left * params.targetSpacing,
          outlook: outlookOf(notice, outlooks)
        })),
        ...losses.due.map((each) => ({
          name: each.name,
          height: each.height,
          about: now + each.outlook.left * params.targetSpacing,
          mine: true,
          renewed: false,
          pending: false,
          outlook: worded(each)
        }))
      ]
      // The state changes even on a full disk: the next look repeats the writing, not the notices.
      yield* file.change((state) => ({ told, lost, mail: mail.queued(state.mail, letters) }))
    })

    const looked = Effect.catchAll(look, ({ message: reason }) =>
      Effect.logError("expiring names cannot be read", { reason }))

    const calls = yield* Queue.sliding<void>(1)
    const call = Effect.asVoid(Queue.offer(calls, undefined))
    let change = watch.changed()
    const changed = Effect.suspend(() =>
      Effect.zipRight(
        change,
        Effect.suspend(() => {
          change = watch.changed()
          return call
        })
      )
    )
    // Subscribe before the first check, so that no block is missed.
    const events = yield* subscription
    yield* looked
    yield* Effect.forkScoped(Stream.runForEach(events, () =>
      call))
    yield* Effect.forkScoped(Effect.forever(changed))
    yield* Effect.forkScoped(Effect.forever(Effect.zipRight(Queue.take(calls), looked)))
    yield* scheduler.repeat(call, () => LOOK_INTERVAL)
  }).pipe(Effect.annotateLogs("subsystem", "names"))
