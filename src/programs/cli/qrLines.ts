import { encodeQR } from "qr"
import type { Screen } from "./outcome.ts"

/** A QR code on a terminal: two rows of modules in a line of half blocks. */

/** Modules of white around a code, which readers need. */
const BORDER = 4

/** Black on white, whatever the colours of the terminal are. */
const PAPER = "\u001b[30;107m"
const END = "\u001b[0m"

/** By the upper and the lower module: dark on light with colours, and light on dark without them. */
const INK = { both: "█", upper: "▀", lower: "▄", none: " " }
const LIGHT = { both: " ", upper: "▄", lower: "▀", none: "█" }

/** A text as lines of a QR code; none if the terminal is too narrow. Without colours the code is readable on a dark terminal only. */
export const qrLines = (text: string, { colours, columns }: Screen): ReadonlyArray<string> => {
  const rows = encodeQR(text, "raw", { ecc: "medium", border: BORDER })
  if (columns !== undefined && columns < rows.length) return []
  const blocks = colours ? INK : LIGHT
  const lines: Array<string> = []
  for (let y = 0; y < rows.length; y += 2) {
    const line = (rows[y] ?? []).map((upper, x) => {
      const lower = rows[y + 1]?.[x] === true
      return upper ? (lower ? blocks.both : blocks.upper) : lower ? blocks.lower : blocks.none
    }).join("")
    lines.push(colours ? `${PAPER}${line}${END}` : line)
  }
  return lines
}
