import type { ParseIssue } from "effect/ParseResult"
import * as AST from "effect/SchemaAST"
import { isJson, type JsonType, typeOf } from "../json/json.ts"
import { RpcError } from "./RpcError.ts"

/** Errors for refused values, with the reference node's codes and texts (reference/rpc.md 1.8, 2). */

/** The only JSON type that a schema accepts. */
export const ExpectedId: unique symbol = Symbol.for("svcd/rpc/Expected")

/** The error for a refused value of the right type. */
export const RefusalId: unique symbol = Symbol.for("svcd/rpc/ErrorOf")

/** `label` is the value's name in messages. */
export type ErrorOf = (value: unknown, label: string) => RpcError

interface Place {
  readonly label: string
  /** A member's wrong type has its own text. */
  readonly isMember: boolean
}

/** The error for the first refused value. `label` names the whole value. */
export const refusalOf = (issue: ParseIssue, label: string): RpcError => refusalAt(issue, { label, isMember: false })

const refusalAt = (issue: ParseIssue, place: Place): RpcError => {
  switch (issue._tag) {
    case "Pointer": {
      const key = Array.isArray(issue.path) ? issue.path[0] : issue.path
      if (typeof key !== "string") return refusalAt(issue.issue, { label: place.label, isMember: false })
      if (issue.issue._tag === "Missing") return RpcError.type(`Missing ${key}`)
      if (issue.issue._tag === "Unexpected") return RpcError.type(`Unexpected key ${key}`)
      return refusalAt(issue.issue, { label: key, isMember: true })
    }
    case "Composite": {
      const [first] = Array.isArray(issue.issues) ? issue.issues : [issue.issues]
      return refusalAt(first, place)
    }
    case "Transformation":
    case "Refinement":
      return refusalAt(issue.issue, place)
    case "Type":
    case "Forbidden":
      return refusedValue(issue.ast, issue.actual, place)
    case "Missing":
    case "Unexpected":
      return RpcError.invalidParameter(`Invalid ${place.label}`)
  }
}

const refusedValue = (ast: AST.AST, actual: unknown, { isMember, label }: Place): RpcError => {
  const expected = AST.getAnnotation<JsonType>(ExpectedId)(ast)
  const type = isJson(actual) ? typeOf(actual) : undefined
  if (expected._tag === "Some" && type !== undefined && type !== expected.value) {
    // Upstream `RPCTypeCheckObj` accepts null. The reader then refuses it without knowing the name.
    return isMember && type !== "null"
      ? RpcError.wrongFieldType(label, { actual: type, expected: expected.value })
      : RpcError.wrongType({ actual: type, expected: expected.value })
  }
  const refusal = AST.getAnnotation<ErrorOf>(RefusalId)(ast)
  return refusal._tag === "Some" ? refusal.value(actual, label) : RpcError.invalidParameter(`Invalid ${label}`)
}
