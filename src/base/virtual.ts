import { replaceTime, type TimeSource } from "./clock.ts"
import { type Consumption, replaceConsumption } from "./consumption.ts"
import { type Disk, replaceDisk } from "./disk.ts"
import { type Entropy, replaceEntropy } from "./entropy.ts"
import { type EventLoop, replaceEventLoop } from "./turns.ts"

/** What all code of this process takes from a simulated machine. */
export interface VirtualMachine {
  readonly time: TimeSource
  readonly loop: EventLoop
  readonly entropy: Entropy
  readonly consumption: Consumption
  readonly disk: Disk
}

/**
 * Puts parts of a simulated machine in place of the real one, for the whole process: a world is a process. Comes before
 * any use, as a pool of random numbers or a slice of work may outlast the change. The result restores what was there.
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
