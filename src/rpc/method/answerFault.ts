import * as Either from "effect/Either"
import * as ParseResult from "effect/ParseResult"
import { type Json, JsonObject } from "../json/json.ts"
import type { Result } from "./contract.ts"
import type { Method, UserRights } from "./methodTable.ts"
import { type Described, describedBy, plainAnswer } from "./results.ts"

/**
 * Compares answers with their documented results. Only for tests, in the process (`test/support/methodNode.ts`) and in
 * whole programs (`-rpcdoccheck`), because it takes longer than most answers.
 */

/** The matching result, or why none matches. */
export type CheckedAnswer =
  | { readonly _tag: "Described"; readonly when: string | undefined }
  | { readonly _tag: "Fault"; readonly reason: string }

const firstFault = <A>(items: ReadonlyArray<A>, find: (item: A, at: number) => string | undefined) => {
  for (const [at, item] of items.entries()) {
    const fault = find(item, at)
    if (fault !== undefined) return fault
  }
  return undefined
}

interface Seen {
  readonly json: Json
  readonly path: string
  readonly rights: UserRights
}

/** Checks what schemas cannot: the order of members, and the caller's right to each. */
const memberFault = (described: Described, { json, path, rights }: Seen): string | undefined => {
  const { needs } = described
  if (needs !== undefined && rights?.has(needs) === false) return `${path} is there without the right ${needs}`
  if (described.kind === "array" && Array.isArray(json)) {
    return firstFault(
      json,
      (item, at) => memberFault(described.items, { json: item, path: `${path}[${at}]`, rights })
    )
  }
  if (!(json instanceof JsonObject)) return undefined
  if (described.kind === "map") {
    return firstFault(json.values, (value) => memberFault(described.values, { json: value, path: `${path}.*`, rights }))
  }
  if (described.kind !== "object") return undefined
  const names = Object.keys(described.members).filter((name) => json.keys.includes(name))
  if (names.join() !== json.keys.join()) return `${path} has members ${json.keys.join()}, not ${names.join()}`
  return firstFault(names, (name) => {
    const member = described.members[name]
    if (member === undefined) return undefined
    return memberFault(member, { json: json.get(name) ?? null, path: `${path}.${name}`, rights })
  })
}

/** The fault as a function, since most methods have several results and one match is enough. */
const faultOf = ({ schema }: Result, seen: Seen): (() => string) | undefined => {
  const decoded = ParseResult.decodeUnknownEither(schema, { onExcessProperty: "error" })(plainAnswer(seen.json))
  if (Either.isLeft(decoded)) return () => ParseResult.TreeFormatter.formatIssueSync(decoded.left)
  const fault = memberFault(describedBy(schema), seen)
  return fault === undefined ? undefined : () => fault
}

export const checkAnswer = (method: Method, json: Json, rights: UserRights): CheckedAnswer => {
  const faults: Array<() => string> = []
  for (const each of method.results) {
    const fault = faultOf(each, { json, path: "result", rights })
    if (fault === undefined) return { _tag: "Described", when: each.when }
    faults.push(fault)
  }
  return {
    _tag: "Fault",
    reason: `${method.name} does not answer as it says: ${faults.map((fault) => fault()).join("; ")}`
  }
}
