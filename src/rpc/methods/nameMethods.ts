import * as Chunk from "effect/Chunk"
import * as Effect from "effect/Effect"
import * as Stream from "effect/Stream"
import type { Chain } from "../../chain/Chain.ts"
import { ChainCoins } from "../../chain/ChainCoins.ts"
import { Snapshots } from "../../chain/Snapshots.ts"
import type { SyncStatus } from "../../chain/SyncStatus.ts"
import { expirationDepth, isExpired } from "../../consensus/expiry.ts"
import type { NameAnswers } from "../../light/NameAnswers.ts"
import type { ProofLevel } from "../../light/proof.ts"
import type { SyncReporter } from "../../light/SyncReporter.ts"
import type { NameDb } from "../../names/NameDb.ts"
import { equal } from "../../protocol/bytes.ts"
import { parseNameScript } from "../../protocol/nameOperation.ts"
import type { DataHealth } from "../../storage/DataHealth.ts"
import { Wallets } from "../../wallet/Wallets.ts"
import type { AnswerOptions } from "../AnswerOptions.ts"
import { incompleteHistory, NAME_CHECKDB, NAME_HISTORY, NAME_SCAN, NAME_SHOW } from "../contract/names/name.ts"
import { itemsOf } from "../json/encodeJson.ts"
import { method } from "../method/method.ts"
import type { Method, Methods } from "../method/methodTable.ts"
import { RpcError } from "../method/RpcError.ts"
import { ReadThread } from "../reader/ReadThread.ts"
import { decodeGiven, shownName } from "./nameEncodings.ts"
import { makeNameLookup, type NameLookup } from "./nameLookup.ts"
import { namesByThread } from "./namesByThread.ts"
import { listNames } from "./nameSearch.ts"

/** reference/rpc.md 3.3, 5. */

const SEARCHES = 2

/** Names that `name_scan` lists without the read thread, whose start takes 20 MB and more time than this. */
const FEW = 16

interface NameThread {
  readonly namesFile: (typeof ReadThread.Service)["namesFile"]
  readonly read: ReturnType<typeof namesByThread>
}

/** Only on request, or with less than the whole chain. */
const proofShown = (proof: ProofLevel, asked: ProofLevel | undefined): ProofLevel | undefined =>
  proof === "full" && asked === undefined ? undefined : proof

const name_show = (lookup: NameLookup): Method => {
  const { answers, contextOf, leastProof, nameMeant, options, params, proved, recordNow, refuse, shower, shownAtOnce } =
    lookup
  return method(NAME_SHOW, ({ name, options: given }, call) => {
    const shown = shownAtOnce(name, given, call)
    if (shown !== undefined) return Effect.succeed(shown)
    return Effect.gen(function*() {
      const context = contextOf(given)
      const meant = yield* nameMeant(yield* decodeGiven(name, context.nameEncoding), given.byHash)
      const allowExpired = given.allowExpired ?? options.allowExpired
      const { answer, now } = yield* answers.ask(
        recordNow(meant),
        ({ answer, now }) => answer === undefined || (!allowExpired && isExpired(answer.record, now.tipHeight, params))
      ).pipe(
        Effect.catchAll(refuse)
      )
      const proofOfAnswer: ProofLevel = answer?.proof ?? answers.proofOfAbsence()
      yield* proved({ proof: proofOfAnswer }, given.requireProof ?? leastProof)
      if (answer === undefined) {
        // A window does not show whether a name expired before it.
        const words = answers.fromWindow() ? "name never existed, or has expired" : "name never existed"
        return yield* RpcError.wallet(`${words}: ${shownName(meant)}`)
      }
      const { proof, record } = answer
      if (!allowExpired && isExpired(record, now.tipHeight, params)) {
        return yield* RpcError.wallet(`name expired: ${shownName(meant)}`)
      }
      return shower(context, call)(record, now, proofShown(proof, given.requireProof))
    })
  })
}

const name_history = (lookup: NameLookup, thread: NameThread): Method => {
  const { answers, clock, contextOf, nameMeant, names, options, refuse, shower } = lookup
  return method(NAME_HISTORY, ({ name, options: given }, call) =>
    Effect.gen(function*() {
      if (!options.nameHistory) return yield* RpcError.misc("-namehistory is not enabled")
      yield* answers.wholeChain
      const context = contextOf(given)
      const meant = yield* nameMeant(yield* decodeGiven(name, context.nameEncoding), given.byHash)
      const beginning = yield* names.beginning
      if (beginning !== undefined) return yield* RpcError.misc(incompleteHistory(beginning))
      const read = yield* thread.read(
        { context, call, proof: undefined },
        (shown) => ({ type: "history", file: thread.namesFile, name: meant, shown })
      )
      if (read !== undefined && read.count > 0) return read.text
      const records = yield* answers.history(meant)
      if (records === undefined) return yield* RpcError.wallet(`name not found: ${shownName(meant)}`)
      const now = yield* clock
      const show = shower(context, call)
      return itemsOf(records, (record) => show(record, now))
    }).pipe(Effect.catchAll(refuse)))
}

const name_scan = (lookup: NameLookup, thread: NameThread, searches: Effect.Semaphore): Method => {
  const { answers, clock, contextOf, leastProof, proved, refuse, shower } = lookup
  return method(NAME_SCAN, ({ count, options: given, start }, call) =>
    Effect.gen(function*() {
      const context = contextOf(given)
      const from = yield* decodeGiven(start, context.nameEncoding)
      const { maxConf, minConf } = given
      if (minConf < 1) return yield* RpcError.invalidParameter("minConf must be >= 1")
      if (maxConf !== undefined && maxConf < 0) {
        return yield* RpcError.invalidParameter("maxConf must not be negative")
      }
      const prefix = given.prefix === undefined ? undefined : yield* decodeGiven(given.prefix, context.nameEncoding)
      const { regexp } = given
      const list = { start: from, count: Math.max(0, count), prefix, regexp, minConf, maxConf }
      const proof = given.requireProof === undefined ? undefined : "full" as const
      const isAtHand = count <= FEW && [prefix, regexp, maxConf].every((each) => each === undefined) && minConf === 1
      const read = isAtHand || answers.fromWindow() ? undefined : yield* thread.read(
        { context, call, proof },
        (shown) => ({ type: "scan", file: thread.namesFile, list, shown })
      )
      if (read !== undefined) {
        yield* answers.certainly({ listed: read.count, wanted: count })
        return read.text
      }
      const now = yield* clock
      const found = yield* listNames(answers.scan, list, now.tipHeight)
      const required = given.requireProof ?? leastProof
      const enough = required === "work" ? found : Stream.mapEffect(found, (answer) => proved(answer, required))
      const collected = Stream.runCollect(enough)
      const listed = Chunk.toReadonlyArray(
        yield* regexp === undefined ? collected : searches.withPermits(1)(collected)
      )
      yield* answers.certainly({ listed: listed.length, wanted: count })
      const show = shower(context, call)
      return itemsOf(listed, ({ proof, record }) => show(record, now, proofShown(proof, given.requireProof)))
    }).pipe(Effect.catchAll(refuse)))
}

interface CheckedStores {
  readonly chainCoins: typeof ChainCoins.Service
  readonly snapshots: Pick<typeof Snapshots.Service, "began">
}

const name_checkdb = (
  { names, params, refuse }: NameLookup,
  { chainCoins, snapshots }: CheckedStores
): Method => {
  return method(NAME_CHECKDB, () =>
    chainCoins.atRest((state) =>
      Effect.gen(function*() {
        const at = yield* names.cursor
        if (at === undefined || !equal(at.hash, state.tip.hash)) {
          return yield* RpcError.misc("names.db and the chain are at different blocks: one of them is being rebuilt")
        }
        const nextHeight = state.tip.height + 1
        // A snapshot has no claims of names that had expired, and names.db may have these names.
        const oldest = (yield* snapshots.began) ? nextHeight - expirationDepth(nextHeight, params) + 1 : 0
        const check = yield* names.check(Math.max(0, oldest))
        const holders = new Map<string, number>()
        yield* state.visitClaims((claims) => {
          check.add(claims)
          // A name unexpired in the next block has one coin, an expired one none (reference/protocol.md 4.9).
          for (const [, claim] of claims) {
            if (!isExpired(claim, nextHeight, params)) holders.set(claim.outpoint, claim.height)
          }
        })
        let strays = 0
        yield* state.visitCoins((coins) => {
          for (const [outpoint, coin] of coins) {
            const operation = parseNameScript(coin.script)?.operation
            if (operation === undefined || operation.op === "name_new") continue
            if (holders.get(outpoint) === coin.height) holders.delete(outpoint)
            else strays++
          }
        })
        const { faults } = yield* check.result
        const coins = strays + holders.size
        if (coins > 0 || faults.length > 0) yield* Effect.logWarning("name_checkdb found faults", { coins, faults })
        return coins === 0 && faults.length === 0
      })
    ).pipe(Effect.catchAll(refuse)))
}

export const nameMethods: Methods<
  | Chain
  | ChainCoins
  | Snapshots
  | NameAnswers
  | NameDb
  | SyncReporter
  | SyncStatus
  | DataHealth
  | AnswerOptions
  | ReadThread
  | Wallets
> = Effect.gen(function*() {
  const chainCoins = yield* ChainCoins
  const readThread = yield* ReadThread
  const lookup = yield* makeNameLookup
  const thread = { namesFile: readThread.namesFile, read: namesByThread(readThread, yield* Wallets) }
  const searches = yield* Effect.makeSemaphore(SEARCHES)
  return [
    name_show(lookup),
    name_history(lookup, thread),
    name_scan(lookup, thread, searches),
    name_checkdb(lookup, { chainCoins, snapshots: yield* Snapshots })
  ]
})
