import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { HEIGHT_ERROR, setUp, UNKNOWN } from "./dispatching.ts"

/** Bodies with the status and the body of their answers, as recorded from the reference node (reference/rpc.md 1.6). */
const RECORDED: ReadonlyArray<readonly [body: string, status: number, answer: string]> = [
  ["{\"method\":\"getblockcount\",\"params\":[],\"id\":1}", 200, "{\"result\":0,\"error\":null,\"id\":1}"],
  [
    "{\"jsonrpc\":\"2.0\",\"method\":\"getblockcount\",\"params\":[],\"id\":1}",
    200,
    "{\"jsonrpc\":\"2.0\",\"result\":0,\"id\":1}"
  ],
  ["{\"method\":\"nosuch\",\"params\":[],\"id\":1}", 404, `{"result":null,"error":${UNKNOWN},"id":1}`],
  [
    "{\"jsonrpc\":\"2.0\",\"method\":\"nosuch\",\"params\":[],\"id\":1}",
    200,
    `{"jsonrpc":"2.0","error":${UNKNOWN},"id":1}`
  ],
  ["{\"method\":\"getblockhash\",\"params\":[99999],\"id\":1}", 500, `{"result":null,"error":${HEIGHT_ERROR},"id":1}`],
  [
    "{\"jsonrpc\":\"2.0\",\"method\":\"getblockhash\",\"params\":[99999],\"id\":1}",
    200,
    `{"jsonrpc":"2.0","error":${HEIGHT_ERROR},"id":1}`
  ],
  ["{\"id\":1}", 400, "{\"result\":null,\"error\":{\"code\":-32600,\"message\":\"Missing method\"},\"id\":1}"],
  [
    "{\"id\":1,\"jsonrpc\":\"2.0\"}",
    400,
    "{\"jsonrpc\":\"2.0\",\"error\":{\"code\":-32600,\"message\":\"Missing method\"},\"id\":1}"
  ],
  [
    "{\"method\":5,\"id\":1}",
    400,
    "{\"result\":null,\"error\":{\"code\":-32600,\"message\":\"Method must be a string\"},\"id\":1}"
  ],
  [
    "{\"method\":\"getblockcount\",\"params\":\"x\",\"id\":1}",
    400,
    "{\"result\":null,\"error\":{\"code\":-32600,\"message\":\"Params must be an array or object\"},\"id\":1}"
  ],
  [
    "{\"jsonrpc\":\"3.0\",\"method\":\"getblockcount\",\"id\":1}",
    400,
    "{\"result\":null,\"error\":{\"code\":-32600,\"message\":\"JSON-RPC version not supported\"},\"id\":1}"
  ],
  [
    "{\"jsonrpc\":\"1.1\",\"method\":\"getblockcount\",\"id\":1}",
    400,
    "{\"result\":null,\"error\":{\"code\":-32600,\"message\":\"JSON-RPC version not supported\"},\"id\":1}"
  ],
  [
    "{\"jsonrpc\":2,\"method\":\"getblockcount\",\"id\":1}",
    400,
    "{\"result\":null,\"error\":{\"code\":-32600,\"message\":\"jsonrpc field must be a string\"},\"id\":1}"
  ],
  ["this is bad", 500, "{\"result\":null,\"error\":{\"code\":-32700,\"message\":\"Parse error\"},\"id\":null}"],
  ["", 500, "{\"result\":null,\"error\":{\"code\":-32700,\"message\":\"Parse error\"},\"id\":null}"],
  ["5", 500, "{\"result\":null,\"error\":{\"code\":-32700,\"message\":\"Top-level object parse error\"},\"id\":null}"],
  [
    "null",
    500,
    "{\"result\":null,\"error\":{\"code\":-32700,\"message\":\"Top-level object parse error\"},\"id\":null}"
  ],
  ["{\"method\":\"getblockcount\"}", 200, "{\"result\":0,\"error\":null}"],
  ["{\"method\":\"nosuch\"}", 404, `{"result":null,"error":${UNKNOWN}}`],
  ["{\"jsonrpc\":\"2.0\",\"method\":\"getblockcount\"}", 204, ""],
  ["{\"jsonrpc\":\"2.0\",\"method\":\"nosuch\"}", 204, ""],
  [
    "{\"jsonrpc\":\"2.0\",\"method\":\"getblockcount\",\"id\":null}",
    200,
    "{\"jsonrpc\":\"2.0\",\"result\":0,\"id\":null}"
  ],
  [
    "{\"jsonrpc\":null,\"method\":\"getblockcount\",\"params\":null,\"id\":1}",
    200,
    "{\"result\":0,\"error\":null,\"id\":1}"
  ],
  [
    "{\"version\":\"1.1\",\"jsonrpc\":\"1.0\",\"method\":\"getblockcount\",\"id\":1}",
    200,
    "{\"result\":0,\"error\":null,\"id\":1}"
  ],
  ["{\"id\":1,\"id\":2,\"method\":\"getblockcount\",\"method\":\"x\"}", 200, "{\"result\":0,\"error\":null,\"id\":1}"],
  ["{\"jsonrpc\":\"2.0\"}", 400, "{\"jsonrpc\":\"2.0\",\"error\":{\"code\":-32600,\"message\":\"Missing method\"}}"],
  ["[]", 200, "[]"],
  [
    "[{\"method\":\"getblockcount\",\"id\":1},{\"method\":\"nosuch\",\"id\":2},{\"jsonrpc\":\"2.0\",\"method\":\"getblockcount\",\"id\":3}," +
    "{\"jsonrpc\":\"2.0\",\"method\":\"nosuch\",\"id\":4},{\"pizza\":\"x\",\"id\":5},{\"jsonrpc\":\"2.0\",\"method\":\"getblockcount\"}," +
    "{\"jsonrpc\":\"2.1\",\"method\":\"getblockcount\",\"id\":7}]",
    200,
    `[{"result":0,"error":null,"id":1},{"result":null,"error":${UNKNOWN},"id":2},{"jsonrpc":"2.0","result":0,"id":3},` +
    `{"jsonrpc":"2.0","error":${UNKNOWN},"id":4},` +
    "{\"result\":null,\"error\":{\"code\":-32600,\"message\":\"Missing method\"},\"id\":5}," +
    "{\"result\":null,\"error\":{\"code\":-32600,\"message\":\"JSON-RPC version not supported\"},\"id\":7}]"
  ],
  [
    "[1,\"x\",null]",
    200,
    `[${
      Array(3).fill("{\"result\":null,\"error\":{\"code\":-32600,\"message\":\"Invalid Request object\"},\"id\":null}")
        .join(",")
    }]`
  ],
  ["[{\"jsonrpc\":\"2.0\",\"method\":\"getblockcount\"},{\"jsonrpc\":\"2.0\",\"method\":\"nosuch\"}]", 204, ""]
]

describe("Dispatch", () => {
  it.scoped("answers as recorded (reference/rpc.md 1.6 and 1.7)", () =>
    Effect.gen(function*() {
      const { answer } = yield* setUp()
      for (const [body, status, text] of RECORDED) {
        assert.deepStrictEqual(yield* answer(body), { status, body: text }, body)
        assert.deepStrictEqual(yield* answer(Buffer.from(body)), { status, body: text }, `${body} as bytes`)
      }
    }))
})
