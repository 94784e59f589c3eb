import type { JsonValue } from "../json/encodeJson.ts"
import { isShown } from "./contract.ts"
import type { Method, MethodTable } from "./methodTable.ts"
import type { Param } from "./params.ts"
import { jsonSchemaOf } from "./results.ts"

/** The result of `rpc.discover` (https://spec.open-rpc.org). */

type Schema = { readonly [key: string]: JsonValue | undefined }

const paramSchema = (param: Param<unknown>): Schema => {
  const description = param.description === "" ? undefined : param.description
  switch (param.kind) {
    case "string":
      return { type: "string", description }
    case "hex":
      return { type: "string", pattern: "^([0-9a-fA-F]{2})*$", description }
    case "integer":
      return { type: param.expected === undefined ? ["integer", "boolean"] : "integer", description }
    case "number":
      return { type: "number", description }
    case "amount":
      return { type: ["number", "string"], description }
    case "boolean":
      return { type: "boolean", description }
    case "array":
      return { type: "array", items: param.item === undefined ? {} : paramSchema(param.item), description }
    case "object":
      return { ...membersSchema(param.members ?? {}), description }
    case "any":
      return { description }
  }
}

const membersSchema = (members: { readonly [name: string]: Param<unknown> }): Schema => {
  const entries = Object.entries(members)
  return {
    type: "object",
    properties: new Map(entries.map(([name, member]) => [name, paramSchema(member)])),
    required: entries.filter(([, member]) => member.fallback === undefined).map(([name]) => name)
  }
}

const resultSchema = ({ results }: Method): Schema => {
  const [only, ...others] = results
  if (only === undefined) return {}
  if (others.length === 0) return jsonSchemaOf(only.schema)
  return {
    oneOf: results.map(({ schema, when }) => ({
      ...jsonSchemaOf(schema),
      ...(when === undefined ? {} : { title: when })
    }))
  }
}

/** `-5 Block not found` → code and message. */
const errorOf = (text: string): JsonValue => {
  const [code = "", ...words] = text.split(" ")
  return { code: Number(code), message: words.join(" ") }
}

const describeMethod = (method: Method): JsonValue => ({
  name: method.name,
  summary: method.summary.split("\n")[0],
  description: method.summary,
  tags: [{ name: method.group }],
  paramStructure: "either",
  params: Object.entries(method.params).map(([name, param]) => ({
    name,
    description: param.description,
    required: param.fallback === undefined,
    schema: paramSchema(param)
  })),
  result: { name: "result", schema: resultSchema(method) },
  errors: method.errors.length === 0 ? undefined : method.errors.map(errorOf)
})

/** Without hidden methods. */
export const openRpc = (methods: MethodTable, version: string): JsonValue => ({
  openrpc: "1.3.2",
  info: { title: "svcd", version },
  methods: [...methods.values()].filter(isShown).map(describeMethod)
})
