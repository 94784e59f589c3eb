// Compares a light and a whole client for the names of a chain at every hundredth height, through reorganizations.
// Usage: node build/scripts/light/equality.js FILE|HEIGHT [NAMES [FRESH]]
// FILE: a block file of regtest, blocks.dat or blocks.dat.gz. HEIGHT: of a chain that is generated. NAMES: each so many is
// compared, besides those whose answer may have changed since the height before; 1, which is all, by default. FRESH: at each
// so many heights a new client begins there, and all names are compared; 5 by default. Prints the counts, and ends with 1 if
// answers differ.

import { Effect } from "effect"
import { readFileSync } from "node:fs"
import { gunzipSync } from "node:zlib"
import { type ConsensusParams, regtestParams } from "../../src/consensus/params.ts"
import { type Block, decodeBlock } from "../../src/protocol/block.ts"
import { blocksIn } from "../../test/support/chainLayer.ts"
import { compareClients } from "../../test/support/lightEquality.ts"
import { MAINNET_SHAPE, ShapedChain } from "../../test/support/shapedChain.ts"
import { shapedParams } from "../../test/support/shapedNetwork.ts"

// Most answers are that there is no such name, and the stack of an error costs more than the answer.
Error.stackTraceLimit = 0

interface Source {
  readonly blocks: ReadonlyArray<Block>
  readonly params: ConsensusParams
}

const fileSource = (path: string): Source => {
  const bytes = readFileSync(path)
  return { blocks: blocksIn(path.endsWith(".gz") ? gunzipSync(bytes) : bytes), params: regtestParams }
}

/** A chain of mainnet's shape with this height: registrations in its first half, then also updates. */
const generated = (height: number): Source => {
  const params = shapedParams()
  const before = { ...MAINNET_SHAPE.before, from: 130, to: Math.max(140, Math.floor(height / 2)), registrations: 1 }
  const chain = new ShapedChain(params, { ...MAINNET_SHAPE, height, before })
  const blocks = [decodeBlock(params.network.genesisBlock)]
  while (chain.height < height) blocks.push(chain.step())
  return { blocks, params }
}

const [source = "", sample = "1", fresh = "5"] = process.argv.slice(2)
const started = performance.now()
const { blocks, params } = /^\d+$/.test(source) ? generated(Number(source)) : fileSource(source)
const figures = await Effect.runPromise(Effect.scoped(compareClients({
  blocks,
  params,
  every: 100,
  depths: [1, 6, 29, 99],
  freshEvery: Number(fresh),
  sample: Number(sample),
  tell: ({ answers, different }, height) =>
    console.error(`height ${height}: ${answers} answers, ${different.length} different`)
})))
console.log(JSON.stringify({ ...figures, seconds: Math.round((performance.now() - started) / 1000) }))
process.exitCode = figures.different.length === 0 ? 0 : 1
