import { createHash } from "node:crypto"

/**
 * A checksum in the JSON files of the node, as their first member, so that damage which leaves valid JSON is noticed:
 *
 *     {"checksum":"<SHA-256 in hexadecimal>", … }
 *
 * What is hashed are the bytes of the file without that member and without the white space behind it: the text as it
 * was before the member was put in.
 */

const MEMBER = /^(\{[ \n]*)"checksum": ?"([^"]*)",[ \n]*/

/** The text of a JSON object, made part by part, that gets its checksum. */
export class ChecksummedText {
  private readonly parts: Array<string> = []
  private readonly hash = createHash("sha256")

  add(part: string): this {
    this.parts.push(part)
    this.hash.update(part)
    return this
  }

  /** All parts with the checksum in the first one, which has to begin with a member. Ends the text. */
  finish(): ReadonlyArray<string> {
    const [first = "", ...rest] = this.parts
    const [opening = "{"] = /^\{[ \n]*/.exec(first) ?? []
    // On a line of its own where the members are.
    const isIndented = opening.length > 1
    const member = `"checksum":${isIndented ? " " : ""}"${this.hash.digest("hex")}",${opening.slice(1)}`
    return [opening + member + first.slice(opening.length), ...rest]
  }
}

/** The text of a JSON object with its checksum. */
export const checksummed = (text: string): string => new ChecksummedText().add(text).finish().join("")

/** What is wrong with a text whose checksum does not match, for messages. */
export const CHECKSUM_MISMATCH = "its content does not match its checksum"

export interface CheckedText {
  /** Without the checksum. */
  readonly text: string
  /** `absent` for a text from before there were checksums, or that someone took it out of. */
  readonly checksum: "right" | "wrong" | "absent"
}

/** Takes the checksum off a text, and compares. */
export const checkText = (text: string): CheckedText => {
  const [member, opening = "", digest] = MEMBER.exec(text) ?? []
  if (member === undefined) return { text, checksum: "absent" }
  const rest = opening + text.slice(member.length)
  const found = createHash("sha256").update(rest).digest("hex")
  return { text: rest, checksum: found === digest ? "right" : "wrong" }
}
