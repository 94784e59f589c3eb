import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import type { PageHandler } from "../http/Pages.ts"
import { html } from "./html.ts"
import { page } from "./layout.ts"
import { isStatusRequest } from "./routes.ts"

const RELOAD_AFTER = 2

/** While the node is starting and has no data yet. */
export const startingPage: PageHandler = {
  serves: isStatusRequest,
  authenticated: true,
  answer: ({ path }) =>
    Effect.map(Clock.currentTimeMillis, (now) =>
      page({
        status: 503,
        title: "svcd is starting",
        network: undefined,
        at: path === "/" ? undefined : `.${path}`,
        now: Math.floor(now / 1000),
        reloadAfter: RELOAD_AFTER,
        headers: { "Retry-After": String(RELOAD_AFTER) },
        main: html`<section class="status busy" aria-labelledby="status-title">
<h1 id="status-title"><span class="dot" aria-hidden="true"></span>Starting</h1>
<p>The node is opening and checking its files. This page reloads automatically.</p>
</section>`
      }))
}
