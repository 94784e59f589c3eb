import { assert, describe, it } from "@effect/vitest"
import { ImportFailed, unreadBlocks } from "../../src/chain/errors.ts"

describe("ImportFailed", () => {
  it("keeps its remedy where the file is the node's own store", () => {
    const full = new ImportFailed({ file: "/data/blk00000.dat", reason: "the disk is full", code: "ENOSPC" })
    assert.strictEqual(full.message, "cannot import /data/blk00000.dat: the disk is full; make room and start again")
    assert.strictEqual(
      unreadBlocks(full).message,
      "reading /data/blk00000.dat failed: the disk is full; make room and start again"
    )
  })
})
