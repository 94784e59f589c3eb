import { Ledger } from "./Ledger.ts"
import { Load } from "./Load.ts"
import type { Random } from "./random.ts"
import { pause, type RpcClient } from "./rpc.ts"

/** Milliseconds after which a daemon that answers too little is killed all the same. */
const PATIENCE = 20_000

/**
 * Works with the wallet of a daemon until some answers came and some milliseconds passed: then it is time for a kill. `done`
 * resolves when the work has ended, which a kill makes it do.
 */
export const someWork = async (
  { directory, rpc, tag }: { readonly directory: string; readonly rpc: RpcClient; readonly tag: string },
  random: Random,
  { answers: most, delay }: { readonly answers: number; readonly delay: number }
): Promise<{ readonly done: Promise<unknown> }> => {
  const target = 1 + random.below(most)
  let answers = 0
  let reached: (() => void) | undefined
  const enough = new Promise<void>((resolve) => (reached = resolve))
  const load = new Load({
    rpc,
    ledger: new Ledger(() => answers),
    random,
    directory,
    tag,
    pace: (count) => {
      answers = count
      if (count >= target) reached?.()
      return count < target
    }
  })
  const done = load.run().catch(() => {})
  await Promise.race([enough, done, pause(PATIENCE)])
  await pause(random.below(delay))
  return { done }
}
