import { grouped } from "../../base/quantities.ts"
import { type Html, html, type Part } from "../html.ts"

/** A figure with a note, in a list of class `facts`. */
export const fact = (label: string, value: Html | string, note?: Part): Html =>
  html`<div class="fact"><dt>${label}</dt><dd><b>${value}</b>${
    note !== undefined && note !== false && html`<span>${note}</span>`
  }</dd></div>`

const UNITS = ["", " k", " M", " G", " T", " P"] as const

/** A difficulty with three or four digits: `1.23 G`. */
export const difficultyText = (difficulty: number): string => {
  let value = difficulty
  let unit = 0
  while (value >= 10_000 && unit < UNITS.length - 1) {
    value /= 1000
    unit++
  }
  if (value < 10) return `${Number(value.toPrecision(3))}${UNITS[unit] ?? ""}`
  return `${value < 1000 ? Number(value.toPrecision(3)) : grouped(value)}${UNITS[unit] ?? ""}`
}
