import type * as Effect from "effect/Effect"
import type * as Fiber from "effect/Fiber"
import type { MemoryBudget } from "../base/MemoryBudget.ts"
import type { CallerNet, PermissionSettings } from "../config/accessKinds.ts"
import type { Dispatch } from "../rpc/Dispatch.ts"
import type { Phase } from "../rpc/Lifecycle.ts"
import type { KnownUsers } from "./auth.ts"
import type { Health } from "./health.ts"
import type { Pages } from "./Pages.ts"

/** What the listener is made of. */
export interface HttpServiceConfig {
  readonly dispatch: typeof Dispatch.Service
  readonly health: typeof Health.Service
  readonly pages: typeof Pages.Service
  readonly phase: () => Phase
  readonly run: <A>(effect: Effect.Effect<A>) => Fiber.RuntimeFiber<A>
  readonly users: KnownUsers
  /** What these users may call. */
  readonly permissions: PermissionSettings
  /** The networks whose callers are answered; empty for all. */
  readonly allowed: ReadonlyArray<CallerNet>
  /** The name or address of the listener. */
  readonly ownName: string
  readonly connections: number
  readonly rateLimit: number
  readonly maxRequestSize: number
  /** The budget of memory that callers can make the node hold. */
  readonly budget: MemoryBudget
  readonly concurrentRequests: number
  /** Readers of streams at the same time. */
  readonly readers: number
  /** Milliseconds between two requests, and without progress of an answer, after which a connection is closed. */
  readonly idleTimeout: number
  /** Milliseconds by which the answer to wrong credentials is delayed. */
  readonly penalty: number
  readonly fastLane: boolean
  readonly onRefused: ((status: number) => void) | undefined
}
