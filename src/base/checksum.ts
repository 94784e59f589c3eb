import { createHash } from "node:crypto"

/**
 * A checksum as the first member of the node's JSON files, to detect damage that leaves valid JSON:
 *
 *     {"checksum":"<SHA-256 in hexadecimal>", … }
 *
 * The hash is over the bytes of the file without that member and the white space after it.
 */

const MEMBER = /^(\{[ \n]*)"checksum": ?"([^"]*)",[ \n]*/

export class ChecksummedText {
  private readonly parts: Array<string> = []
  private readonly hash = createHash("sha256")

  add(part: string): this {
    this.parts.push(part)
    this.hash.update(part)
    return this
  }

  /** Ends the text and returns its parts, the first with the checksum. That part has to begin with a member. */
  finish(): ReadonlyArray<string> {
    const [first = "", ...rest] = this.parts
    const [opening = "{"] = /^\{[ \n]*/.exec(first) ?? []
    // On a line of its own, if the other members are.
    const isIndented = opening.length > 1
    const member = `"checksum":${isIndented ? " " : ""}"${this.hash.digest("hex")}",${opening.slice(1)}`
    return [opening + member + first.slice(opening.length), ...rest]
  }
}

export const checksummed = (text: string): string => new ChecksummedText().add(text).finish().join("")

export const CHECKSUM_MISMATCH = "its content does not match its checksum"

export interface CheckedText {
  readonly text: string
  /** `absent`: written by a version without checksums, or removed by hand. */
  readonly checksum: "right" | "wrong" | "absent"
}

export const checkText = (text: string): CheckedText => {
  const [member, opening = "", digest] = MEMBER.exec(text) ?? []
  if (member === undefined) return { text, checksum: "absent" }
  const rest = opening + text.slice(member.length)
  const found = createHash("sha256").update(rest).digest("hex")
  return { text: rest, checksum: found === digest ? "right" : "wrong" }
}
