import { meetsTarget } from "../../src/consensus/difficulty.ts"
import { regtestParams } from "../../src/consensus/params.ts"
import { type BlockHeader, decodeBlock } from "../../src/protocol/block.ts"
import { type Header, makeHeader } from "../../src/protocol/header.ts"

/** A header with proof of work; nearly every second nonce of regtest has it. */
const mined = (parts: Omit<Parameters<typeof makeHeader>[0], "nonce">): Header => {
  for (let nonce = 0;; nonce++) {
    const header = makeHeader({ ...parts, nonce })
    if (meetsTarget(header.hash, parts.bits, regtestParams.powLimit)) return header
  }
}

/** Headers on regtest after the first block, some at a time. */
export const minedHeaders = function*(
  { atOnce, count }: { readonly atOnce: number; readonly count: number }
): Iterable<ReadonlyArray<BlockHeader>> {
  const genesis = decodeBlock(regtestParams.network.genesisBlock)
  const merkleRoot = new Uint8Array(32)
  let last = genesis.header
  for (let made = 0; made < count; made += atOnce) {
    yield Array.from({ length: atOnce }, () => {
      const { bits, hash, time } = last
      last = mined({ version: 0x00010004, prevHash: hash, merkleRoot, time: time + 1, bits })
      return { header: last, auxpow: undefined }
    })
  }
}
