import { runSteps, type Steps } from "../../protocol/steps.ts"
import type { Json } from "./json.ts"
import { JsonReader, type ReadJson, type Top } from "./readJson.ts"

export interface Elements {
  readonly length: number
  readonly at: (index: number) => Json | undefined
}

/**
 * Elements are mostly read again from the text on demand. All values of a long batch would take ten times its length,
 * and garbage collection would copy and mark them until the last answer.
 */
class LateElements implements Elements {
  readonly #text: string
  /** For each element its offset in the text, or its value. */
  readonly #elements: ReadonlyArray<number | Json>

  constructor(text: string, elements: ReadonlyArray<number | Json>) {
    this.#text = text
    this.#elements = elements
  }

  get length(): number {
    return this.#elements.length
  }

  at(index: number): Json | undefined {
    const element = this.#elements[index]
    return typeof element === "number"
      ? runSteps(new JsonReader(this.#text, Infinity, { from: element }).read())
      : element
  }
}

export interface ReadBody extends ReadJson {
  /** Set instead of `read` for an array. */
  readonly elements?: Elements
}

/** As `readJsonSteps`, but passes the elements of an array to `seen` and reads them again on demand. */
export function* readBodySteps(
  text: string,
  maxValues: number,
  seen: (element: Json) => void
): Steps<ReadBody> {
  const top: Top = { seen, elements: undefined }
  const reader = new JsonReader(text, maxValues, { top })
  const read = yield* reader.read()
  const elements = Array.isArray(read) ? new LateElements(text, top.elements ?? []) : undefined
  return { read, values: reader.values, ...elements === undefined ? {} : { elements } }
}
