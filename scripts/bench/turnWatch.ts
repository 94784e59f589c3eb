// Loaded into a node that is measured (`--import turnWatch.js?file=FILE`): at each SIGUSR2 it writes to the file how long turns of the
// event loop took since the last one, as JSON, and begins again.

import { renameSync, writeFileSync } from "node:fs"
import { monitorEventLoopDelay } from "node:perf_hooks"
import { isMainThread } from "node:worker_threads"

/** Milliseconds of the timer whose delay is measured: a turn that is shorter may not be seen. */
const RESOLUTION = 1

/** The delay of the timer, without the time that it waits in any case. */
const milliseconds = (nanoseconds: number): number => Math.max(0, nanoseconds / 1e6 - RESOLUTION)

const file = new URL(import.meta.url).searchParams.get("file")
if (isMainThread && file !== null) {
  const delays = monitorEventLoopDelay({ resolution: RESOLUTION })
  delays.enable()
  process.on("SIGUSR2", () => {
    const turns = {
      count: delays.count,
      p99: milliseconds(delays.percentile(99)),
      p999: milliseconds(delays.percentile(99.9)),
      longest: milliseconds(delays.max)
    }
    delays.reset()
    writeFileSync(`${file}.new`, JSON.stringify(turns))
    renameSync(`${file}.new`, file)
  })
}
