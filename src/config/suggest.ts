/** Insertions, deletions, substitutions and swaps of neighbours (optimal string alignment). */
export const editDistance = (a: string, b: string): number => {
  let beforeLast: Array<number> = []
  let last = Array.from({ length: b.length + 1 }, (_, j) => j)
  for (let i = 1; i <= a.length; i++) {
    const row = [i]
    for (let j = 1; j <= b.length; j++) {
      const substituted = (last[j - 1] ?? 0) + (a[i - 1] === b[j - 1] ? 0 : 1)
      const swapped = i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1]
        ? (beforeLast[j - 2] ?? 0) + 1
        : Infinity
      row.push(Math.min((last[j] ?? 0) + 1, (row[j - 1] ?? 0) + 1, substituted, swapped))
    }
    beforeLast = last
    last = row
  }
  return last[b.length] ?? 0
}

/** A longer word is not a typing error, and comparing it would waste time. */
const LONGEST = 40

/** The known word that was probably meant: at most two edits away, and at most a third of its length. */
export const nearest = (word: string, known: Iterable<string>): string | undefined => {
  if (word.length > LONGEST) return undefined
  let best: { readonly word: string; readonly distance: number } | undefined
  for (const candidate of known) {
    const distance = editDistance(word.toLowerCase(), candidate)
    if (distance > Math.min(2, Math.floor(candidate.length / 3))) continue
    if (best === undefined || distance < best.distance) best = { word: candidate, distance }
  }
  return best?.word
}
