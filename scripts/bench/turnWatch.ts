// Loaded into a node that is measured (`--import turnWatch.js?file=FILE`): at each SIGUSR2 it writes to the file how long turns of the
// event loop took since the last one, as JSON, and begins again.

import { existsSync, openSync, readSync, renameSync, writeFileSync } from "node:fs"
import { createHistogram, monitorEventLoopDelay } from "node:perf_hooks"
import { isMainThread } from "node:worker_threads"

/** Milliseconds of the timer whose delay is measured: a turn that is shorter may not be seen. */
const RESOLUTION = 1

/** The delay of the timer, without the time that it waits in any case. */
const milliseconds = (nanoseconds: number): number => Math.max(0, nanoseconds / 1e6 - RESOLUTION)

/** Where Linux tells the processor time of the main thread: its first number, in nanoseconds. */
const SCHEDULED = `/proc/self/task/${process.pid}/schedstat`

/**
 * Processor time of the main thread from one run of the timer to the next. Unlike the delay, it does not count the time in which other
 * programs, or other threads of this one, have the processor. Without Linux there is none.
 */
const watchCpu = () => {
  const times = createHistogram()
  if (!existsSync(SCHEDULED)) return times
  const descriptor = openSync(SCHEDULED, "r")
  const bytes = Buffer.alloc(64)
  const used = (): number =>
    Number.parseInt(bytes.toString("latin1", 0, readSync(descriptor, bytes, 0, bytes.length, 0)), 10)
  let before = used()
  setInterval(() => {
    const now = used()
    times.record(Math.max(1, now - before))
    before = now
  }, RESOLUTION).unref()
  return times
}

const file = new URL(import.meta.url).searchParams.get("file")
if (isMainThread && file !== null) {
  const delays = monitorEventLoopDelay({ resolution: RESOLUTION })
  delays.enable()
  const cpu = watchCpu()
  process.on("SIGUSR2", () => {
    const turns = {
      count: delays.count,
      p99: milliseconds(delays.percentile(99)),
      p999: milliseconds(delays.percentile(99.9)),
      longest: milliseconds(delays.max),
      cpuP999: cpu.percentile(99.9) / 1e6,
      longestCpu: cpu.max / 1e6
    }
    delays.reset()
    cpu.reset()
    writeFileSync(`${file}.new`, JSON.stringify(turns))
    renameSync(`${file}.new`, file)
  })
}
