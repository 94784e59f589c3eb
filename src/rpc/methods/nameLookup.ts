import * as Effect from "effect/Effect"
import type * as Schema from "effect/Schema"
import { Chain } from "../../chain/Chain.ts"
import { isExpired } from "../../consensus/expiry.ts"
import { NameAnswers } from "../../light/NameAnswers.ts"
import type { ProofLevel } from "../../light/proof.ts"
import { SyncReporter } from "../../light/SyncReporter.ts"
import { type NameClock, NameDb, type NameEntry } from "../../names/NameDb.ts"
import { type Bytes, displayHash } from "../../protocol/bytes.ts"
import { keyOfText } from "../../protocol/nameText.ts"
import { Wallets } from "../../wallet/Wallets.ts"
import { AnswerOptions } from "../AnswerOptions.ts"
import type { RawJson } from "../json/encodeJson.ts"
import type { CallContext } from "../method/methodTable.ts"
import { RpcError } from "../method/RpcError.ts"
import type { ShapeContext } from "../shapes/context.ts"
import { type NAME_INFO, nameInfoText, nameRow } from "../shapes/name.ts"
import { storageError } from "./errors.ts"
import { contextFor, type GivenEncodings } from "./nameEncodings.ts"
import { nameProofs } from "./nameProof.ts"
import { ownership } from "./wallet/walletContext.ts"

const SHA256D_SIZE = 32

/** Shared by the methods that show records of names. */
export const makeNameLookup = Effect.gen(function*() {
  const chain = yield* Chain
  const names = yield* NameDb
  const answers = yield* NameAnswers
  const { proved, refuse } = nameProofs(yield* SyncReporter)
  const options = yield* AnswerOptions
  const wallets = yield* Wallets
  const { requireProof: leastProof = "work" } = options
  const { params } = chain

  const ownContext = contextFor(params.network, options, { nameEncoding: undefined, valueEncoding: undefined })

  const contextOf = (given: GivenEncodings): ShapeContext =>
    given.nameEncoding === undefined && given.valueEncoding === undefined
      ? ownContext
      : contextFor(params.network, options, given)

  /** `ismine` is only present if the call has a wallet. */
  const shower = (context: ShapeContext, call: CallContext) => {
    const owns = ownership(wallets, call)
    return (record: NameEntry, now: NameClock, proof?: ProofLevel) =>
      nameRow(context, record, { now, ismine: owns?.(record.address), proof })
  }

  /** The tip of the index, which may be ahead of a chain under repair. */
  const clock = Effect.map(Effect.mapError(answers.height, storageError), (tipHeight) => ({ tipHeight, params }))

  /** The latest record, expired or not, and the tip that determines its expiry. */
  const recordNow = (name: Bytes) => Effect.all({ answer: answers.resolve(name), now: clock })

  const byHash = (kind: string | undefined) =>
    Effect.suspend(() => {
      if (kind === undefined || kind === "direct") return Effect.succeed(false)
      if (!options.nameHashIndex) return RpcError.misc("-namehashindex is not enabled")
      return kind === "sha256d"
        ? Effect.succeed(true)
        : RpcError.invalidParameter(`Invalid value for byHash: ${kind}`)
    })

  /** The name itself, or found by its hash. */
  const nameMeant = (given: Bytes, kind: string | undefined): Effect.Effect<Bytes, RpcError> =>
    Effect.gen(function*() {
      if (!(yield* byHash(kind))) return given
      if (given.length !== SHA256D_SIZE) {
        return yield* RpcError.invalidParameter("SHA-256d hash must be 32 bytes long")
      }
      const record = yield* Effect.catchAll(answers.resolveByHash(given), refuse)
      return record === undefined
        ? yield* RpcError.wallet(`name hash not found: ${displayHash(given)}`)
        : record.name
    })

  /** The answer of `name_show` without a fiber. `undefined` sends the call to the slow path: a missing name or an error. */
  const shownAtOnce = (
    name: string,
    given: GivenEncodings & {
      readonly byHash: string | undefined
      readonly allowExpired: boolean | undefined
      readonly requireProof: ProofLevel | undefined
    },
    call: CallContext
  ): RawJson<Schema.Schema.Type<typeof NAME_INFO>> | undefined => {
    if (given.byHash !== undefined || given.requireProof !== undefined) return undefined
    const context = contextOf(given)
    const key = keyOfText(name, context.nameEncoding)
    const found = key === undefined ? undefined : answers.atOnce(key)
    if (found?.record === undefined) return undefined
    const { record, tipHeight } = found
    if (isExpired(record, tipHeight, params) && !(given.allowExpired ?? options.allowExpired)) return undefined
    const ismine = ownership(wallets, call)?.(record.address)
    return nameInfoText(context, record, { clock: { tipHeight, params }, ismine })
  }

  return {
    params,
    options,
    answers,
    names,
    refuse,
    proved,
    leastProof,
    contextOf,
    shower,
    clock,
    recordNow,
    nameMeant,
    shownAtOnce
  }
})

export type NameLookup = Effect.Effect.Success<typeof makeNameLookup>
