import { blocksOf, withChain } from "./chain.ts"
import { madeOnce } from "./madeOnce.ts"

/** Puts the first blocks of the chain `regtest-names` into a directory without a chain. They are checked once a run. */
export const fillChain = (directory: string, upTo = 600) =>
  madeOnce({
    name: `regtest-names-${upTo}`,
    make: (draft) =>
      withChain(draft, (chain) => chain.sink.deliver(blocksOf("regtest-names/blocks.dat").slice(1, upTo + 1), true)),
    into: directory
  })
