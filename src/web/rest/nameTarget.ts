/** A percent-encoded name, a dot and a format. Upstream `rest.cpp`, `ParseDataFormat` and `DecodeName`. */

const PREFIX = "/rest/name/"

export type RestFormat = "bin" | "hex" | "json"

/** In the order of upstream's error message. */
export const FORMATS: ReadonlyArray<RestFormat> = ["bin", "hex", "json"]

export interface NameTarget {
  /** As written. */
  readonly encoded: string
  /** `undefined` for invalid percent-encoding. */
  readonly name: Uint8Array | undefined
  readonly format: RestFormat | undefined
}

export const isNamePath = (path: string): boolean => path.startsWith(PREFIX)

const WRONG_ESCAPE = /%(?![0-9a-fA-F]{2})/
const ESCAPE = /%([0-9a-fA-F]{2})/g

/** A plus stands for a space. `undefined` for invalid percent-encoding. */
export const decodedRestName = (encoded: string): Uint8Array | undefined =>
  WRONG_ESCAPE.test(encoded)
    ? undefined
    : Buffer.from(
      encoded.replaceAll("+", " ").replaceAll(ESCAPE, (_, digits: string) =>
        String.fromCharCode(Number.parseInt(digits, 16))),
      "latin1"
    )

/** For a path that `isNamePath` accepts. A point before an unknown format belongs to the name. */
export const readNameTarget = (path: string): NameTarget => {
  const rest = path.slice(PREFIX.length)
  const point = rest.lastIndexOf(".")
  const suffix = point < 0 ? undefined : rest.slice(point + 1)
  const format = FORMATS.find((each) => each === suffix)
  const encoded = format !== undefined || suffix === "" ? rest.slice(0, point) : rest
  return { encoded, name: decodedRestName(encoded), format }
}
