import { mkdirSync, readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { ChainState } from "../../src/chain/state/ChainState.ts"
import { ChainStores } from "../../src/chain/state/ChainStores.ts"
import { regtestParams } from "../../src/consensus/params.ts"
import { runSteps } from "../../src/protocol/steps.ts"

/** The limits of a batch of blocks. */
export const BATCH_LIMITS = { blocks: 64, inputs: 4_000, bytes: 4_000_000 }

/** The stores of a chain on real files in `directory`. */
export const openStores = (directory: string): ChainStores => {
  const [blocksDirectory, chainstateDirectory] = [join(directory, "blocks"), join(directory, "chainstate")]
  for (const path of [blocksDirectory, chainstateDirectory]) mkdirSync(path, { recursive: true })
  return new ChainStores({ params: regtestParams, blocksDirectory, chainstateDirectory, pageSize: 4096 })
}

/** A chain state on open stores. */
export const stateOn = (stores: ChainStores): ChainState =>
  new ChainState(stores, { params: regtestParams, coinCacheBytes: 1e8, now: () => 1_900_000_000 })

/** A chain state on real files in `directory`. */
export const openState = (directory: string): ChainState => stateOn(openStores(directory))

/** Stores everything and closes. */
export const closeState = (state: ChainState): void => {
  state.flush()
  state.close()
}

/** Connects blocks as long as no block has to be disconnected; scripts are assumed valid. */
export const connectAll = (state: ChainState): void => {
  for (let step = state.forks.nextStep(); step.type === "connect"; step = state.forks.nextStep()) {
    state.connector.settle(runSteps(state.connector.prepare(step.target, BATCH_LIMITS, () => {})), undefined)
  }
}

/** Connects and disconnects up to the best chain, until nothing is left to do or a block is missing. */
export const moveAll = (state: ChainState): void => {
  for (
    let step = state.forks.nextStep();
    step.type === "connect" || step.type === "disconnect";
    step = state.forks.nextStep()
  ) {
    if (step.type === "disconnect") state.connector.disconnectTip()
    else connectAll(state)
  }
}

/** Flips one bit of a file. */
export const flipBit = (file: string, bit: number): void => {
  const bytes = readFileSync(file)
  const at = (bit >>> 3) % bytes.length
  bytes.writeUInt8(bytes.readUInt8(at) ^ (1 << (bit & 7)), at)
  writeFileSync(file, bytes)
}
