import * as Effect from "effect/Effect"
import { unixTime } from "../base/clock.ts"
import { Chain } from "../chain/Chain.ts"
import type { PageAnswer, PageHandler, PageRequest } from "../http/Pages.ts"
import type { WrongQuery } from "../names/errors.ts"
import type { StorageFailure } from "../storage/errors.ts"
import { makeActivityPage } from "./activity/activityPage.ts"
import { redirect } from "./document.ts"
import { makeExplorer } from "./explorer/explorer.ts"
import { html } from "./html.ts"
import { page, type PageBody } from "./layout.ts"
import { HOME } from "./links.ts"
import { makeNamePage } from "./namePage.ts"
import { onceEach } from "./onceEach.ts"
import { makeOverviewPage } from "./overviewPage.ts"
import { isStatusRequest, methodsShown, wanted } from "./routes.ts"
import { makeSearchPage } from "./searchPage.ts"

/** Milliseconds for which an overview is shared. */
const OVERVIEW_MS = 1_000

/** Concurrent pages about names; further requests wait. */
const NAME_PAGES = 4

export interface StatusPageOptions {
  readonly overviewMs?: number
  readonly desk?: boolean
  /** The node takes no transactions from peers. */
  readonly blocksOnly?: boolean
}

const BROKEN = {
  title: "Something went wrong",
  text: "The node could not render this page; see its log."
}

const simple = (
  status: number,
  { text, title }: { readonly title: string; readonly text: string },
  path = "/"
): Effect.Effect<PageBody> =>
  Effect.map(unixTime, (now) => ({
    status,
    title,
    at: path === "/" ? undefined : `.${path}`,
    now,
    main:
      html`<section class="card"><h1>${title}</h1><p>${text}</p><p><a href="${HOME}">Go to the overview</a></p></section>`
  }))

/** The node's state and its names, for people. */
export const makeStatusPage = (
  { blocksOnly = false, desk = false, overviewMs = OVERVIEW_MS }: StatusPageOptions = {}
) =>
  Effect.gen(function*() {
    const network = (yield* Chain).params.network.name
    const overview = yield* makeOverviewPage(overviewMs)
    const activity = yield* makeActivityPage
    const name = yield* makeNamePage({ desk })
    const explorer = yield* makeExplorer({ blocksOnly })
    const search = yield* makeSearchPage(explorer.isTransaction)
    const few = (yield* Effect.makeSemaphore(NAME_PAGES)).withPermits(1)

    /** The same body is the same page. */
    const framed = onceEach((body: PageBody): PageAnswer =>
      page({ ...body, title: `${body.title} · svcd${body.live === true ? ` ${network}` : ""}`, desk, network })
    )

    const answer = (
      { path, query, seesWallets }: Pick<PageRequest, "path" | "query" | "seesWallets">
    ): Effect.Effect<PageBody | string, StorageFailure | WrongQuery> => {
      const asked = wanted({ path, query })
      const orNone = <E>(made: Effect.Effect<PageBody | undefined, E>, text: string) =>
        Effect.flatMap(made, (found) =>
          found === undefined ? simple(404, { title: "No such page", text }, path) : Effect.succeed(found))
      switch (asked._tag) {
        case "Overview":
          return overview({ seesWallets })
        case "Search":
          return few(search(asked))
        case "Name":
          return few(orNone(name(asked), "The history of this name does not have that many pages."))
        case "Activity":
          return activity
        case "Wrong":
          return simple(400, { title: "Invalid request", text: asked.reason }, path)
        default:
          return orNone(explorer.page(asked), "There are not that many pages.")
      }
    }

    const handler: PageHandler = {
      serves: isStatusRequest,
      authenticated: true,
      forReaders: true,
      needs: methodsShown,
      answer: (target) =>
        answer(target).pipe(
          Effect.catchAll((failure) =>
            failure._tag === "WrongQuery"
              ? simple(400, { title: "Invalid request", text: `${failure.message}.` }, target.path)
              : simple(500, { title: "A file is unreadable", text: failure.message }, target.path)
          ),
          Effect.catchAllDefect((defect) =>
            Effect.zipRight(
              Effect.annotateLogs(Effect.logError("status page failed", defect), "subsystem", "rpc"),
              simple(500, BROKEN, target.path)
            )
          ),
          Effect.map((made) =>
            typeof made === "string" ? redirect(made) : framed(made)
          )
        )
    }
    return handler
  })
