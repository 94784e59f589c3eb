import { assert, describe, it } from "@effect/vitest"
import type { Difference } from "../../scripts/crash/flipData.ts"
import { chooseFlip, kindOf } from "../../scripts/crash/flipKinds.ts"
import { isFailure, judge, type Observation } from "../../scripts/crash/judgeFlip.ts"
import { Random } from "../../scripts/crash/random.ts"

const WELL: Observation = {
  file: "names.db",
  directory: "/data",
  start: { _tag: "Ready" },
  ended: undefined,
  first: [],
  last: undefined,
  notReady: undefined,
  warnings: [],
  stopped: true
}

const DIFFERENT: Difference = {
  question: ["name_show", "d/example"],
  expected: `{"result":"a"}`,
  got: `{"result":"b"}`,
  refused: false,
  readyBefore: true,
  readyAfter: true
}

const REFUSED: Difference = { ...DIFFERENT, got: `{"error":{"code":-1}}`, refused: true }

const verdict = (seen: Partial<Observation>): string => judge({ ...WELL, ...seen }).verdict

describe("the verdict on a flipped bit", () => {
  it("is SILENT for a wrong answer of a ready node, whatever comes later", () => {
    assert.strictEqual(verdict({ first: [DIFFERENT] }), "SILENT")
    assert.strictEqual(verdict({ first: [DIFFERENT], notReady: "syncing" }), "SILENT")
    assert.strictEqual(verdict({ first: [{ ...DIFFERENT, readyBefore: false }], last: [] }), "repaired")
  })

  it("accepts an error that names lost undo data where the flip hit them", () => {
    const lost = { ...REFUSED, got: `{"error":{"code":-1,"message":"the undo data of block 1 are missing"}}` }
    assert.strictEqual(verdict({ file: "blocks/undo00000.dat", first: [lost], last: [lost] }), "told")
    assert.strictEqual(verdict({ file: "blocks/undo00000.dat", first: [REFUSED], last: [REFUSED] }), "UNTOLD")
    assert.strictEqual(verdict({ first: [lost], last: [lost] }), "UNTOLD")
  })

  it("requires /ready to report that answers are refused", () => {
    assert.strictEqual(verdict({ first: [REFUSED], last: [REFUSED] }), "UNTOLD")
    assert.strictEqual(verdict({ first: [REFUSED], last: [] }), "repaired")
    assert.strictEqual(verdict({ first: [REFUSED], notReady: "names.db is being repaired" }), "not ready")
  })

  it("allows a refused start for files that cannot be rebuilt, if the error names them", () => {
    const refused = (file: string, reason: string) => verdict({ file, start: { _tag: "Refused", reason } })
    assert.strictEqual(refused("wallet.json", "/data/wallet.json is damaged"), "refused")
    assert.strictEqual(refused("wallet.json", "something is wrong"), "REFUSED")
    assert.strictEqual(refused("names.db", "/data/names.db is damaged"), "REFUSED")
  })

  it("allows the loss of the content of a file that was put aside with a warning", () => {
    const lost = { file: "peers.json", first: [{ ...DIFFERENT, question: ["listbanned"] as const }] }
    assert.strictEqual(verdict({ ...lost, warnings: ["peers.json is damaged"] }), "put aside")
    assert.strictEqual(verdict(lost), "SILENT")
    assert.strictEqual(verdict({ ...lost, file: "names.db", warnings: ["names.db is damaged"] }), "SILENT")
  })

  it("distinguishes how a node ended", () => {
    assert.strictEqual(verdict({ ended: { _tag: "Refused", reason: "corrupted" } }), "ENDED")
    assert.strictEqual(verdict({ stopped: false }), "HUNG")
    assert.strictEqual(verdict({}), "without effect")
    assert.isTrue(isFailure("SILENT"))
    assert.isFalse(isFailure("not ready"))
  })
})

describe("the choice of a bit", () => {
  const targets = ["names.db", "wallet.json", "chainstate/chainstate.db", "backup-1.json", "NETWORK"].map((file) => ({
    file,
    size: 1000
  }))

  it("follows from the seed, and gives each kind its share", () => {
    const count = new Map<string, number>()
    for (let round = 0; round < 2000; round++) {
      const flip = chooseFlip(Random.of(7, round), targets)
      assert.deepStrictEqual(flip, chooseFlip(Random.of(7, round), targets))
      assert.isBelow(flip.offset, 1000)
      count.set(flip.file, (count.get(flip.file) ?? 0) + 1)
    }
    assert.isUndefined(count.get("backup-1.json"))
    const whole = targets.reduce((sum, { file }) => sum + kindOf(file).weight, 0)
    for (const { file } of targets) {
      const share = 2000 * kindOf(file).weight / whole
      assert.isAtMost(Math.abs((count.get(file) ?? 0) - share), 5 * Math.sqrt(share) + 1, file)
    }
  })
})
