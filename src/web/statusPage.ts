import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import type { ExpiringNames } from "../alerts/ExpiringNames.ts"
import { Chain } from "../chain/Chain.ts"
import type { ChainCoins } from "../chain/ChainCoins.ts"
import type { Indexes } from "../chain/indexes/Indexes.ts"
import type { SyncStatus } from "../chain/SyncStatus.ts"
import type { TxIndex } from "../chain/TxIndex.ts"
import type { PageAnswer, PageHandler, PageRequest } from "../http/Pages.ts"
import type { NameAnswers } from "../light/NameAnswers.ts"
import type { SyncReporter } from "../light/SyncReporter.ts"
import type { FeeEstimator } from "../mempool/fees/FeeEstimator.ts"
import type { Mempool } from "../mempool/Mempool.ts"
import type { WrongQuery } from "../names/errors.ts"
import type { NameDb } from "../names/NameDb.ts"
import type { PeerManager } from "../network/PeerManager.ts"
import type { StorageFailure } from "../storage/errors.ts"
import { makeActivity } from "./activity/activityData.ts"
import { activityView } from "./activity/activityView.ts"
import { redirect } from "./document.ts"
import { makeExplorer } from "./explorer/explorer.ts"
import { html } from "./html.ts"
import { page, type PageBody, type PageContent } from "./layout.ts"
import {
  ACTIVITY,
  addressLink,
  blockLink,
  HOME,
  nameEventsLink,
  nameLink,
  type PageOfSearch,
  transactionLink
} from "./links.ts"
import { makeNameReader, type Moment } from "./nameData.ts"
import { missingView, nameView } from "./nameView.ts"
import { onceEach } from "./onceEach.ts"
import { makeOverview, type Overview } from "./overviewData.ts"
import { overviewView } from "./overviewView.ts"
import type { FoundPlace } from "./placesMeant.ts"
import { type PageTarget, type Wanted, wanted } from "./routes.ts"
import { makeSearcher, type SearchFound } from "./searchData.ts"
import { searchView } from "./searchView.ts"
import { isStatusRequest, methodsShown } from "./statusRequest.ts"
import { titleName } from "./visible.ts"

export { startingPage } from "./startingPage.ts"

/** Milliseconds for which one overview is sent to all requests. */
const OVERVIEW_MS = 1_000

/** Pages about names that are made at the same time; further requests wait. */
const NAME_PAGES = 4

const ROOT = { path: "/" }

/** What a name or a search that is not found means: while the node is syncing, it may be found later. */
const notFound = ({ syncing }: Pick<Moment, "syncing">) =>
  syncing ? { status: 503, headers: { "Retry-After": "60" } } : { status: 404 }

export interface StatusPageOptions {
  readonly overviewMs?: number
  /** Whether the node has the desk. */
  readonly desk?: boolean
  /** Whether the node takes no transactions from peers. */
  readonly blocksOnly?: boolean
}

type Services =
  | Chain
  | ChainCoins
  | ExpiringNames
  | FeeEstimator
  | Indexes
  | Mempool
  | NameAnswers
  | NameDb
  | PeerManager
  | SyncReporter
  | SyncStatus
  | TxIndex

type Failure = StorageFailure | WrongQuery

const placeLink = (place: FoundPlace): string => {
  switch (place._tag) {
    case "Block":
      return blockLink(place.height)
    case "Transaction":
      return transactionLink(place.txid)
    case "Address":
      return addressLink(place.address)
  }
}

/** Whether a search found nothing at all. */
const isNothing = ({ exact, guessed, place, saying }: SearchFound): boolean =>
  guessed && exact.length === 0 && place === undefined && (saying?.records.length ?? 0) === 0

/** The address of the one thing that a search can mean; `undefined` for none or several. */
const onlyMeaning = ({ exact, place }: SearchFound): string | undefined => {
  const links = [...(place === undefined ? [] : [placeLink(place)]), ...exact.map(({ name }) => nameLink(name))]
  return links.length === 1 ? links[0] : undefined
}

/** The status page: the state of the node, and its names, for people. */
export const makeStatusPage = (
  { blocksOnly = false, desk = false, overviewMs = OVERVIEW_MS }: StatusPageOptions = {}
): Effect.Effect<PageHandler, never, Services> =>
  Effect.gen(function*() {
    const chain = yield* Chain
    const gather = yield* makeOverview
    const activity = yield* makeActivity
    const reader = yield* makeNameReader
    const explorer = yield* makeExplorer({ blocksOnly })
    const search = yield* makeSearcher({ ...reader, isTransaction: explorer.isTransaction })
    const alone = yield* Effect.makeSemaphore(1)
    const oneActivity = yield* Effect.makeSemaphore(1)
    const few = yield* Effect.makeSemaphore(NAME_PAGES)
    const network = chain.params.network.name

    const framed = (content: Omit<PageContent, "network" | "desk">): PageAnswer => page({ ...content, desk, network })

    const explained = onceEach((found: PageBody) => framed({ ...found, title: `${found.title} · svcd` }))

    const simple = (
      status: number,
      { text, title }: { readonly title: string; readonly text: string },
      { path }: Pick<PageTarget, "path"> = ROOT
    ): Effect.Effect<PageAnswer> =>
      Effect.map(Clock.currentTimeMillis, (now) =>
        framed({
          status,
          title: `${title} · svcd`,
          at: path === "/" ? undefined : `.${path}`,
          now: Math.floor(now / 1000),
          main:
            html`<section class="card"><h1>${title}</h1><p>${text}</p><p><a href="${HOME}">To the overview</a></p></section>`
        }))

    /** For callers that may see the wallets, and for others. */
    let kept: { readonly until: number; readonly whole: PageAnswer; readonly others: PageAnswer } | undefined

    // Requests that arrive while it is made wait for it.
    const overview = alone.withPermits(1)(Effect.suspend(() => {
      if (kept !== undefined && performance.now() < kept.until) return Effect.succeed(kept)
      return Effect.map(gather, (found) => {
        const shown = (overview: Overview): PageAnswer =>
          framed({
            status: 200,
            title: `${overview.words.title} · svcd ${network}`,
            now: overview.now,
            live: true,
            // While many blocks come, each second would have its event.
            events: overview.words.tone === "good" ? "./events" : undefined,
            main: overviewView(overview)
          })
        const whole = shown(found)
        const others = found.expiring === undefined ? whole : shown({ ...found, expiring: undefined })
        return kept = { until: performance.now() + overviewMs, whole, others }
      })
    }))

    const namePage = ({ full, name, page }: Extract<Wanted, { readonly _tag: "Name" }>): Effect.Effect<
      PageAnswer,
      StorageFailure
    > =>
      Effect.flatMap(reader.name(name, page), (found) => {
        if (found === undefined) {
          return simple(404, { title: "No such page", text: "The history of this name has fewer pages." })
        }
        const isThere = "record" in found
        return Effect.succeed(framed({
          ...(isThere ? { status: 200 } : notFound(found)),
          title: `${titleName(name)} · svcd`,
          now: found.now,
          events: found.syncing ? undefined : nameEventsLink(name),
          main: isThere ? nameView(found, full) : missingView(name, found)
        }))
      })

    const searchPage = (asked: PageOfSearch): Effect.Effect<PageAnswer, Failure> =>
      Effect.map(search(asked), (found) => {
        const only = onlyMeaning(found)
        if (only !== undefined) return redirect(only)
        return framed({
          ...(isNothing(found) ? notFound(found) : { status: 200 }),
          title: "Search · svcd",
          searched: asked.text,
          now: found.now,
          main: searchView(asked.text, found)
        })
      })

    const activityPage: Effect.Effect<PageAnswer, StorageFailure> = oneActivity.withPermits(1)(
      Effect.map(activity, (found) =>
        framed({
          status: 200,
          title: "Activity · svcd",
          at: ACTIVITY,
          now: found.now,
          main: activityView(found)
        }))
    )

    const answer = (
      target: Pick<PageRequest, "path" | "query" | "seesWallets">
    ): Effect.Effect<PageAnswer, Failure> => {
      const asked = wanted(target)
      switch (asked._tag) {
        case "Overview":
          return Effect.map(overview, ({ others, whole }) => target.seesWallets ? whole : others)
        case "Search":
          return few.withPermits(1)(searchPage(asked))
        case "Name":
          return few.withPermits(1)(namePage(asked))
        case "Activity":
          return activityPage
        case "Wrong":
          return simple(400, { title: "Not understood", text: asked.reason }, target)
        default:
          return Effect.flatMap(explorer.page(asked), (found) =>
            found === undefined
              ? simple(404, { title: "No such page", text: "There are fewer pages." }, target)
              : Effect.succeed(explained(found)))
      }
    }

    const broken = {
      title: "Something went wrong",
      text: "The node could not make this page; its log says why."
    }

    return {
      serves: isStatusRequest,
      authenticated: true,
      needs: methodsShown,
      answer: (target) =>
        answer(target).pipe(
          Effect.catchAll((failure) =>
            failure._tag === "WrongQuery"
              ? simple(400, { title: "Not understood", text: `${failure.message}.` }, target)
              : simple(500, { title: "A file cannot be read", text: failure.message }, target)
          ),
          Effect.catchAllDefect((defect) =>
            Effect.zipRight(
              Effect.annotateLogs(Effect.logError("status page failed", defect), "subsystem", "rpc"),
              simple(500, broken, target)
            )
          )
        )
    }
  })
