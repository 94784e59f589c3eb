import { type Contract, contract } from "../../src/rpc/method/contract.ts"
import { type Handler, method } from "../../src/rpc/method/method.ts"
import type { Method } from "../../src/rpc/method/methodTable.ts"
import type { Params } from "../../src/rpc/method/params.ts"
import * as Result from "../../src/rpc/method/results.ts"

/** The results of a method whose answer may be any JSON value. */
export const ANY_RESULT = [{ schema: Result.any("Any value") }]

/** A method whose answer may be any JSON value. No list shows it, unless it has a group. */
export const fakeMethod = <const P extends Params>(
  given:
    & Pick<Contract<P>, "name" | "params">
    & Partial<Pick<Contract, "group" | "summary" | "heavy" | "waits" | "writes">>,
  handler: Handler<P, typeof ANY_RESULT>
): Method => method(contract({ group: "Hidden", summary: "", results: ANY_RESULT, examples: [], ...given }), handler)
