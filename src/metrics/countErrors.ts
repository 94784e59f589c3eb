import * as Cause from "effect/Cause"
import * as Chunk from "effect/Chunk"
import * as Layer from "effect/Layer"
import * as Logger from "effect/Logger"
import * as LogLevel from "effect/LogLevel"
import { errors } from "./metrics.ts"

/** Every internal error is logged at level error with its cause, so this counts them all. */
const countingLogger = Logger.make<unknown, void>(({ cause, logLevel }) => {
  if (LogLevel.lessThan(logLevel, LogLevel.Error)) return
  errors.of(Chunk.isEmpty(Cause.defects(cause)) ? "failure" : "defect").increase()
})

export const layer: Layer.Layer<never> = Layer.suspend(() => Logger.add(countingLogger))
