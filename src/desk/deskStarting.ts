import * as Effect from "effect/Effect"
import type { PageRequest, VisitHandler } from "../http/Pages.ts"
import { DESK } from "./deskLinks.ts"
import { noticePage } from "./frame.ts"

/** What the desk answers before it is loaded. */

export const hereOf = ({ path, query }: PageRequest): string =>
  `.${path}${query.size === 0 ? "" : `?${query.toString()}`}`

/** No page is deeper, because redirects are relative to the page. */
export const servesDesk = ({ path }: PageRequest): boolean =>
  path === DESK.slice(0, -1) || (path.startsWith(DESK) && !path.includes("/", DESK.length))

/** Seconds until a browser asks again. */
const STARTING_SECONDS = 5

/** Answers while the node starts. Without sessions, forms have no effect. */
export const deskStarting: VisitHandler = {
  serves: servesDesk,
  visit: (request, { form }) =>
    Effect.succeed(noticePage({
      status: 503,
      title: "svcd is starting",
      at: "names",
      ...(form === undefined ? { reloadAfter: STARTING_SECONDS } : {}),
      headers: { "Retry-After": String(STARTING_SECONDS) },
      tone: "busy",
      paragraphs: [
        form === undefined
          ? "The node is opening its files. This page reloads automatically."
          : "The node was restarted, and your request did nothing. Sign in again in a moment."
      ]
    }, { network: undefined, here: hereOf(request) }))
}
