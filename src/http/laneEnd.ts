import * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import type { BatchReply } from "../rpc/batch.ts"
import { JSON_TYPE } from "../rpc/envelope.ts"
import type { FastLane } from "./FastLane.ts"
import type { HttpServiceConfig } from "./httpServiceConfig.ts"
import { BUSY, FAILED, type HttpRefusal, PLAIN_TEXT, STOPPING } from "./refusals.ts"

interface LaneEndOptions extends Pick<HttpServiceConfig, "onRefused" | "run"> {
  readonly release: () => void
  readonly isStopping: () => boolean
}

interface LaneEnd {
  readonly end: (exit: Exit.Exit<BatchReply>) => void
  readonly fail: (cause: Cause.Cause<never>) => void
}

/** Ends a call in the fast lane with its reply, or with the refusal that Node's server would send. */
export const laneEnd = (lane: FastLane, { isStopping, onRefused, release, run }: LaneEndOptions): LaneEnd => {
  const refuse = ({ close = false, status, text }: HttpRefusal): void => {
    onRefused?.(status)
    lane.answer({ status, type: PLAIN_TEXT, body: text, last: close })
  }
  const fail = (cause: Cause.Cause<never>): void => {
    run(Effect.logError("RPC request failed unexpectedly", cause))
    refuse(FAILED)
  }
  const end = (exit: Exit.Exit<BatchReply>): void => {
    release()
    if (exit._tag === "Failure") {
      if (!Exit.isInterrupted(exit)) return fail(exit.cause)
      return refuse(isStopping() ? STOPPING : BUSY)
    }
    const { body, status } = exit.value
    const last = isStopping()
    try {
      if (typeof body !== "string") lane.answerLong({ status, type: JSON_TYPE, body, last })
      else lane.answer({ status, type: JSON_TYPE, body: body === "" ? "" : `${body}\n`, last })
    } catch (defect) {
      fail(Cause.die(defect))
    }
  }
  return { end, fail }
}
