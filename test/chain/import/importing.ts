import { assert } from "@effect/vitest"
import { Effect, Logger } from "effect"
import { writeFileSync } from "node:fs"
import { join } from "node:path"
import type { Block } from "../../../src/protocol/block.ts"
import { displayHash } from "../../../src/protocol/bytes.ts"
import { regtest } from "../../../src/protocol/networks.ts"
import { blocksOf, coinState, temporaryDirectory, type TestChain } from "../../support/chain.ts"
import { fixtureJson, ownFixture } from "../../support/fixtures.ts"

/** Block files from the fixture, and a chain that imports them. */

export type Service = TestChain

export interface Expected {
  readonly checkpoints: ReadonlyArray<{
    readonly height: number
    readonly hash: string
    readonly utxo: { readonly hash_serialized_3: string }
  }>
}

export interface Invalid {
  readonly id: string
  readonly kind: string
  readonly height: number
  readonly blockHex: string
  readonly coreResult: unknown
}

export const FILE = ownFixture("regtest-names/blocks.dat")
export const { checkpoints } = fixtureJson<Expected>("regtest-names/expected.json")
export const blocks = blocksOf("regtest-names/blocks.dat")
export const invalid = fixtureJson<ReadonlyArray<Invalid>>("invalid-blocks/invalid-blocks.json")

export const MAGIC = regtest.magic

export const blockAt = (height: number): Block => {
  const block = blocks[height]
  if (block === undefined) throw new RangeError(`no block ${height}`)
  return block
}

export const upTo = (height: number): ReadonlyArray<Uint8Array> => blocks.slice(0, height + 1).map(({ bytes }) => bytes)

export const record = (bytes: Uint8Array, magic: Uint8Array = MAGIC, claimed = bytes.length): Buffer => {
  const frame = Buffer.alloc(8 + bytes.length)
  frame.set(magic)
  frame.writeUInt32LE(claimed, 4)
  frame.set(bytes, 8)
  return frame
}

export const fileOf = (records: ReadonlyArray<Uint8Array>): Buffer =>
  Buffer.concat(records.map((bytes) => record(bytes)))

/** Imports and collects the log. */
export const importing = (chain: Service, ...paths: ReadonlyArray<string>) =>
  Effect.suspend(() => {
    const said: Array<string> = []
    const logger = Logger.make(({ message }) => void said.push(String(message)))
    return chain.sink.importFrom(paths).pipe(
      Effect.map((report) => ({ report, said: said.join("\n") })),
      Effect.provide(Logger.replace(Logger.defaultLogger, logger))
    )
  })

/** Checks that the tip is a block of the fixture. Compares the coins too if the reference node's are known there. */
export const standsAt = (chain: Service, height: number) =>
  Effect.gen(function*() {
    const tip = yield* chain.tip
    assert.deepStrictEqual([tip.height, displayHash(tip.hash)], [height, displayHash(blockAt(height).hash)])
    const checkpoint = checkpoints.find((one) => one.height === height)
    if (checkpoint !== undefined) {
      assert.strictEqual((yield* coinState(chain)).hash_serialized_3, checkpoint.utxo.hash_serialized_3)
    }
  })

/** A directory, a writer of files in it, and a chain. */
export const setting = Effect.map(temporaryDirectory, (directory) => ({
  directory,
  write: (name: string, bytes: Uint8Array): string => {
    const path = join(directory, name)
    writeFileSync(path, bytes)
    return path
  }
}))
