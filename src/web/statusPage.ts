import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import { Chain } from "../chain/Chain.ts"
import type { SyncStatus } from "../chain/SyncStatus.ts"
import type { PageAnswer, PageHandler } from "../http/Pages.ts"
import type { NameAnswers } from "../light/NameAnswers.ts"
import type { SyncReporter } from "../light/SyncReporter.ts"
import type { Mempool } from "../mempool/Mempool.ts"
import type { NameDb } from "../names/NameDb.ts"
import type { PeerManager } from "../network/PeerManager.ts"
import type { Bytes } from "../protocol/bytes.ts"
import type { StorageFailure } from "../storage/errors.ts"
import { html } from "./html.ts"
import { page, type PageContent, redirect } from "./layout.ts"
import { HOME, nameLink, type PageOfSearch, wanted } from "./links.ts"
import { makeNameReader } from "./nameData.ts"
import { missingView, nameView, searchView } from "./nameView.ts"
import { makeOverview } from "./overviewData.ts"
import { overviewView } from "./overviewView.ts"
import { isStatusRequest } from "./statusRequest.ts"
import { titleName } from "./visible.ts"

export { startingPage } from "./startingPage.ts"

/** Milliseconds for which one overview is sent to all requests. */
const OVERVIEW_MS = 1_000

/** Pages about names that are made at the same time; further requests wait. */
const NAME_PAGES = 4

export interface StatusPageOptions {
  readonly overviewMs?: number
}

type Services = Chain | NameAnswers | NameDb | PeerManager | Mempool | SyncReporter | SyncStatus

export const makeStatusPage = (
  { overviewMs = OVERVIEW_MS }: StatusPageOptions = {}
): Effect.Effect<PageHandler, never, Services> =>
  Effect.gen(function*() {
    const chain = yield* Chain
    const gather = yield* makeOverview
    const reader = yield* makeNameReader
    const alone = yield* Effect.makeSemaphore(1)
    const few = yield* Effect.makeSemaphore(NAME_PAGES)
    const network = chain.params.network.name

    const framed = (content: Omit<PageContent, "network">): PageAnswer => page({ ...content, network })

    const simple = (
      status: number,
      { text, title }: { readonly title: string; readonly text: string }
    ): Effect.Effect<PageAnswer> =>
      Effect.map(Clock.currentTimeMillis, (now) =>
        framed({
          status,
          title: `${title} · svcd`,
          now: Math.floor(now / 1000),
          main:
            html`<section class="card"><h1>${title}</h1><p>${text}</p><p><a href="${HOME}">To the overview</a></p></section>`
        }))

    let kept: { readonly until: number; readonly answer: PageAnswer } | undefined

    // Requests that arrive while it is made wait for it.
    const overview: Effect.Effect<PageAnswer, StorageFailure> = alone.withPermits(1)(Effect.suspend(() => {
      if (kept !== undefined && performance.now() < kept.until) return Effect.succeed(kept.answer)
      return Effect.map(gather, (found) => {
        const answer = framed({
          status: 200,
          title: `${found.words.title} · svcd ${network}`,
          now: found.now,
          live: true,
          main: overviewView(found)
        })
        kept = { until: performance.now() + overviewMs, answer }
        return answer
      })
    }))

    const namePage = (name: Bytes, number: number, full: boolean): Effect.Effect<PageAnswer, StorageFailure> =>
      Effect.flatMap(reader.name(name, number), (found) => {
        if (found === undefined) {
          return simple(404, { title: "No such page", text: "The history of this name has fewer pages." })
        }
        const isThere = "record" in found
        return Effect.succeed(framed({
          status: isThere ? 200 : 404,
          title: `${titleName(name)} · svcd`,
          now: found.now,
          main: isThere ? nameView(found, full) : missingView(name, found)
        }))
      })

    const searchPage = (asked: PageOfSearch): Effect.Effect<PageAnswer, StorageFailure> =>
      Effect.map(reader.search(asked), (found) => {
        const [only, second] = found.exact
        if (only !== undefined && second === undefined) return redirect(nameLink(only.name))
        return framed({
          status: only === undefined && found.guessed ? 404 : 200,
          title: "Search · svcd",
          searched: asked.text,
          now: found.now,
          main: searchView(asked.text, found)
        })
      }).pipe(
        Effect.catchTag("WrongQuery", ({ message }) => simple(400, { title: "Not understood", text: `${message}.` }))
      )

    const answer = (query: URLSearchParams): Effect.Effect<PageAnswer, StorageFailure> => {
      const asked = wanted(query)
      switch (asked._tag) {
        case "Overview":
          return overview
        case "Search":
          return few.withPermits(1)(searchPage(asked))
        case "Name":
          return few.withPermits(1)(namePage(asked.name, asked.page, asked.full))
        case "Wrong":
          return simple(400, { title: "Not understood", text: asked.reason })
      }
    }

    const failed = simple(500, {
      title: "Something went wrong",
      text: "The node could not make this page; its log says why."
    })

    return {
      serves: isStatusRequest,
      authenticated: true,
      answer: ({ query }) =>
        answer(query).pipe(
          Effect.catchAll((failure) => simple(500, { title: "A file cannot be read", text: failure.message })),
          Effect.catchAllDefect((defect) =>
            Effect.zipRight(
              Effect.annotateLogs(Effect.logError("status page failed", defect), "subsystem", "rpc"),
              failed
            )
          )
        )
    }
  })

/** The status page: the state of the node, and its names, for people. */
export const statusPage: Effect.Effect<PageHandler, never, Services> = makeStatusPage()
