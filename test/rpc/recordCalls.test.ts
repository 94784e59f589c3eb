import { assert, describe, it } from "@effect/vitest"
import {
  errors,
  type ErrorType,
  type RefusalStatus,
  rpcDuration,
  rpcErrors,
  rpcRefused,
  rpcRequestDuration,
  rpcRequests
} from "../../src/metrics/metrics.ts"
import { RPC_CODE, RpcError } from "../../src/rpc/method/RpcError.ts"
import { errorTypeOf, recordCall, recordMalformed, recordRefusal } from "../../src/rpc/recordCalls.ts"

const METHOD = "recordedmethod"

const counted = () => [
  rpcRequests.of(METHOD).value(),
  rpcErrors.of(METHOD).value(),
  rpcRequestDuration.of(METHOD).count(),
  rpcDuration.of(METHOD).count()
]

const growth = (type: ErrorType, work: () => void): number => {
  const before = errors.of(type).value()
  work()
  return errors.of(type).value() - before
}

describe("recordCalls", () => {
  it("counts and times each call, and its error by method and by type", () => {
    assert.deepStrictEqual(counted(), [0, 0, 0, 0])
    recordCall({ method: METHOD, seconds: 0.002, ownSeconds: 0.001, abandoned: false, error: undefined })
    assert.deepStrictEqual(counted(), [1, 0, 1, 1])
    const error = RpcError.blockNotFound()
    const grown = growth("rpc_not_found", () => {
      recordCall({ method: METHOD, seconds: 0.002, ownSeconds: 0.001, abandoned: false, error })
    })
    assert.strictEqual(grown, 1)
    assert.deepStrictEqual(counted(), [2, 1, 2, 2])
  })

  it("counts an abandoned call as a call without an error", () => {
    const before = counted()
    recordCall({ method: METHOD, seconds: 0.002, ownSeconds: 0.001, abandoned: true, error: undefined })
    assert.deepStrictEqual(counted().map((count, i) => count - (before[i] ?? 0)), [1, 0, 1, 1])
  })

  it("records no method time if none ran", () => {
    const before = counted()
    recordCall({
      method: METHOD,
      seconds: 0.002,
      ownSeconds: undefined,
      abandoned: false,
      error: RpcError.warmUp("Loading…")
    })
    assert.deepStrictEqual(counted().map((count, i) => count - (before[i] ?? 0)), [1, 1, 1, 0])
  })

  it("maps every code to a type, and unknown codes to one type", () => {
    const unknown = Object.entries(RPC_CODE).filter(([, code]) => errorTypeOf(code) === "rpc_other")
    assert.deepStrictEqual(unknown, [])
    assert.strictEqual(errorTypeOf(12345), "rpc_other")
  })

  it.each<{ readonly code: number; readonly type: ErrorType }>([
    { code: -32700, type: "rpc_malformed" },
    { code: -32601, type: "rpc_unknown_method" },
    { code: -8, type: "rpc_invalid_params" },
    { code: -4, type: "rpc_wallet" },
    { code: -28, type: "rpc_unavailable" },
    { code: -26, type: "rpc_verification" },
    { code: -32603, type: "rpc_internal" }
  ])("maps $code to $type", ({ code, type }) => assert.strictEqual(errorTypeOf(code), type))

  it("counts an invalid request by its type alone", () => {
    const before = counted()
    assert.strictEqual(growth("rpc_malformed", () => recordMalformed(RpcError.parseError())), 1)
    assert.deepStrictEqual(counted(), before)
  })

  it.each<{ readonly status: number; readonly as: RefusalStatus }>([
    { status: 401, as: "401" },
    { status: 429, as: "429" },
    { status: 418, as: "other" }
  ])("counts a refusal with $status as $as", ({ as, status }) => {
    const before = rpcRefused.of(as).value()
    recordRefusal(status)
    assert.strictEqual(rpcRefused.of(as).value() - before, 1)
  })
})
