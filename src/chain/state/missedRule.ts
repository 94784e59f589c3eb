import type { Activation } from "../../consensus/params.ts"
import type { Height } from "../../protocol/keys.ts"

/** The rules that begin at a height of their own. */
export const RULES = [
  "bip16",
  "bip34",
  "bip65",
  "bip66",
  "csv",
  "segwit",
  "taproot"
] as const satisfies ReadonlyArray<keyof Activation>

/** The rules that a block meets only when it is connected. The others are also checked in its header and as it arrives. */
const CONNECTING: ReadonlySet<keyof Activation> = new Set(["bip16", "taproot"])

/** The heights up to which a chain state has blocks that were checked. */
export interface Checked {
  readonly tip: Height
  /** Of all headers, including those of blocks that are not connected. */
  readonly headers: Height
}

/** A rule that was not applied to blocks to which it applies now. */
export interface MissedRule {
  readonly rule: keyof Activation
  readonly reason: string
}

/** No rule applies to genesis: to begin there and to begin at the first block is the same. */
const firstOf = (height: Height): Height => Math.max(height, 1)

const shownStart = (height: Height): string => Number.isFinite(height) ? `from height ${height} on` : "at no height"

/**
 * The first rule that begins earlier than before, and for a block that was checked already. A rule that begins later
 * refuses none of the blocks: more rules never allow what fewer forbid.
 */
export const missedRule = (
  checked: Checked,
  { before, now }: { readonly before: Activation; readonly now: Activation }
): MissedRule | undefined => {
  for (const rule of RULES) {
    const first = firstOf(now[rule])
    const last = Math.min(firstOf(before[rule]) - 1, CONNECTING.has(rule) ? checked.tip : checked.headers)
    if (first > last) continue
    const blocks = first === last ? `block ${last}` : `blocks ${first} to ${last}`
    const starts = `it was applied ${shownStart(before[rule])}, and this start applies it ${shownStart(now[rule])}`
    return { rule, reason: `${starts}: ${blocks} may break it` }
  }
  return undefined
}
