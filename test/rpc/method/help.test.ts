import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import * as Schema from "effect/Schema"
import { contract } from "../../../src/rpc/method/contract.ts"
import { conversions, helpIndex, methodHelp, synopsis } from "../../../src/rpc/method/help.ts"
import { method } from "../../../src/rpc/method/method.ts"
import { methodTable } from "../../../src/rpc/method/methodTable.ts"
import * as Param from "../../../src/rpc/method/params.ts"
import * as Result from "../../../src/rpc/method/results.ts"

const handler = () => Effect.dieMessage("no test calls it")

const outpoint = Param.object({ txid: Param.hash("The transaction."), vout: Param.uint32("The output.") }, "")

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

const odd = method(
  contract({
    name: "odd",
    group: "Blockchain",
    summary: "Has parameters of many kinds.",
    params: {
      first: Param.optional(Param.int32("")),
      outputs: Param.array(outpoint, "Outputs."),
      names: Param.optional(Param.array(Param.string(""), "Names.")),
      query_options: Param.orEmpty(Param.namedOptions({ limit: Param.optional(Param.amount("")) }, "Options.")),
      secret: Param.hidden(Param.optional(Param.int32("")))
    },
    results: [],
    examples: []
  }),
  handler
)

const concealed = method(
  contract({ name: "echo", group: "Hidden", summary: "Hidden.", params: {}, results: [], examples: [] }),
  handler
)

const table = methodTable([nameShow, odd, getblock, concealed])

describe("synopsis", () => {
  it.each([
    [nameShow, "name_show \"name\" ( {\"nameEncoding\":\"str\",\"allowExpired\":bool} )"],
    [getblock, "getblock \"blockhash\" ( verbosity )"],
    [odd, "odd ( first ) [{\"txid\":\"hex\",\"vout\":n},...] ( [\"str\",...] {\"limit\":amount} )"],
    [concealed, "echo"]
  ])("case %#", (target, expected) => {
    assert.strictEqual(synopsis(target), expected)
  })
})

describe("helpIndex", () => {
  it("groups synopses under headings, without hidden methods", () => {
    assert.strictEqual(
      helpIndex(table),
      [
        "== Blockchain ==",
        synopsis(getblock),
        synopsis(odd),
        "",
        "== Names ==",
        synopsis(nameShow)
      ].join("\n")
    )
  })

  it("begins every line except headings with the name of a method (reference/rpc.md 3.1)", () => {
    for (const line of helpIndex(table).split("\n")) {
      if (line !== "" && !line.startsWith("== ")) assert.isTrue(table.has(line.split(" ")[0] ?? ""), line)
    }
  })
})

describe("helpText", () => {
  it("describes a method", () => {
    assert.strictEqual(
      methodHelp(nameShow),
      `name_show "name" ( {"nameEncoding":"str","allowExpired":bool} )

Shows a name.
Expired names are not shown.

Arguments:
1. name               (string, required) The name.
2. options            (json object, optional) Options.
     "nameEncoding"    (string, optional, default=the node's setting) How the name is written.
     "allowExpired"    (boolean, optional, default=false) Whether to show expired names.

Result:
{                  (json object)
  "name": "str"    (string) The name
}

Errors:
-4 name never existed: 'x'

Examples:
> svcd-cli name_show d/example
> curl --user <user> -H 'Content-Type: application/json' --data-binary '{"jsonrpc":"2.0","id":1,"method":"name_show","params":["d/example"]}' http://127.0.0.1:8336/
> svcd-cli name_show 'it'\\''s' '{"nameEncoding":"hex"}'
> curl --user <user> -H 'Content-Type: application/json' --data-binary '{"jsonrpc":"2.0","id":1,"method":"name_show","params":["it'\\''s",{"nameEncoding":"hex"}]}' http://127.0.0.1:8336/
`.replace("1. name               ", "1. name                ").replace(
        "2. options            ",
        "2. options             "
      )
    )
  })

  it("distinguishes results, and names aliases", () => {
    const text = methodHelp(getblock)
    assert.include(text, "Result (verbosity 0):\n\"hex\"    (string) The block\n")
    assert.include(text, "Result (verbosity 1):\n")
    assert.include(text, "(numeric or boolean, optional, default=1) How much. Also called verbose.")
  })

  it("does not mention hidden parameters", () => {
    assert.notInclude(methodHelp(odd), "secret")
  })
})

describe("conversions", () => {
  it("lists the parameters that are text on a command line", () => {
    assert.deepStrictEqual(conversions(table), [
      ["getblock", 0, "blockhash", true],
      ["getblock", 1, "verbosity", false],
      ["getblock", 1, "verbose", false],
      ["odd", 0, "first", false],
      ["odd", 1, "outputs", false],
      ["odd", 2, "names", false],
      ["odd", 3, "limit", false],
      ["odd", 3, "query_options", false],
      ["odd", 4, "secret", false],
      ["name_show", 0, "name", true],
      ["name_show", 1, "options", false]
    ])
  })
})
