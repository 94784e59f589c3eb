import { shuffled } from "../../base/random.ts"
import { branchAndBound } from "./branchAndBound.ts"
import { type Candidate, candidateOf } from "./Candidate.ts"
import { feeOfWeight, hasWitness, inputWeight, type WeighedCoin, weightWithoutInputs } from "./Draft.ts"
import { densestFirst, type Draw, largestFirst, singleRandomDraw } from "./draws.ts"
import { type Funding, type FundingTarget, fundWith } from "./fundWith.ts"

/** What inputs are selected for. */
export interface SelectionRequest {
  readonly target: FundingTarget
  /** Inputs that are there in any case. */
  readonly preset: ReadonlyArray<WeighedCoin>
  readonly candidates: ReadonlyArray<WeighedCoin>
  /** Smallest units a kvB, as expected in the long run. */
  readonly longTermRate: number
  /** What a change output costs now and when it is spent. */
  readonly costOfChange: number
  /** Weight of a change output. */
  readonly changeWeight: number
  readonly maxWeight: number
  readonly random: () => number
}

/** Change that is drawn for: not so little that the next payment has no use for it. */
const USEFUL_CHANGE = 50_000

/** From this many times the long-term rate on, few inputs are looked for as well. */
const HIGH_RATE = 3

/** A selection as the searches take it. */
interface Frame {
  readonly request: SelectionRequest
  readonly coins: ReadonlyArray<WeighedCoin>
  readonly draw: Draw
  /** Weight that is left for inputs where there is change. */
  readonly weightWithChange: number
}

/**
 * Puts a selection into effective values. The count of inputs and the units for witnesses are taken as if all
 * candidates were to be spent, so that what pays here pays in the end. Where receivers pay the fee, inputs cost nothing.
 */
const frameOf = (request: SelectionRequest, coins: ReadonlyArray<WeighedCoin>): Frame => {
  const { longTermRate, maxWeight, preset, target } = request
  const all = [...preset, ...coins]
  const witness = all.some(hasWitness)
  const receiversPay = target.subtractFeeFrom.length > 0
  const feeRate = receiversPay ? 0 : target.feeRate
  const rates = { feeRate, longTermRate: receiversPay ? 0 : longTermRate }
  const candidate = (coin: WeighedCoin, index: number): Candidate =>
    candidateOf(index, { value: coin.coin.output.value, weight: inputWeight(coin, witness) }, rates)
  const given = preset.map(candidate)
  const base = weightWithoutInputs(target.outputs, all.length, witness)
  const wanted = target.outputs.reduce((sum, { value }) => sum + value, 0) + feeOfWeight(feeRate, base)
  const left = maxWeight - base - given.reduce((sum, { weight }) => sum + weight, 0)
  return {
    request,
    coins,
    draw: {
      candidates: coins.map(candidate),
      target: wanted - given.reduce((sum, { effective }) => sum + effective, 0),
      maxWeight: left
    },
    weightWithChange: left - request.changeWeight
  }
}

const settled = (frame: Frame, chosen: ReadonlyArray<Candidate> | undefined): ReadonlyArray<Funding> => {
  if (chosen === undefined) return []
  const { preset, random, target } = frame.request
  const added = chosen.flatMap(({ index }) => frame.coins[index] ?? [])
  const funding = fundWith([...preset, ...shuffled(random, added)], target)
  return funding === undefined || funding.weight > frame.request.maxWeight ? [] : [funding]
}

/** What a funding wastes beside its inputs' own: the cost of change, or what goes to the fee for want of it. */
const wasteOf = ({ longTermRate, costOfChange, preset, target }: SelectionRequest, settled: Funding): number => {
  let waste = settled.change > 0 ? costOfChange : settled.fee - feeOfWeight(target.feeRate, settled.weight)
  for (const { weight } of settled.inputs.slice(preset.length)) {
    waste += feeOfWeight(target.feeRate, weight) - feeOfWeight(longTermRate, weight)
  }
  return waste
}

/** The searches that compete with each other. */
const contest = (frame: Frame): ReadonlyArray<Funding> => {
  const { costOfChange, longTermRate, random, target } = frame.request
  const { draw, weightWithChange } = frame
  const changeless = target.subtractFeeFrom.length > 0
    ? undefined
    : branchAndBound({ ...draw, tolerance: costOfChange })
  const roomy = { ...draw, target: draw.target + costOfChange + USEFUL_CHANGE, maxWeight: weightWithChange }
  const few = target.feeRate > HIGH_RATE * longTermRate ? largestFirst(roomy) : undefined
  return [changeless, singleRandomDraw(roomy, random), few].flatMap((chosen) => settled(frame, chosen))
}

/** What is tried where the searches found nothing: whatever pays. */
const lastResorts = (frame: Frame): ReadonlyArray<Funding> => {
  const { draw } = frame
  const everything = draw.candidates.filter(({ effective }) => effective > 0)
  return [largestFirst(draw), densestFirst(draw), everything].flatMap((chosen) => settled(frame, chosen))
}

const leastWasteful = (
  request: SelectionRequest,
  fundings: ReadonlyArray<Funding>
): Funding | undefined => {
  let best: Funding | undefined
  let least = Infinity
  for (const funding of fundings) {
    const waste = wasteOf(request, funding)
    if (waste >= least) continue
    best = funding
    least = waste
  }
  return best
}

/**
 * Selects inputs: confirmed coins alone where they suffice, then all; each time by branch and bound for a payment
 * without change, and by a random draw for one with change, whichever wastes less. What they miss is found by taking the
 * greatest coins. `undefined` where nothing pays, or nothing within the weight.
 */
export const selectInputs = (request: SelectionRequest): Funding | undefined => {
  const { candidates, preset, target } = request
  const enough = fundWith(preset, target)
  if (enough !== undefined) return enough
  const confirmed = candidates.filter(({ coin }) => coin.height !== undefined)
  const rounds = confirmed.length === candidates.length ? [candidates] : [confirmed, candidates]
  for (const coins of rounds) {
    const frame = frameOf(request, coins)
    const found = leastWasteful(request, contest(frame)) ?? lastResorts(frame)[0]
    if (found !== undefined) return found
  }
  return undefined
}

/** What coins come to after their own inputs are paid for at a rate; those that cost more than they bring are left out. */
export const effectiveTotal = (coins: ReadonlyArray<WeighedCoin>, feeRate: number): number =>
  coins.reduce((sum, coin) => sum + Math.max(0, coin.coin.output.value - feeOfWeight(feeRate, coin.weight)), 0)

/** Whether coins would pay, were it not for the weight. */
export const wouldPay = ({ candidates, preset, target }: SelectionRequest): boolean => {
  const { feeRate, subtractFeeFrom } = target
  const useful = candidates.filter((coin) =>
    subtractFeeFrom.length > 0 || coin.coin.output.value > feeOfWeight(feeRate, coin.weight)
  )
  return fundWith([...preset, ...useful], target) !== undefined
}
