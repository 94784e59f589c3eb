import type * as Effect from "effect/Effect"
import type * as Fiber from "effect/Fiber"
import type { MemoryBudget } from "../base/MemoryBudget.ts"
import type { CallerNet, PermissionSettings } from "../config/accessKinds.ts"
import type { Dispatch } from "../rpc/Dispatch.ts"
import type { Phase } from "../rpc/Lifecycle.ts"
import type { KnownUsers } from "./auth.ts"
import type { Health } from "./health.ts"
import type { Pages } from "./Pages.ts"

export interface HttpServiceConfig {
  readonly dispatch: typeof Dispatch.Service
  readonly health: typeof Health.Service
  readonly pages: typeof Pages.Service
  readonly phase: () => Phase
  readonly run: <A>(effect: Effect.Effect<A>) => Fiber.RuntimeFiber<A>
  readonly users: KnownUsers
  readonly permissions: PermissionSettings
  /** Networks of allowed callers; empty for all. */
  readonly allowed: ReadonlyArray<CallerNet>
  /** Name or address of the listener. */
  readonly ownName: string
  readonly connections: number
  readonly rateLimit: number
  readonly maxRequestSize: number
  /** Memory that callers can make the node hold. */
  readonly budget: MemoryBudget
  readonly concurrentRequests: number
  /** Readers of streams at a time. */
  readonly readers: number
  /** Milliseconds between two requests, or without progress of an answer, before a connection is closed. */
  readonly idleTimeout: number
  /** Milliseconds until the answer to wrong credentials. */
  readonly penalty: number
  readonly fastLane: boolean
  readonly onRefused: ((status: number) => void) | undefined
}
