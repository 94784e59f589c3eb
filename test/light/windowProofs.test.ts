import { assert, describe, it } from "@effect/vitest"
import Database from "better-sqlite3"
import { join } from "node:path"
import { regtestParams } from "../../src/consensus/params.ts"
import { evidenceInWindow } from "../../src/light/windowEvidence.ts"
import { nameDocument } from "../../src/names/nameEvidence.ts"
import type { Block } from "../../src/protocol/block.ts"
import { type Bytes, EMPTY, toHex } from "../../src/protocol/bytes.ts"
import { fixtureBlocks } from "../support/chainFixture.ts"
import { MemoryChain, trustScripts } from "../support/MemoryChain.ts"
import { proofOf } from "../support/nameProofs.ts"
import { mine, text } from "../support/regtest.ts"
import { withDirectory } from "../support/temporary.ts"
import { allBlocks } from "../support/twoBranches.ts"
import { fill, type OpenWindow, openWindow } from "./openWindow.ts"

/** The window of a light chain, and what it proves, beside proofs made from whole blocks. */

const blocks = fixtureBlocks("regtest-names/blocks.dat")

const NETWORK = "regtest"

const WANTED = { headers: 6, chain: true }

const documentOf = ({ chain, file }: OpenWindow, name: Bytes) => {
  const tip = { height: chain.height, hash: chain.tree.hash(chain.tree.tip()).slice() }
  const found = evidenceInWindow({ file, tip, low: chain.range.low }, name, WANTED)
  return "_tag" in found ? found.message : nameDocument(found, { name, network: NETWORK })
}

/** Proofs made from the blocks of the window alone. */
const expected = ({ chain }: OpenWindow, all: ReadonlyArray<Block>, name: Bytes) => {
  const { low } = chain.range
  return proofOf({ network: NETWORK, low, blocks: all.slice(low) }, name, { whole: true })
}

const compareAll = (window: OpenWindow, all: ReadonlyArray<Block>): number => {
  const names = window.file.namesFrom(EMPTY, 10_000)
  for (const name of names) {
    assert.deepStrictEqual(documentOf(window, name), expected(window, all, name), toHex(name))
  }
  return names.length
}

describe("a window that keeps proofs", () => {
  it("proves each of its names as whole blocks do", () =>
    withDirectory((directory) => {
      const window = openWindow(directory, true)
      fill(window, blocks.slice(1))
      assert.isAbove(compareAll(window, blocks), 30)
      window.file.close()
    }))

  it("follows new blocks, and keeps its proofs over a restart", () =>
    withDirectory((directory) => {
      const first = openWindow(directory, true)
      fill(first, blocks.slice(1, 560))
      first.file.close()
      const second = openWindow(directory, true)
      assert.strictEqual(second.chain.height, 559)
      for (const block of blocks.slice(560)) {
        assert.isUndefined(second.chain.take(block))
        second.chain.settle()
      }
      assert.strictEqual(second.chain.height, blocks.length - 1)
      assert.isAbove(compareAll(second, blocks), 30)
      second.file.close()
    }))

  it("proves the names of a branch with more work after a reorganization", () =>
    withDirectory((directory) => {
      const window = openWindow(directory, true)
      fill(window, blocks.slice(1))
      const other = new MemoryChain(regtestParams, trustScripts)
      for (const block of blocks.slice(1, 586)) other.connect(block)
      while (other.height < blocks.length + 4) mine(other, [])
      const branch = allBlocks(other)
      for (const block of branch.slice(586)) {
        assert.isUndefined(window.chain.take(block))
        window.chain.settle()
      }
      assert.strictEqual(window.chain.height, other.height)
      assert.isAbove(compareAll(window, branch), 30)
      window.file.close()
    }))

  it("is filled again if it was filled without, and forgets proofs that nobody wants", () =>
    withDirectory((directory) => {
      const without = openWindow(directory, false)
      fill(without, blocks.slice(1))
      const [name = EMPTY] = without.file.namesFrom(EMPTY, 1)
      assert.include(documentOf(without, name), "Start it with -nameproofs")
      without.file.close()
      const dropped = openWindow(directory, true)
      assert.isUndefined(dropped.file.state()?.window)
      assert.lengthOf(dropped.file.namesFrom(EMPTY, 1), 0)
      fill(dropped, blocks.slice(1))
      assert.isAbove(compareAll(dropped, blocks), 30)
      dropped.file.close()
      const again = openWindow(directory, false)
      assert.lengthOf(again.file.heads(again.chain.range.low, 1), 0)
      assert.strictEqual(again.chain.height, blocks.length - 1)
      again.file.close()
    }))

  it("proves the newest operations of a name whose earlier ones were stored without", () =>
    withDirectory((directory) => {
      const window = openWindow(directory, true)
      fill(window, blocks.slice(1))
      const { chain, file } = window
      const now = { tip: { height: chain.height, hash: chain.tree.hash(chain.tree.tip()) }, low: chain.range.low }
      const name = text("d/kelp38c6")
      const rows = file.provenOf(name, 200)
      assert.isAbove(rows.length, 1)
      const lacking = (at: number) => ({
        heads: file.heads.bind(file),
        provenOf: () => rows.map((row, i) => i === at ? { ...row, kept: undefined } : row)
      })
      const found = evidenceInWindow({ ...now, file: lacking(1) }, name, WANTED)
      assert.deepStrictEqual("_tag" in found ? found.message : found.operations.length, 1)
      const newest = evidenceInWindow({ ...now, file: lacking(0) }, name, WANTED)
      assert.strictEqual("_tag" in newest ? newest._tag : undefined, "ProofUnavailable")
      file.close()
    }))

  it("opens a file of the form without proofs", () =>
    withDirectory((directory) => {
      const window = openWindow(directory, false)
      fill(window, blocks.slice(1))
      window.file.close()
      const older = new Database(join(directory, "names-window.db"))
      older.exec(`DROP INDEX operations_by_script; DROP INDEX operations_by_txid; DROP TABLE heads;
        ALTER TABLE operations DROP COLUMN script; ALTER TABLE operations DROP COLUMN txid;
        ALTER TABLE operations DROP COLUMN branch; PRAGMA user_version = 3`)
      older.close()
      const { chain, file } = openWindow(directory, false)
      assert.strictEqual(chain.height, blocks.length - 1)
      assert.isAbove(file.namesFrom(EMPTY, 100).length, 30)
      file.close()
    }))
})
