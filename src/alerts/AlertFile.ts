import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Schema from "effect/Schema"
import { basename } from "node:path"
import { MAX_NAME_LENGTH } from "../consensus/names.ts"
import { CommitSignal } from "../names/CommitSignal.ts"
import { type Bytes, fromHex, toHex } from "../protocol/bytes.ts"
import { DataHealth } from "../storage/DataHealth.ts"
import type { StorageFailure } from "../storage/errors.ts"
import { readJsonFile, writeJsonFile } from "./jsonFile.ts"
import type { MailQueue } from "./mail/mailQueue.ts"
import type { Told, ToldLoss } from "./notices.ts"

/** The notices given so far, and mail about them that no server has accepted yet. */
export interface AlertState {
  readonly told: ReadonlyArray<Told>
  readonly lost: ReadonlyArray<ToldLoss>
  readonly mail: ReadonlyArray<MailQueue>
}

/** `alerts.json`: one file, so that giving a notice and queueing its mail is one step, even in a crash. */
export class AlertFile extends Context.Tag("svcd/AlertFile")<AlertFile, {
  readonly current: () => AlertState
  readonly isSaved: () => boolean
  /** Changes the state, then stores it. If that fails, the change still counts, and the next one stores it too. */
  readonly change: (change: (state: AlertState) => AlertState) => Effect.Effect<void, StorageFailure>
  /** Ends with the next change of the state, stored or not. */
  readonly changed: () => Effect.Effect<void>
}>() {}

const MOST_TOLD = 40_000

/** More than the settings can have addresses. */
const MOST_QUEUES = 100
const MOST_NAMES = 1_000

const NameHex = Schema.String.pipe(Schema.pattern(/^(?:[0-9a-f]{2})*$/), Schema.maxLength(2 * MAX_NAME_LENGTH))

const NameBytes: Schema.Schema<Bytes, string> = Schema.transform(NameHex, Schema.Uint8ArrayFromSelf, {
  strict: true,
  decode: (hex) => fromHex(hex) ?? new Uint8Array(0),
  encode: toHex
})

const RECORD = { name: NameBytes, height: Schema.NonNegativeInt }

const LostEntry = Schema.Struct(RECORD)

const ToldEntry = Schema.Struct({ ...RECORD, within: Schema.NonNegativeInt })

const MailEntry = Schema.Struct({
  ...RECORD,
  about: Schema.NonNegativeInt,
  mine: Schema.Boolean,
  renewed: Schema.Boolean,
  pending: Schema.Boolean,
  outlook: Schema.optional(Schema.Struct({
    state: Schema.String,
    text: Schema.String,
    txid: Schema.optional(Schema.String),
    wallet: Schema.optional(Schema.String)
  }))
})

const NOTICES = {
  names: Schema.Array(MailEntry).pipe(Schema.maxItems(MOST_NAMES)),
  more: Schema.NonNegativeInt
}

const Queue = Schema.Struct({
  to: Schema.String,
  sending: Schema.UndefinedOr(Schema.Struct({ id: Schema.String, madeAt: Schema.NonNegativeInt, ...NOTICES })),
  waiting: Schema.UndefinedOr(Schema.Struct(NOTICES)),
  failingSince: Schema.UndefinedOr(Schema.NonNegativeInt)
})

const Content = Schema.parseJson(
  Schema.Struct({
    version: Schema.Literal(1),
    told: Schema.Array(ToldEntry).pipe(Schema.maxItems(MOST_TOLD)),
    // Files of earlier versions have neither.
    lost: Schema.optionalWith(Schema.Array(LostEntry).pipe(Schema.maxItems(MOST_TOLD)), { default: () => [] }),
    mail: Schema.optionalWith(Schema.Array(Queue).pipe(Schema.maxItems(MOST_QUEUES)), { default: () => [] })
  })
)

const EMPTY: typeof Content.Type = { version: 1, told: [], lost: [], mail: [] }

const REMEDY = "the last notices before names expire are repeated, and queued mail is lost; check svcd-cli expiring"

/** Opens the file. An unreadable one does not end the node, but notices may be repeated. */
const make = (filename: string): Effect.Effect<typeof AlertFile.Service, never, DataHealth> =>
  Effect.gen(function*() {
    const health = yield* DataHealth
    const read = yield* Effect.catchAll(
      readJsonFile({ path: filename, schema: Content, empty: EMPTY, remedy: REMEDY, ifUnreadable: "aside" }),
      ({ message: reason }) =>
        Effect.as(health.notice({ what: basename(filename), reason: `${reason}: ${REMEDY}` }), EMPTY)
    )
    const commits = new CommitSignal()
    const oneAtATime = (yield* Effect.makeSemaphore(1)).withPermits(1)
    let state: AlertState = { told: read.told, lost: read.lost, mail: read.mail }
    let isSaved = true
    return AlertFile.of({
      current: () => state,
      isSaved: () => isSaved,
      changed: () => commits.next(),
      change: (change) =>
        oneAtATime(Effect.gen(function*() {
          const { lost, mail, told } = change(state)
          state = { told: told.slice(-MOST_TOLD), lost: lost.slice(-MOST_TOLD), mail }
          isSaved = false
          yield* Effect.ensuring(
            Effect.tap(
              writeJsonFile(filename, Content, { version: 1, ...state }),
              () => Effect.sync(() => void (isSaved = true))
            ),
            Effect.sync(() => commits.tell())
          )
        })).pipe(Effect.uninterruptible)
    })
  })

export const layer = (filename: string): Layer.Layer<AlertFile, never, DataHealth> =>
  Layer.effect(AlertFile, make(filename).pipe(Effect.annotateLogs("subsystem", "names")))
