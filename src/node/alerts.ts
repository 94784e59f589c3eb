import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import { join } from "node:path"
import { type AlertServices, runExpiryAlerts } from "../alerts/ExpiryAlerts.ts"
import type { Settings } from "../config/settings.ts"
import { Mempool } from "../mempool/Mempool.ts"
import { nameKey } from "../protocol/keys.ts"

/** Notices of a node before names expire. */
export const alertsOfNode = (
  { dataDir }: Settings
): Effect.Effect<Effect.Effect<void, never, Scope.Scope>, never, AlertServices | Mempool> =>
  Effect.gen(function*() {
    const services = yield* Effect.context<AlertServices>()
    const pool = yield* Mempool
    return runExpiryAlerts({
      filename: join(dataDir, "alerts.json"),
      isPending: (name) => pool.pending(nameKey(name)).length > 0
    }).pipe(Effect.provide(services))
  })
