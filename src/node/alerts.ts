import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import { type AlertServices, runExpiryAlerts } from "../alerts/ExpiryAlerts.ts"
import { AlertMail } from "../alerts/mail/AlertMail.ts"
import { Mempool } from "../mempool/Mempool.ts"
import { nameKey } from "../protocol/keys.ts"

export const alertsOfNode: Effect.Effect<
  Effect.Effect<void, never, Scope.Scope>,
  never,
  AlertServices | Mempool
> = Effect.gen(function*() {
  const services = yield* Effect.context<AlertServices>()
  const { run: sendMail } = yield* AlertMail
  const pool = yield* Mempool
  return runExpiryAlerts({ isPending: (name) => pool.pending(nameKey(name)).length > 0 }).pipe(
    Effect.zipRight(sendMail),
    Effect.provide(services)
  )
})
