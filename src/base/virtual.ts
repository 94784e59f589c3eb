import { replaceTime, type TimeSource } from "./clock.ts"
import { type Consumption, replaceConsumption } from "./consumption.ts"
import { type Disk, replaceDisk } from "./disk.ts"
import { type Entropy, replaceEntropy } from "./entropy.ts"
import { type EventLoop, replaceEventLoop } from "./turns.ts"

/** The parts of the machine that a simulation can replace. */
export interface VirtualMachine {
  readonly time: TimeSource
  readonly loop: EventLoop
  readonly entropy: Entropy
  readonly consumption: Consumption
  readonly disk: Disk
}

/**
 * Replaces parts of the machine with simulated ones for the whole process, so run one simulation per process. Call it
 * before any use, because pooled random numbers or a work slice may outlast the change. Returns a function that
 * restores the old parts.
 */
export const useVirtual = ({ consumption, disk, entropy, loop, time }: Partial<VirtualMachine>): () => void => {
  const before = {
    ...(time === undefined ? {} : { time: replaceTime(time) }),
    ...(loop === undefined ? {} : { loop: replaceEventLoop(loop) }),
    ...(entropy === undefined ? {} : { entropy: replaceEntropy(entropy) }),
    ...(consumption === undefined ? {} : { consumption: replaceConsumption(consumption) }),
    ...(disk === undefined ? {} : { disk: replaceDisk(disk) })
  }
  return () => void useVirtual(before)
}
