import { decodeCompact, meetsTarget } from "../../src/consensus/difficulty.ts"
import { type ChainAnchor, type ConsensusParams, regtestParams } from "../../src/consensus/params.ts"
import { decodeBlock, makeBlock } from "../../src/protocol/block.ts"
import { hash256 } from "../../src/protocol/hash.ts"
import { Header, HEADER_SIZE, makeHeader } from "../../src/protocol/header.ts"
import { type Network, regtest } from "../../src/protocol/networks.ts"

/**
 * A network for chains of mainnet's shape: the rules of mainnet on retargets and on the life of names, with proof of work that
 * a test can find. A hash has to be tried some 150 times, and a block follows each second: with longer periods, the product
 * of target and time in a retarget would exceed 256 bits.
 */

const BITS = 0x2001b000

/** Blocks between two retargets, one second each. */
const INTERVAL = 36

/** 1 January 2026. */
const START = 1_767_225_600

const LIMIT = decodeCompact(BITS).target

/** Finds the nonce of a header; deterministic. `powLimit`: that of the network. */
export const ground = (parts: Omit<Parameters<typeof makeHeader>[0], "nonce">, powLimit = LIMIT): Header => {
  const bytes = Uint8Array.from(makeHeader({ ...parts, nonce: 0 }).bytes)
  const view = new DataView(bytes.buffer)
  for (let nonce = 0;; nonce++) {
    view.setUint32(HEADER_SIZE - 4, nonce, true)
    if (meetsTarget(hash256(bytes), parts.bits, powLimit)) return new Header(bytes)
  }
}

const genesis = (): Pick<Network, "genesisBlock" | "genesisHash"> => {
  const { header, transactions } = decodeBlock(regtest.genesisBlock)
  const own = ground({
    version: header.version,
    prevHash: header.prevHash,
    merkleRoot: header.merkleRoot,
    time: START,
    bits: BITS
  })
  return { genesisBlock: makeBlock({ header: own, auxpow: undefined }, transactions).bytes, genesisHash: own.hash }
}

/** The network, with one anchor or none. */
export const shapedParams = (anchors: ReadonlyArray<ChainAnchor> = []): ConsensusParams => ({
  ...regtestParams,
  network: { ...regtest, ...genesis() },
  powLimit: LIMIT,
  targetTimespan: INTERVAL,
  targetSpacing: 1,
  retargetInterval: INTERVAL,
  minDifficultySince: undefined,
  noRetargeting: false,
  halvingInterval: 210_000,
  expiry: "growing",
  minimumChainWork: anchors.at(-1)?.chainwork ?? 0n,
  anchors,
  snapshots: []
})
