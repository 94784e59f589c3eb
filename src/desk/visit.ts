import * as Data from "effect/Data"
import * as Effect from "effect/Effect"
import type * as Redacted from "effect/Redacted"
import { MAX_NAME_LENGTH } from "../consensus/names.ts"
import type { ConsensusParams } from "../consensus/params.ts"
import type { PageAnswer } from "../http/Pages.ts"
import { type Bytes, fromHex } from "../protocol/bytes.ts"
import { GETWALLETINFO } from "../rpc/contract/wallet/walletInfo.ts"
import type { AdmittedUser } from "../rpc/method/permission.ts"
import { redirect } from "../web/document.ts"
import { type Html, html, type Part } from "../web/html.ts"
import { visible } from "../web/visible.ts"
import type { WalletInfo } from "./answers.ts"
import type { CallFailed, Calls } from "./calls.ts"
import type { Plan } from "./confirmations.ts"
import { deskPlace } from "./deskLinks.ts"
import { wordsOf } from "./errorWords.ts"
import { type DeskContent, deskPage, formToken, type FrameOf } from "./frame.ts"
import type { DeskSession } from "./sessions.ts"

/** Facts about the node beyond its methods. */
export interface NodeOfDesk {
  readonly params: ConsensusParams
  /** An absolute path. */
  readonly dataDir: string
}

export interface DeskVisit {
  readonly session: DeskSession
  readonly wallet: string | undefined
  readonly frame: FrameOf
  readonly calls: Calls
  readonly query: URLSearchParams
  /** Empty for GET. */
  readonly form: URLSearchParams
  readonly node: NodeOfDesk
  readonly admit: (user: string, password: Redacted.Redacted<string>) => Effect.Effect<AdmittedUser | undefined>
  /** Milliseconds of a monotonic clock. */
  readonly now: () => number
}

/** A part of a link or a form is missing or wrong. */
export class NotMeant extends Data.TaggedError("NotMeant")<{ readonly text: string }> {}

export type DeskFailure = CallFailed | NotMeant

export type DeskHandler = (visit: DeskVisit) => Effect.Effect<PageAnswer, DeskFailure>

export const deskAnswer = (visit: DeskVisit, content: DeskContent): PageAnswer => deskPage(content, visit.frame)

export const tokenField = ({ frame }: DeskVisit): Html => formToken(frame.formToken)

/** What a failure means, and whether something was done. `unsure`: what to say if it may have been. */
export const failureParts = (failure: CallFailed, unsure?: Part): ReadonlyArray<Part> => {
  const { detail, nothingDone, text } = wordsOf(failure)
  return [
    text,
    detail !== undefined && html`The node says: <code class="break">${visible(detail)}</code>`,
    nothingDone ? "Nothing was sent." : unsure
  ]
}

/** Redirects to the confirmation of a plan. */
export const planned = ({ now, session, wallet }: DeskVisit, plan: Plan): PageAnswer =>
  redirect(deskPlace("confirm", { id: session.confirmations.prepare(plan, { by: session, now: now(), wallet }) }))

export const nameIn = (given: URLSearchParams): Effect.Effect<Bytes, NotMeant> => {
  const name = fromHex(given.get("hex") ?? "")
  return name === undefined || name.length === 0 || name.length > MAX_NAME_LENGTH
    ? new NotMeant({ text: "The link has no name." })
    : Effect.succeed(name)
}

export type Lock = "none" | "locked" | "renewals" | "unlocked"

export interface WalletState {
  readonly info: WalletInfo
  readonly lock: Lock
}

const lockOf = ({ renewals_only: renewalsOnly, unlocked_until: until }: WalletInfo): Lock =>
  until === undefined ? "none" : renewalsOnly === true ? "renewals" : until === 0 ? "locked" : "unlocked"

export const walletState = ({ calls }: Pick<DeskVisit, "calls">): Effect.Effect<WalletState, CallFailed> =>
  Effect.map(calls.call(GETWALLETINFO, {}), (info) => ({ info, lock: lockOf(info) }))
