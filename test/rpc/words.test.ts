import { assert, describe, it } from "@effect/vitest"
import { wordsOf } from "../../src/desk/errorWords.ts"
import { RPC_CODE, RPC_REASONS } from "../../src/rpc/method/RpcError.ts"
import { errorWords, STEP_WORDS } from "../../src/rpc/words.ts"

describe("the words for errors", () => {
  it.each(RPC_REASONS)("%s are sentences, whatever the code, and the desk shows them", (reason) => {
    const words = errorWords({ code: RPC_CODE.misc, reason }) ?? assert.fail("no words")
    for (const text of [words.what, words.next, words.command]) if (text !== undefined) assert.match(text, /\.$/)
    const shown = wordsOf({ code: RPC_CODE.insufficientFunds, message: "any text", reason })
    assert.isTrue(shown.text.startsWith(words.what))
    assert.isUndefined(shown.detail)
  })

  it("of a code without a reason are those of the code, with what the node said", () => {
    assert.deepStrictEqual(wordsOf({ code: RPC_CODE.invalidAddressOrKey, message: "invalid address" }), {
      text: "The address is not valid on this network.",
      detail: "invalid address",
      nothingDone: true
    })
    assert.isUndefined(errorWords({ code: RPC_CODE.misc }))
  })

  it("keep the remedy of their code in a terminal", () => {
    assert.match(
      errorWords({ code: RPC_CODE.walletUnlockNeeded, reason: "renewals-only" })?.command ?? "",
      /svcd-cli unlock/
    )
  })

  it("tell apart the steps of a registration", () => {
    assert.strictEqual(new Set(Object.values(STEP_WORDS).map(([step]) => step)).size, Object.keys(STEP_WORDS).length)
  })
})
