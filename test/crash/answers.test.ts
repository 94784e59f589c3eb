import { assert, describe, it } from "@effect/vitest"
import { isLasting } from "../../scripts/crash/InnerDaemon.ts"
import { isSame, textOf } from "../../scripts/crash/rpc.ts"
import { freePort } from "../../scripts/crash/workplace.ts"

const doubting = (reasons: ReadonlyArray<string>, syncing = false): string =>
  JSON.stringify({ status: "repairing", syncing, doubts: reasons.map((reason) => ({ what: "blocks", reason })) })

describe("answers before and after damage", () => {
  it("are compared whatever the order of what a wallet lists, and in order elsewhere", () => {
    const [one, other] = ["[{\"a\":1,\"b\":[2,3]},{\"a\":4}]", "[{\"a\":4},{\"a\":1,\"b\":[3,2]}]"]
    assert.isTrue(isSame("listtransactions", one, other))
    assert.isFalse(isSame("name_history", one, other))
    assert.isFalse(isSame("listtransactions", one, "[{\"a\":4},{\"a\":1,\"b\":[3]}]"))
    assert.isFalse(isSame("listtransactions", one, ""))
    assert.isTrue(isSame("listtransactions", one, "[{\"category\":\"orphan\"},{\"a\":4},{\"a\":1,\"b\":[3,2]}]"))
  })

  it("do not depend on the size of a file, or on how a branch became known", () => {
    const text = (disk_size: number, status: string): string => textOf({ result: { disk_size, tips: [{ status }] } })
    assert.strictEqual(text(1, "valid-fork"), text(2, "valid-headers"))
    assert.notStrictEqual(text(1, "valid-fork"), text(1, "invalid"))
  })
})

describe("a node that is not ready", () => {
  it("stays not ready where only peers or the operator can help", () => {
    const reason = "some of the last 288 blocks are missing; svcd requests them from peers"
    assert.isTrue(isLasting(doubting([reason])))
    assert.isFalse(isLasting(doubting([reason], true)))
    assert.isFalse(isLasting(doubting([reason, "page 2 has changed; it is rebuilt from the stored blocks"])))
    assert.isFalse(isLasting(doubting([])))
    assert.isFalse(isLasting("no answer"))
  })
})

describe("ports of the harness", () => {
  it("differ from call to call", async () => {
    assert.notStrictEqual(await freePort(), await freePort())
  })
})
