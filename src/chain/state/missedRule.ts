import type { Activation } from "../../consensus/readerParams.ts"
import type { Height } from "../../protocol/keys.ts"

export const RULES = [
  "bip16",
  "bip34",
  "bip65",
  "bip66",
  "csv",
  "segwit",
  "taproot"
] as const satisfies ReadonlyArray<keyof Activation>

/** Rules checked only when a block is connected. Others are also checked on its header or arrival. */
const CONNECTING: ReadonlySet<keyof Activation> = new Set(["bip16", "taproot"])

/** The heights up to which blocks were checked. */
export interface Checked {
  readonly tip: Height
  /** Height of the highest header, including headers of unconnected blocks. */
  readonly headers: Height
}

/** A rule that was not applied to blocks to which it applies now. */
export interface MissedRule {
  readonly rule: keyof Activation
  readonly reason: string
}

/** No rule applies to genesis, so starting there equals starting at the first block. */
const firstOf = (height: Height): Height => Math.max(height, 1)

const shownStart = (height: Height): string => Number.isFinite(height) ? `from height ${height} on` : "at no height"

/**
 * The first rule that now begins earlier, for an already checked block. A rule that begins later refuses none, as more
 * rules never allow more.
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
