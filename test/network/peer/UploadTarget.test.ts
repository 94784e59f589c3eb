import { assert, describe, it } from "@effect/vitest"
import { UPLOAD_CYCLE, UploadTarget } from "../../../src/network/peer/UploadTarget.ts"

const NOW = 1_700_000_000
const MB = 1_000_000

describe("UploadTarget", () => {
  it("without a target nothing is refused, and nothing is left", () => {
    const upload = new UploadTarget(0)
    upload.sent(1e12, NOW)
    assert.deepStrictEqual(upload.state(NOW), {
      target: 0,
      isReached: false,
      servesOldBlocks: true,
      bytesLeft: 0,
      secondsLeft: 0
    })
  })

  it("old blocks are refused first: the rest is for one new block in ten minutes", () => {
    const upload = new UploadTarget(800 * MB)
    assert.deepStrictEqual([upload.refusesOldBlocks(NOW), upload.state(NOW).secondsLeft], [false, UPLOAD_CYCLE])
    upload.sent(224 * MB - 1, NOW)
    assert.isFalse(upload.refusesOldBlocks(NOW))
    upload.sent(1, NOW)
    assert.isTrue(upload.refusesOldBlocks(NOW))
    assert.isFalse(upload.isReached())
    // Half a day later the room for 72 blocks is free again.
    assert.isFalse(upload.refusesOldBlocks(NOW + UPLOAD_CYCLE / 2))
    upload.sent(576 * MB, NOW)
    assert.isTrue(upload.isReached())
    assert.strictEqual(upload.state(NOW).bytesLeft, 0)
  })

  it("a small target serves no old blocks at all", () => {
    assert.isTrue(new UploadTarget(MB).refusesOldBlocks(NOW))
  })

  it("a new cycle begins after a day", () => {
    const upload = new UploadTarget(800 * MB)
    upload.sent(900 * MB, NOW)
    assert.strictEqual(upload.state(NOW + UPLOAD_CYCLE + 1).secondsLeft, 0)
    upload.sent(MB, NOW + UPLOAD_CYCLE + 1)
    assert.deepInclude(upload.state(NOW + UPLOAD_CYCLE + 1), { isReached: false, bytesLeft: 799 * MB })
  })
})
