import { escapeUnsafe } from "../../base/safeText.ts"

/** Foreign text on a terminal. Escapes characters that could move the cursor, hide text or change its direction. */

/** Two columns wide: East Asian wide and fullwidth characters (UAX #11), and pictures. */
const WIDE =
  "[\\u1100-\\u115f\\u2e80-\\u303e\\u3041-\\u33ff\\u3400-\\u4dbf\\u4e00-\\u9fff\\ua000-\\ua4cf\\ua960-\\ua97f\\uac00-\\ud7a3" +
  "\\uf900-\\ufaff\\ufe10-\\ufe19\\ufe30-\\ufe6f\\uff01-\\uff60\\uffe0-\\uffe6\\u{16fe0}-\\u{18cff}\\u{1aff0}-\\u{1b2ff}" +
  "\\u{20000}-\\u{3fffd}]|\\p{Emoji_Presentation}|\\ufe0f"

const NARROW = /^[ -~]*$/

interface Tools {
  readonly segmenter: Intl.Segmenter
  /** More than two marks on one letter would cover the lines above and below. */
  readonly pile: RegExp
  readonly wide: RegExp
  readonly zero: RegExp
}

let made: Tools | undefined

/** For texts beyond ASCII only: making it takes a fifth of the program's start. */
const tools = (): Tools =>
  made ??= {
    segmenter: new Intl.Segmenter("en", { granularity: "grapheme" }),
    pile: /(\p{M}{2})\p{M}+/gu,
    wide: new RegExp(WIDE, "u"),
    zero: /^\p{M}+$/u
  }

const clusterWidth = (cluster: string): number => tools().wide.test(cluster) ? 2 : tools().zero.test(cluster) ? 0 : 1

export const shownText = (text: string): string =>
  NARROW.test(text) ? text : escapeUnsafe(text).replace(tools().pile, "$1")

export const widthOf = (text: string): number => {
  if (NARROW.test(text)) return text.length
  let width = 0
  for (const { segment } of tools().segmenter.segment(text)) width += clusterWidth(segment)
  return width
}

export const cutTo = (text: string, width: number): string => {
  if (widthOf(text) <= width) return text
  let kept = ""
  let left = width - 1
  for (const { segment } of tools().segmenter.segment(text)) {
    left -= clusterWidth(segment)
    if (left < 0) break
    kept += segment
  }
  return width < 1 ? "" : `${kept}…`
}

export const padTo = (text: string, width: number, align: "left" | "right" = "left"): string => {
  const spaces = " ".repeat(Math.max(0, width - widthOf(text)))
  return align === "left" ? text + spaces : spaces + text
}
