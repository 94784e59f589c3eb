import { assert, describe, it } from "@effect/vitest"
import fc from "fast-check"
import { join } from "node:path"
import { BlockIndex } from "../../src/chain/index/BlockIndex.ts"
import { expirationDepth, isExpired } from "../../src/consensus/expiry.ts"
import { nameEffects } from "../../src/consensus/names.ts"
import { type ConsensusParams, regtestParams } from "../../src/consensus/params.ts"
import { LightChain } from "../../src/light/LightChain.ts"
import { LightHeaders } from "../../src/light/LightHeaders.ts"
import { WindowFile } from "../../src/light/WindowFile.ts"
import type { Block } from "../../src/protocol/block.ts"
import { toHex } from "../../src/protocol/bytes.ts"
import { type NameKey, nameKey } from "../../src/protocol/keys.ts"
import { blocksOf } from "../support/chain.ts"
import { withDirectory } from "../support/temporary.ts"

const BLOCKS = blocksOf("regtest-names/blocks.dat")

interface Expected {
  readonly name: Uint8Array
  readonly value: string
  readonly height: number
}

/** The newest operation on each name in the blocks of a chain up to a height, unexpired ones alone. */
const namesAt = (blocks: ReadonlyArray<Block>, tip: number): ReadonlyMap<NameKey, Expected> => {
  const found = new Map<NameKey, Expected>()
  for (let height = 1; height <= tip; height++) {
    const block = blocks[height]
    if (block === undefined) throw new RangeError(`there is no block ${height}`)
    for (const { name, operation } of nameEffects(block, height, regtestParams)) {
      found.set(nameKey(name), { name, value: toHex(operation.value), height })
    }
  }
  for (const [key, entry] of found) if (isExpired(entry, tip, regtestParams)) found.delete(key)
  return found
}

const open = (
  directory: string,
  params: ConsensusParams
): { readonly chain: LightChain; readonly file: WindowFile } => {
  const file = new WindowFile(join(directory, "names-window.db"), 4096)
  const index = new BlockIndex()
  const stored = file.state()
  if (stored !== undefined) index.load(file.pages(), stored.headerCount)
  const headers = new LightHeaders(index, params, () => 1_900_000_000)
  return { file, chain: new LightChain(file, headers) }
}

const addHeaders = (chain: LightChain, blocks: ReadonlyArray<Block>, from: number, to: number): void => {
  for (const block of blocks.slice(from, to + 1)) assert.strictEqual(chain.headers.accept(block).type, "new")
}

const offer = (chain: LightChain, blocks: Iterable<Block | undefined>): void => {
  for (const block of blocks) {
    if (block !== undefined) assert.isUndefined(chain.take(block))
    chain.settle()
  }
}

const assertNames = (file: WindowFile, blocks: ReadonlyArray<Block>, tip: number): void => {
  const expected = namesAt(blocks, tip)
  const everyName = new Map<NameKey, Uint8Array>()
  for (let height = 1; height < blocks.length; height++) {
    const block = blocks[height]
    if (block === undefined) continue
    for (const { name } of nameEffects(block, height, regtestParams)) everyName.set(nameKey(name), name)
  }
  for (const [key, name] of everyName) {
    const found = file.newest(name)
    const lives = found !== undefined && !isExpired(found, tip, regtestParams)
    const wanted = expected.get(key)
    assert.deepStrictEqual(
      lives ? { value: toHex(found.value), height: found.height } : undefined,
      wanted === undefined ? undefined : { value: wanted.value, height: wanted.height },
      `${Buffer.from(name).toString("latin1")} at ${tip}`
    )
  }
}

/** The blocks of a window with this tip, the newest first. */
const windowOf = (blocks: ReadonlyArray<Block>, tip: number): ReadonlyArray<Block> => {
  const first = Math.max(1, tip - expirationDepth(tip, regtestParams) - 99)
  return blocks.slice(first, tip + 1).toReversed()
}

describe("LightChain", () => {
  it("knows the names of the chain at every fiftieth height", () =>
    withDirectory((directory) => {
      for (let tip = 50; tip < BLOCKS.length; tip += 50) {
        withDirectory((inner) => {
          const { chain, file } = open(inner, regtestParams)
          addHeaders(chain, BLOCKS, 1, tip)
          chain.begin()
          offer(chain, windowOf(BLOCKS, tip))
          assert.isTrue(chain.isComplete)
          assertNames(file, BLOCKS, tip)
          file.close()
        })
      }
      assert.isString(directory)
    }), 120_000)

  it("takes blocks in any order, while the chain grows and the node restarts", () =>
    fc.assert(
      fc.property(fc.integer({ min: 100, max: 400 }), fc.integer({ min: 0, max: 40 }), fc.infiniteStream(fc.nat()), (
        start,
        more,
        dice
      ) =>
        withDirectory((directory) => {
          let { chain, file } = open(directory, regtestParams)
          addHeaders(chain, BLOCKS, 1, start)
          chain.begin()
          const tip = start + more
          addHeaders(chain, BLOCKS, start + 1, tip)
          const rest = [...windowOf(BLOCKS, start), ...BLOCKS.slice(start + 1, tip + 1)]
          while (rest.length > 0) {
            const [block] = rest.splice((dice.next().value ?? 0) % Math.min(rest.length, 8), 1)
            offer(chain, [block])
            if ((dice.next().value ?? 0) % 60 === 0) {
              chain.flush()
              file.close()
              ;({ chain, file } = open(directory, regtestParams))
              if (chain.first === Infinity) chain.begin()
              // Blocks that waited are gone, and are requested again.
              const lost = [...windowOf(BLOCKS, start), ...BLOCKS.slice(start + 1, tip + 1)].filter((candidate) =>
                !chain.hasBlock(chain.index.find(candidate.hash)) && !rest.includes(candidate)
              )
              rest.push(...lost)
            }
          }
          assert.strictEqual(chain.height, tip)
          assertNames(file, BLOCKS, tip)
          file.close()
        })),
      { numRuns: 15 }
    ), 120_000)
})
