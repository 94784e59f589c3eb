import { compareRates, type FeeRate } from "../policy/feeRate.ts"

/** A point of a fee-rate diagram: the total fee of the best weight units of a set. */
export interface DiagramPoint {
  readonly weight: number
  readonly fee: number
}

const ORIGIN: DiagramPoint = { weight: 0, fee: 0 }

/** The points after each chunk, in order, from the origin. */
export const diagramOf = (chunks: Iterable<FeeRate>): ReadonlyArray<DiagramPoint> => {
  let last = ORIGIN
  const points = [last]
  for (const { fee, weight } of chunks) {
    last = { weight: last.weight + weight, fee: last.fee + fee }
    points.push(last)
  }
  return points
}

export type DiagramOrder = "better" | "equal" | "worse" | "incomparable"

/**
 * Compares a point with another diagram: positive above it, 0 on it, negative below. The other diagram is straight
 * between its points and level behind its last one. `next` is its first point that is not lighter.
 */
const compareAt = (point: DiagramPoint, other: ReadonlyArray<DiagramPoint>, next: number): number => {
  const before = other[next - 1] ?? ORIGIN
  const after = other[next]
  const weight = point.weight - before.weight
  if (after === undefined || weight === 0) return point.fee - before.fee
  const slope = { fee: after.fee - before.fee, weight: after.weight - before.weight }
  return compareRates({ fee: point.fee - before.fee, weight }, slope)
}

/** Whether `points` are above `other` somewhere and below somewhere, checked at the points after the origin. */
const findSides = (
  points: ReadonlyArray<DiagramPoint>,
  other: ReadonlyArray<DiagramPoint>
): { readonly above: boolean; readonly below: boolean } => {
  let above = false
  let below = false
  let next = 1
  for (const point of points.slice(1)) {
    while ((other[next]?.weight ?? Infinity) < point.weight) next++
    const order = compareAt(point, other, next)
    if (order > 0) above = true
    if (order < 0) below = true
  }
  return { above, below }
}

/**
 * Compares the fee-rate diagrams of two sets of chunks, best first. The lighter one is level behind its end, as its
 * free weight may earn nothing. Source: upstream `util/feefrac.cpp`, `CompareChunks`.
 */
export const compareDiagrams = (a: Iterable<FeeRate>, b: Iterable<FeeRate>): DiagramOrder => {
  const left = diagramOf(a)
  const right = diagramOf(b)
  const ofLeft = findSides(left, right)
  const ofRight = findSides(right, left)
  const better = ofLeft.above || ofRight.below
  const worse = ofLeft.below || ofRight.above
  if (better) return worse ? "incomparable" : "better"
  return worse ? "worse" : "equal"
}
