import { encodeQR } from "qr"
import type { Screen } from "./outcome.ts"

/** A QR code on a terminal: two rows of modules per line of half blocks. */

const BORDER = 4

const PAPER = "\u001b[30;107m"
const END = "\u001b[0m"

/** By upper and lower module: dark on light with colours, light on dark without. */
const INK = { both: "█", upper: "▀", lower: "▄", none: " " }
const LIGHT = { both: " ", upper: "▄", lower: "▀", none: "█" }

/** Empty if the terminal is too narrow. Without colours the code is readable on a dark terminal only. */
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
