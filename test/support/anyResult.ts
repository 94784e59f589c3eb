import * as Result from "../../src/rpc/method/results.ts"

/** The results of a method whose answer may be any JSON value. */
export const ANY_RESULT = [{ schema: Result.any("Any value") }]
