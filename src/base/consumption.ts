/** Resource usage of this process, in microseconds. */
export interface Usage {
  readonly userCPUTime: number
  readonly systemCPUTime: number
  /** Forced by other programs. */
  readonly involuntaryContextSwitches: number
}

/** Milliseconds that this thread's event loop was active and idle. */
export interface LoopTime {
  readonly active: number
  readonly idle: number
}

/** The resource usage that decisions depend on. Only `useVirtual` replaces it. */
export interface Consumption {
  readonly usage: () => Usage
  readonly loopTime: () => LoopTime
  /** Bytes of the heap. Infinity disables forced garbage collection (node/releaseMemory.ts). */
  readonly heapUsed: () => number
}

let consumption: Consumption = {
  usage: () => process.resourceUsage(),
  loopTime: () => performance.eventLoopUtilization(),
  heapUsed: () => process.memoryUsage().heapUsed
}

export const replaceConsumption = (other: Consumption): Consumption => {
  const replaced = consumption
  consumption = other
  return replaced
}

export const resourceUsage = (): Usage => consumption.usage()

export const heapUsed = (): number => consumption.heapUsed()

/** The share of time, between 0 and 1, that the event loop was active since the last call. */
export const loopShare = (): () => number => {
  let last = consumption.loopTime()
  return () => {
    const now = consumption.loopTime()
    const active = now.active - last.active
    const idle = now.idle - last.idle
    last = now
    return active > 0 ? active / (active + idle) : 0
  }
}
