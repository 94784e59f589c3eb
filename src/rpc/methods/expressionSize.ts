/**
 * Estimates the compiled size of a regular expression. Nested repeats multiply copies, so 500 characters can compile to
 * a million steps, which the compiler would only notice after a second.
 */

const repeated = (
  steps: number,
  { least, most }: { readonly least: number; readonly most: number | undefined }
): number =>
  // Each optional copy has a step that skips it.
  most === undefined ? (least + 1) * steps + 1 : least * steps + Math.max(0, most - least) * (steps + 1)

const REPEAT = /\{(\d{1,9})(,(\d{0,9}))?\}/y

interface Group {
  /** Steps before the last part. */
  before: number
  /** Steps of the last part, which a repeat may follow. */
  last: number
}

/** Returns the position behind the bracket of the class. */
const endOfClass = (text: string, from: number): number => {
  let at = from + 1
  if (text[at] === "^") at++
  // A bracket at the start is a member.
  if (text[at] === "]") at++
  while (at < text.length && text[at] !== "]") {
    const named = text.startsWith("[:", at) ? text.indexOf(":]", at) : -1
    if (named > 0) at = named + 2
    else at += text[at] === "\\" ? 2 : 1
  }
  return at + 1
}

/** At least the number of steps of a valid expression; any number for an invalid one. */
export const expressionSize = (text: string): number => {
  const groups: Array<Group> = []
  let group: Group = { before: 0, last: 0 }
  const part = (steps: number): void => {
    group.before += group.last
    group.last = steps
  }
  let at = 0
  while (at < text.length) {
    const char = text[at]
    if (char === "\\" && text[at + 1] === "Q") {
      const end = text.indexOf("\\E", at + 2)
      const stop = end < 0 ? text.length : end
      for (let quoted = at + 2; quoted < stop; quoted++) part(1)
      at = end < 0 ? text.length : end + 2
      continue
    }
    REPEAT.lastIndex = at
    const repeat = char === "{" ? REPEAT.exec(text) : null
    if (repeat !== null) {
      const least = Number(repeat[1])
      const most = repeat[2] === undefined ? least : repeat[3] === "" ? undefined : Number(repeat[3])
      group.last = repeated(group.last, { least, most })
      at += repeat[0].length
      continue
    }
    switch (char) {
      case "(":
        groups.push(group)
        group = { before: 0, last: 0 }
        break
      case ")": {
        const outer = groups.pop()
        if (outer === undefined) break
        // A group has a step at each end.
        const steps = group.before + group.last + 2
        group = outer
        part(steps)
        break
      }
      case "|":
        part(2)
        part(0)
        break
      case "*":
      case "+":
      case "?":
        group.last += 1
        break
      case "[":
        part(1)
        at = endOfClass(text, at)
        continue
      case "\\":
        part(1)
        at += 1
        break
      default:
        part(1)
    }
    at += 1
  }
  let steps = group.before + group.last
  for (const open of groups) steps += open.before + open.last
  // The match, the start and the step that fails.
  return steps + 3
}
