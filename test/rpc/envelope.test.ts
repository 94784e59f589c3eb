import { assert, describe, it } from "@effect/vitest"
import { encodeError } from "../../src/rpc/envelope.ts"
import { RPC_CODE, RpcError } from "../../src/rpc/method/RpcError.ts"

describe("encodeError", () => {
  const funds = { code: RPC_CODE.insufficientFunds, message: "Insufficient funds" }

  it("writes the bytes of the reference node for an error without a reason", () => {
    const error = new RpcError(funds)
    assert.strictEqual(
      encodeError({ version: "legacy", id: "1" }, error),
      "{\"result\":null,\"error\":{\"code\":-6,\"message\":\"Insufficient funds\"},\"id\":\"1\"}"
    )
    assert.strictEqual(
      encodeError({ version: "2.0", id: "a" }, error),
      "{\"jsonrpc\":\"2.0\",\"error\":{\"code\":-6,\"message\":\"Insufficient funds\"},\"id\":\"a\"}"
    )
  })

  it("adds the reason as data, and changes neither code nor message", () => {
    const error = new RpcError({ ...funds, reason: "funds-missing" })
    assert.strictEqual(
      encodeError({ version: "2.0", id: "1" }, error),
      "{\"jsonrpc\":\"2.0\",\"error\":{\"code\":-6,\"message\":\"Insufficient funds\",\"data\":{\"reason\":\"funds-missing\"}},\"id\":\"1\"}"
    )
  })
})
