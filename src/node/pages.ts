import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import type { Settings } from "../config/settings.ts"
import { deskStarting, makeDesk } from "../desk/desk.ts"
import * as Pages from "../http/Pages.ts"
import { Lifecycle } from "../rpc/Lifecycle.ts"
import { eventsPage, eventsStarting } from "../web/events/eventsPage.ts"
import { expiryPage } from "../web/events/expiryPage.ts"
import { restFind } from "../web/rest/restFind.ts"
import { restNames, restStarting } from "../web/rest/restNames.ts"
import { makeStatusPage, startingPage } from "../web/statusPage.ts"

/** The documents on the RPC listener that the settings ask for. */

type Wanted = Pick<Settings, "blocksOnly" | "dataDir" | "desk" | "network" | "rest" | "rpc" | "statusPage">

/** The handlers while the node starts. */
export const layer = (settings: Wanted): Layer.Layer<Pages.Pages, never, Lifecycle> =>
  Layer.unwrapEffect(Effect.map(Lifecycle, ({ phase }) =>
    Pages.layerFrom([
      ...(settings.statusPage ? [startingPage] : []),
      ...(settings.desk === undefined ? [] : [deskStarting]),
      eventsStarting(phase),
      ...(settings.rest ? [restStarting(phase)] : [])
    ])))

export const pagesOfNode = (settings: Wanted) =>
  Effect.gen(function*() {
    const { blocksOnly } = settings
    const status = settings.statusPage ? [yield* makeStatusPage({ blocksOnly, desk: settings.desk !== undefined })] : []
    const desk = settings.desk === undefined
      ? []
      : [
        yield* makeDesk({
          ...settings.desk,
          network: settings.network,
          dataDir: settings.dataDir,
          ownName: settings.rpc.host
        })
      ]
    const rest = settings.rest ? [yield* restNames, yield* restFind] : []
    return [...status, yield* eventsPage, yield* expiryPage, ...rest, ...desk]
  })
