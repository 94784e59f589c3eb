import { escapeUnsafe } from "../base/safeText.ts"
import type { Located, LocatedObject } from "./locatedJson.ts"

/** JSON with local changes. Everything else keeps its text and order; only white space between members is lost. */

/** From the top to a member, such as `["map", "www", "ip"]`. */
export type KeyPath = ReadonlyArray<string>

/** Escapes characters that could hide or turn others. */
export const jsonText = (text: string): string => escapeUnsafe(JSON.stringify(text))

interface Member {
  readonly key: string
  value: JsonTree | string
}

export class JsonTree {
  readonly #members: Array<Member>

  constructor(members: Array<Member> = []) {
    this.#members = members
  }

  get isEmpty(): boolean {
    return this.#members.length === 0
  }

  get json(): string {
    const member = ({ key, value }: Member): string =>
      `${jsonText(key)}:${typeof value === "string" ? value : value.json}`
    return `{${this.#members.map(member).join(",")}}`
  }

  #last(key: string): Member | undefined {
    return this.#members.findLast((member) => member.key === key)
  }

  /** Makes missing objects above the member; a text in their place becomes their item `ip`, as readers take it. */
  set([key = "", ...below]: KeyPath, json: string): void {
    const member = this.#last(key)
    if (below.length === 0) {
      if (member === undefined) this.#members.push({ key, value: json })
      else member.value = json
      return
    }
    const inner = member?.value
    const object = inner instanceof JsonTree
      ? inner
      : new JsonTree(inner?.startsWith("\"") === true ? [{ key: "ip", value: inner }] : [])
    if (member === undefined) this.#members.push({ key, value: object })
    else member.value = object
    object.set(below, json)
  }

  /** Removes all occurrences of a member, and the objects above it that have no other. */
  remove([key = "", ...below]: KeyPath): void {
    const member = this.#last(key)
    if (below.length > 0 && member?.value instanceof JsonTree) {
      member.value.remove(below)
      if (!member.value.isEmpty) return
    } else if (below.length > 0 && (below.join() !== "ip" || typeof member?.value !== "string")) return
    for (let at = this.#members.length - 1; at >= 0; at--) {
      if (this.#members[at]?.key === key) this.#members.splice(at, 1)
    }
  }
}

export const treeOf = (part: Located, text: string): JsonTree | undefined =>
  part.kind === "object"
    ? new JsonTree(part.members.map(({ key, value }) => ({
      key,
      value: treeOf(value, text) ?? text.slice(value.at, value.end)
    })))
    : undefined

/** The paths of the highest parts that are not shown. */
export const pathsBeside = (object: LocatedObject, shown: ReadonlySet<string>): ReadonlyArray<string> =>
  object.members.flatMap(({ value }) => {
    if (value.kind === "null" || shown.has(value.path)) return []
    const isAbove = value.kind === "object" &&
      [...shown].some((path) => path.startsWith(`${value.path}.`) || path.startsWith(`${value.path}[`))
    return isAbove ? pathsBeside(value, shown) : [value.path]
  })
