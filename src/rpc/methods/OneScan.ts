import * as Effect from "effect/Effect"
import { SCAN_RUNS } from "../contract/chain/scanObjects.ts"
import { RpcError } from "../method/RpcError.ts"

/** A search that runs once at a time. Another call can read its progress or abort it. */
export class OneScan {
  /** Percent. */
  progress = 0
  running = false
  aborted = false

  alone<A>(work: Effect.Effect<A, RpcError>): Effect.Effect<A, RpcError> {
    return Effect.suspend(() => {
      if (this.running) return RpcError.invalidParameter(SCAN_RUNS)
      this.running = true
      this.aborted = false
      this.progress = 0
      return Effect.ensuring(work, Effect.sync(() => void (this.running = false)))
    })
  }

  /** Returns whether a search was running, which then ends soon. */
  abort(): boolean {
    if (this.running) this.aborted = true
    return this.running
  }

  /** `status` describes the running search. */
  act<A, S>(
    action: string,
    { start, status }: { readonly start: Effect.Effect<A, RpcError>; readonly status: () => S }
  ): Effect.Effect<A | S | boolean | null, RpcError> {
    switch (action) {
      case "start":
        return this.alone(start)
      case "abort":
        return Effect.sync(() => this.abort())
      case "status":
        return Effect.sync(() => this.running ? status() : null)
      default:
        return RpcError.invalidParameter(`Invalid action '${action}'`)
    }
  }
}
