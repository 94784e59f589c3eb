import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import * as Schema from "effect/Schema"
import { encodeJson } from "../../../src/rpc/json/encodeJson.ts"
import { contract } from "../../../src/rpc/method/contract.ts"
import { method } from "../../../src/rpc/method/method.ts"
import { methodTable } from "../../../src/rpc/method/methodTable.ts"
import { openRpc } from "../../../src/rpc/method/openRpc.ts"
import * as Param from "../../../src/rpc/method/params.ts"
import * as Result from "../../../src/rpc/method/results.ts"

const handler = () => Effect.dieMessage("no test calls it")

const nameShow = method(
  contract({
    name: "name_show",
    group: "Names",
    summary: "Shows a name.\nExpired names are not shown.",
    params: {
      name: Param.string("The name."),
      options: Param.orEmpty(Param.object({
        nameEncoding: Param.optional(Param.string("How the name is written."), "the node's setting"),
        allowExpired: Param.withDefault(Param.boolean("Whether to show expired names."), false)
      }, "Options."))
    },
    results: [{ schema: Schema.Struct({ name: Result.string("The name") }) }],
    examples: [["d/example"], ["it's", { nameEncoding: "hex" }]],
    errors: ["-4 name never existed: 'x'"]
  }),
  handler
)

const getblock = method(
  contract({
    name: "getblock",
    group: "Blockchain",
    summary: "Returns a block.",
    params: {
      blockhash: Param.hash("The block."),
      verbosity: Param.alias(Param.withDefault(Param.verbosity("How much."), 1), "verbose")
    },
    results: [
      { when: "verbosity 0", schema: Result.hex("The block") },
      { when: "verbosity 1", schema: Schema.Struct({ hash: Result.hex("Its hash") }) }
    ],
    examples: []
  }),
  handler
)

const concealed = method(
  contract({ name: "echo", group: "Hidden", summary: "Hidden.", params: {}, results: [], examples: [] }),
  handler
)

const table = methodTable([nameShow, getblock, concealed])

describe("openRpc", () => {
  it("describes methods in machine-readable form", () => {
    const document = JSON.parse(encodeJson(openRpc(table, "1.2.3")))
    assert.deepStrictEqual([document.openrpc, document.info], ["1.3.2", { title: "svcd", version: "1.2.3" }])
    assert.deepStrictEqual(document.methods.map(({ name }: { name: string }) => name), ["name_show", "getblock"])
    assert.deepStrictEqual(document.methods[0], {
      name: "name_show",
      summary: "Shows a name.",
      description: "Shows a name.\nExpired names are not shown.",
      tags: [{ name: "Names" }],
      paramStructure: "either",
      params: [
        {
          name: "name",
          description: "The name.",
          required: true,
          schema: { type: "string", description: "The name." }
        },
        {
          name: "options",
          description: "Options.",
          required: false,
          schema: {
            type: "object",
            properties: {
              nameEncoding: { type: "string", description: "How the name is written." },
              allowExpired: { type: "boolean", description: "Whether to show expired names." }
            },
            required: [],
            description: "Options."
          }
        }
      ],
      result: {
        name: "result",
        schema: {
          type: "object",
          properties: { name: { type: "string", description: "The name" } },
          required: ["name"]
        }
      },
      errors: [{ code: -4, message: "name never existed: 'x'" }]
    })
  })

  it("has one schema for each form of a result", () => {
    const document = JSON.parse(encodeJson(openRpc(methodTable([getblock]), "1")))
    assert.deepStrictEqual(
      document.methods[0].result.schema.oneOf.map(({ title, type }: { title: string; type: string }) => [title, type]),
      [["verbosity 0", "string"], ["verbosity 1", "object"]]
    )
    assert.deepStrictEqual(document.methods[0].params[1].schema.type, ["integer", "boolean"])
  })
})
