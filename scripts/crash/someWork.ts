import { Ledger } from "./Ledger.ts"
import { Load } from "./Load.ts"
import type { Random } from "./random.ts"
import { pause, type RpcClient } from "./rpc.ts"

/** Milliseconds after which a daemon that answers too little is killed all the same. */
const PATIENCE = 20_000

export interface SomeWork {
  readonly directory: string
  readonly rpc: RpcClient
  readonly tag: string
  /** What the daemon acknowledged before, and will have to have. By default it is not looked at. */
  readonly ledger?: Ledger
  /** Whether the work goes on until the kill, and not only until there are enough answers. */
  readonly isEndless?: boolean
  /** Called for each answer. */
  readonly answered?: () => void
}

/**
 * Works with the wallet of a daemon until some answers came and some milliseconds passed: then it is time for a kill. `done`
 * resolves with the number of acknowledged steps when the work has ended, which a kill makes it do.
 */
export const someWork = async (
  { answered = () => {}, directory, isEndless = false, ledger, rpc, tag }: SomeWork,
  random: Random,
  { answers: most, delay }: { readonly answers: number; readonly delay: number }
): Promise<{ readonly done: Promise<number> }> => {
  const target = 1 + random.below(most)
  let answers = 0
  let reached: (() => void) | undefined
  const enough = new Promise<void>((resolve) => (reached = resolve))
  const load = new Load({
    rpc,
    ledger: ledger ?? new Ledger(() => answers),
    random,
    directory,
    tag,
    pace: (count) => {
      answers = count
      answered()
      if (count >= target) reached?.()
      return isEndless || count < target
    }
  })
  const done = load.run().catch(() => {}).then(() => load.acknowledged)
  await Promise.race([enough, done, pause(PATIENCE)])
  await pause(random.below(delay))
  return { done }
}
