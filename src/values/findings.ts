import type { Located, LocatedText } from "./locatedJson.ts"

/** `error`: programs ignore a part or all, or the name can never change again. `warning`: works, perhaps unintended. */
export type Severity = "error" | "warning"

export type FindingCode =
  | "name-form"
  | "namespace"
  | "too-long"
  | "not-text"
  | "not-ascii"
  | "json"
  | "not-object"
  | "duplicate-key"
  | "wrong-type"
  | "invalid"
  | "deprecated"
  | "suppressed"
  | "unknown-item"
  | "unusual"

export interface Finding {
  readonly severity: Severity
  readonly code: FindingCode
  /** The part of the JSON, as `map.www.ip[1]`; empty for the whole. */
  readonly path: string
  /** From 1 on; `undefined` without a place in the text. Columns count UTF-16 units. */
  readonly line: number | undefined
  readonly column: number | undefined
  readonly message: string
}

export interface Report extends Omit<Finding, "path" | "line" | "column"> {
  readonly part?: { readonly at: number; readonly path: string } | undefined
}

export class Findings {
  readonly all: Array<Finding> = []
  readonly #text: string | undefined

  /** `undefined`: findings are not wanted, and `all` stays empty. */
  constructor(text: string | undefined) {
    this.#text = text
  }

  add({ code, message, part, severity }: Report): void {
    if (this.#text === undefined) return
    const before = part === undefined ? undefined : this.#text.slice(0, part.at)
    this.all.push({
      severity,
      code,
      path: part?.path ?? "",
      line: before === undefined ? undefined : before.split("\n").length,
      column: before === undefined ? undefined : before.length - before.lastIndexOf("\n"),
      message
    })
  }

  error(part: Located, code: FindingCode, message: string): void {
    this.add({ severity: "error", code, part, message })
  }

  warn(part: Located, code: FindingCode, message: string): void {
    this.add({ severity: "warning", code, part, message })
  }

  wrongType(part: Located, wanted: string): void {
    this.error(part, "wrong-type", `is ${KINDS[part.kind]}, not ${wanted}`)
  }

  text(part: Located, wanted: string): LocatedText | undefined {
    if (part.kind === "text") return part
    this.wrongType(part, wanted)
    return undefined
  }

  /** A single text counts as a list of one. */
  texts(part: Located, wanted: string): ReadonlyArray<LocatedText> {
    if (part.kind === "text") return [part]
    if (part.kind !== "array") {
      this.wrongType(part, `${wanted}, or a list of them`)
      return []
    }
    return part.items.flatMap((item) => this.text(item, wanted) ?? [])
  }
}

/** For readers of a value who want no findings. */
export const SILENT = new Findings(undefined)

const KINDS: Readonly<Record<Located["kind"], string>> = {
  object: "an object",
  array: "a list",
  text: "a text",
  number: "a number",
  boolean: "true or false",
  null: "null"
}

export const findingText = ({ column, line, message, path }: Finding): string => {
  const place = line === undefined ? "" : `line ${line}, column ${column}: `
  return path === "" ? `${place}${message}` : `${place}${path} ${message}`
}

export interface ProgramView {
  readonly program: string
  /** One line each; empty: nothing. */
  readonly sees: ReadonlyArray<string>
}
