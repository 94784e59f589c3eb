import * as Cause from "effect/Cause"
import * as Chunk from "effect/Chunk"
import * as Layer from "effect/Layer"
import * as Logger from "effect/Logger"
import * as LogLevel from "effect/LogLevel"
import { errors } from "./metrics.ts"

/**
 * Counts the log's entries of level error. Whatever goes wrong by our own fault is logged with its cause, so this is
 * the one place that all of it passes; nobody has to remember to count.
 */
const countingLogger = Logger.make<unknown, void>(({ cause, logLevel }) => {
  if (LogLevel.lessThan(logLevel, LogLevel.Error)) return
  errors.of(Chunk.isEmpty(Cause.defects(cause)) ? "failure" : "defect").increase()
})

/** Adds the counting to the loggers that there are. */
export const layer: Layer.Layer<never> = Layer.suspend(() => Logger.add(countingLogger))
