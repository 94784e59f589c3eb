import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import type { Settings } from "../config/settings.ts"
import { deskStarting } from "../desk/deskStarting.ts"
import * as Pages from "../http/Pages.ts"
import { Lifecycle } from "../rpc/Lifecycle.ts"
import { eventsPage, eventsStarting } from "../web/events/eventsPage.ts"
import { expiryPage } from "../web/events/expiryPage.ts"
import { nostrGateway, nostrStarting } from "../web/rest/nostrGateway.ts"
import { restFind } from "../web/rest/restFind.ts"
import { restNames, restStarting } from "../web/rest/restNames.ts"
import { restProofs } from "../web/rest/restProofs.ts"
import { restResolve } from "../web/rest/restResolve.ts"
import { startingPage } from "../web/startingPage.ts"

/** The documents on the RPC listener, as configured. */

type Wanted = Pick<Settings, "chain" | "dns" | "peers" | "rpc">

/** Loaded after the listener answers, if configured. */
const statusPages = Effect.promise(() => import("../web/statusPage.ts"))
const deskPages = Effect.promise(() => import("../desk/desk.ts"))

export const layer = ({ dns, rpc }: Wanted): Layer.Layer<Pages.Pages, never, Lifecycle> =>
  Layer.unwrapEffect(Effect.map(Lifecycle, ({ phase }) =>
    Pages.layerFrom([
      ...(rpc.statusPage ? [startingPage] : []),
      ...(rpc.webWallet ? [deskStarting] : []),
      eventsStarting(phase),
      ...(rpc.rest ? [restStarting(phase)] : []),
      ...(dns.suffixes.length > 0 ? [nostrStarting] : [])
    ])))

export const pagesOfNode = ({ chain: { dataDir, network }, dns, peers: { blocksOnly }, rpc }: Wanted) =>
  Effect.gen(function*() {
    const status = rpc.statusPage
      ? [yield* (yield* statusPages).makeStatusPage({ blocksOnly, desk: rpc.webWallet })]
      : []
    const config = { behindProxy: rpc.webWalletProxy, network, dataDir, ownName: rpc.listenAddr.host }
    const desk = rpc.webWallet ? [yield* (yield* deskPages).makeDesk(config)] : []
    const rest = rpc.rest ? [yield* restNames, yield* restFind, yield* restResolve, yield* restProofs] : []
    const nostr = dns.suffixes.length > 0 ? [yield* nostrGateway(dns)] : []
    return [...status, yield* eventsPage, yield* expiryPage, ...rest, ...nostr, ...desk]
  })
