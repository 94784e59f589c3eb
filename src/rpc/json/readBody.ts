import { runSteps, type Steps } from "../../protocol/steps.ts"
import type { Json } from "./json.ts"
import { JsonReader, type ReadJson, type Top } from "./readJson.ts"

/** Reads the body of a call, which may be a long batch. */

/** The elements of an array, in order. */
export interface Elements {
  readonly length: number
  readonly at: (index: number) => Json | undefined
}

/**
 * The elements of a long array. Most are read again from the text when they are asked for: the values of a batch of many requests would take
 * ten times its length, and the collection of garbage would copy and mark them until the last request is answered.
 */
class LateElements implements Elements {
  readonly #text: string
  /** For each element its place in the text, or itself. */
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
  /** The elements if the text is an array, which `read` lacks. */
  readonly elements?: Elements
}

/** As `readJsonSteps`, for a text that may be a long array: its elements are passed to `seen`, and are read again when they are asked for. */
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
