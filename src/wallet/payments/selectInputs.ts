import { shuffled } from "../../base/random.ts"
import { totalValue } from "../../protocol/transaction.ts"
import { branchAndBound } from "./branchAndBound.ts"
import { byEffectiveValue, type Candidate, candidateOf, joinedCandidate } from "./Candidate.ts"
import { type CoinGroup, groupsOf } from "./coinGroups.ts"
import { feeOfWeight, hasWitness, inputWeight, isChild, type WeighedCoin, weightWithoutInputs } from "./Draft.ts"
import { type Funding, type FundingTarget, fundWith } from "./fundWith.ts"

/** Coin selection with change. Functions return `undefined` for no solution. */

/** Smallest units and weight units. */
interface Draw {
  readonly candidates: ReadonlyArray<Candidate>
  /** Minimum sum of effective values. */
  readonly target: number
  readonly maxWeight: number
}

const takeUntil = (coins: ReadonlyArray<Candidate>, { maxWeight, target }: Draw): Array<Candidate> | undefined => {
  const taken: Array<Candidate> = []
  let sum = 0
  let weight = 0
  for (const coin of coins) {
    if (coin.effective <= 0) continue
    taken.push(coin)
    sum += coin.effective
    weight += coin.weight
    if (weight > maxWeight) return undefined
    if (sum >= target) return taken
  }
  return undefined
}

/** Change then has all sizes, and the selection reveals nothing about other coins. */
const singleRandomDraw = (draw: Draw, random: () => number): ReadonlyArray<Candidate> | undefined =>
  takeUntil(shuffled(random, draw.candidates), draw)

/** Few inputs. The last one is the smallest sufficient coin, so that a small payment breaks no large coin. */
const largestFirst = (draw: Draw): ReadonlyArray<Candidate> | undefined => {
  const sorted = [...draw.candidates].sort(byEffectiveValue)
  const taken = takeUntil(sorted, draw)
  if (taken === undefined) return undefined
  const others = taken.slice(0, -1)
  const lacking = draw.target - others.reduce((sum, { effective }) => sum + effective, 0)
  const room = draw.maxWeight - others.reduce((sum, { weight }) => sum + weight, 0)
  const smallest = sorted.findLast(({ effective, weight }) => effective > 0 && effective >= lacking && weight <= room)
  return smallest === undefined || others.includes(smallest) ? taken : [...others, smallest]
}

const densestFirst = (draw: Draw): ReadonlyArray<Candidate> | undefined =>
  takeUntil(
    [...draw.candidates].sort((a, b) => b.effective / b.weight - a.effective / a.weight || byEffectiveValue(a, b)),
    draw
  )

export interface SelectionRequest {
  readonly target: FundingTarget
  readonly preset: ReadonlyArray<WeighedCoin>
  readonly candidates: ReadonlyArray<WeighedCoin>
  /** Whether coins of a script are spent together (`-avoidpartialspends`); false if omitted. */
  readonly grouped?: boolean
  /** Uses coins whose payment the mempool would refuse, if nothing else pays; false if omitted. */
  readonly longChains?: boolean
  /** Smallest units per kvB. */
  readonly longTermRate: number
  readonly costOfChange: number
  readonly changeWeight: number
  readonly maxWeight: number
  /** For a transaction that spends unconfirmed coins. */
  readonly maxChildWeight: number
  readonly random: () => number
}

export const maxWeightWith = (
  { maxChildWeight, maxWeight }: Pick<SelectionRequest, "maxWeight" | "maxChildWeight">,
  inputs: ReadonlyArray<WeighedCoin>
): number => isChild(inputs) ? maxChildWeight : maxWeight

/** Large enough for a later payment. */
const USEFUL_CHANGE = 50_000

interface Frame {
  readonly request: SelectionRequest
  /** Single coins, or all coins of a script. */
  readonly groups: ReadonlyArray<CoinGroup>
  readonly draw: Draw
  /** Available for inputs in a transaction with change. */
  readonly weightWithChange: number
}

/** Overheads assume that all candidates are spent, so solutions always pay. Inputs are free if recipients pay. */
const frameOf = (request: SelectionRequest, groups: ReadonlyArray<CoinGroup>): Frame => {
  const { longTermRate, preset, target } = request
  const all = [...preset, ...groups.flat()]
  const maxWeight = maxWeightWith(request, all)
  const witness = all.some(hasWitness)
  const receiversPay = target.subtractFeeFrom.length > 0
  const feeRate = receiversPay ? 0 : target.feeRate
  const rates = { feeRate, longTermRate: receiversPay ? 0 : longTermRate }
  const candidate = (coin: WeighedCoin, index: number): Candidate =>
    candidateOf(
      index,
      { value: coin.coin.output.value, weight: inputWeight(coin, witness), bump: receiversPay ? 0 : coin.bump ?? 0 },
      rates
    )
  const given = preset.map(candidate)
  const joined = (group: CoinGroup, index: number): Candidate =>
    joinedCandidate(index, group.map((coin) => candidate(coin, index)))
  const base = weightWithoutInputs(target.outputs, all.length, witness)
  const wanted = totalValue(target.outputs) + feeOfWeight({ feeRate, weight: base })
  const left = maxWeight - base - given.reduce((sum, { weight }) => sum + weight, 0)
  return {
    request,
    groups,
    draw: {
      candidates: groups.map(joined),
      target: wanted - given.reduce((sum, { effective }) => sum + effective, 0),
      maxWeight: left
    },
    weightWithChange: left - request.changeWeight
  }
}

const settled = (frame: Frame, chosen: ReadonlyArray<Candidate> | undefined): ReadonlyArray<Funding> => {
  if (chosen === undefined) return []
  const { preset, random, target } = frame.request
  const added = chosen.flatMap(({ index }) => frame.groups[index] ?? [])
  const funding = fundWith([...preset, ...shuffled(random, added)], target)
  return funding === undefined || funding.weight > maxWeightWith(frame.request, funding.inputs) ? [] : [funding]
}

/** Input costs above the long-term fee, fees for ancestors, and the cost of change, or the excess without it. */
const wasteOf = ({ costOfChange, longTermRate, preset, target }: SelectionRequest, settled: Funding): number => {
  const { bumpOf = () => 0, feeRate } = target
  const bump = bumpOf(settled.inputs)
  let waste = settled.change > 0
    ? costOfChange + bump
    : settled.fee - feeOfWeight({ feeRate, weight: settled.weight })
  for (const { weight } of settled.inputs.slice(preset.length)) {
    waste += feeOfWeight({ feeRate, weight }) - feeOfWeight({ feeRate: longTermRate, weight })
  }
  return waste
}

/** Searches without change, for few inputs, and at random. */
const contest = (frame: Frame): ReadonlyArray<Funding> => {
  const { changeWeight, costOfChange, random, target } = frame.request
  const { draw, weightWithChange } = frame
  // If the recipients pay the fee, an excess would be the sender's: only the exact sum goes without change.
  const changeless = branchAndBound({ ...draw, tolerance: target.subtractFeeFrom.length > 0 ? 0 : costOfChange })
  const changeFee = feeOfWeight({ feeRate: target.feeRate, weight: changeWeight })
  const roomy = { ...draw, target: draw.target + changeFee + USEFUL_CHANGE, maxWeight: weightWithChange }
  return [changeless, largestFirst(roomy), singleRandomDraw(roomy, random)].flatMap((chosen) => settled(frame, chosen))
}

/** Any solution that pays, after the searches found none. */
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

/** Confirmed coins, then those with few ancestors; partial groups last. Upstream `AutomaticCoinSelection`. */
const roundsOf = (request: SelectionRequest): ReadonlyArray<ReadonlyArray<CoinGroup>> => {
  const { candidates, grouped = false, random } = request
  const { partial, whole } = grouped
    ? groupsOf(shuffled(random, worthSpending(request)))
    : { whole: candidates.map((coin) => [coin]), partial: [] }
  const all = [...whole, ...partial]
  const within = (groups: ReadonlyArray<CoinGroup>, share: number): ReadonlyArray<CoinGroup> =>
    groups.filter((group) => group.every(({ chain = 0 }) => chain <= share))
  const confirmed = whole.filter((group) => group.every(({ coin }) => coin.height !== undefined))
  const rounds = [confirmed, within(whole, 1 / 2), within(whole, 1), within(all, 1)]
  if (request.longChains === true) rounds.push(all)
  // Each round includes the coins of earlier ones.
  return rounds.filter((groups, n) => n === 0 || groups.length > (rounds[n - 1]?.length ?? 0))
}

/** Whether coins are skipped because the mempool would refuse a payment with them. */
export const leavesOutChains = ({ candidates, longChains }: SelectionRequest): boolean =>
  longChains !== true && candidates.some(({ chain = 0 }) => chain > 1)

/** A last resort counts only if the searches find nothing. */
const selectFrom = (request: SelectionRequest, groups: ReadonlyArray<CoinGroup>): Funding | undefined => {
  const frame = frameOf(request, groups)
  return leastWasteful(request, contest(frame)) ?? lastResorts(frame)[0]
}

/** The coins of a group share a script. */
const typeOf = (group: CoinGroup): string => group[0]?.coin.own.type ?? "other"

/**
 * Coins of one address type before a mix, which shows that coins have one owner; types already in the payment first.
 * Within a turn the least wasteful choice counts. Upstream `AttemptSelection`.
 */
const turnsOf = (
  { preset }: SelectionRequest,
  groups: ReadonlyArray<CoinGroup>
): ReadonlyArray<ReadonlyArray<ReadonlyArray<CoinGroup>>> => {
  const byType = new Map<string, Array<CoinGroup>>()
  for (const group of groups) {
    const alike = byType.get(typeOf(group))
    if (alike === undefined) byType.set(typeOf(group), [group])
    else alike.push(group)
  }
  if (byType.size <= 1) return [[groups]]
  const given = new Set<string>(preset.map(({ coin }) => coin.own.type))
  const like = groups.filter((group) => given.has(typeOf(group)))
  return [...like.length === 0 ? [] : [[like]], [...byType.values()], [groups]]
}

/**
 * Prefers confirmed coins and a single address type. Each round takes the least wasteful of branch and bound without
 * change, a random draw and the largest coins. Otherwise anything that pays is taken. `undefined` if nothing pays
 * within the weight limit.
 */
export const selectInputs = (request: SelectionRequest): Funding | undefined => {
  const { preset, target } = request
  const enough = fundWith(preset, target)
  if (enough !== undefined) return enough
  for (const groups of roundsOf(request)) {
    for (const choices of turnsOf(request, groups)) {
      const found = choices.flatMap((chosen) => selectFrom(request, chosen) ?? [])
      const best = leastWasteful(request, found)
      if (best !== undefined) return best
    }
  }
  return undefined
}

/** Without coins that cost more than their value. */
export const effectiveTotal = (coins: ReadonlyArray<WeighedCoin>, feeRate: number): number =>
  coins.reduce(
    (sum, coin) => sum + Math.max(0, coin.coin.output.value - feeOfWeight({ feeRate, weight: coin.weight })),
    0
  )

/** Worth more than their input fees; all if the recipients pay the fee. */
const worthSpending = ({ candidates, target }: SelectionRequest): ReadonlyArray<WeighedCoin> => {
  const { feeRate, subtractFeeFrom } = target
  return candidates.filter((coin) =>
    subtractFeeFrom.length > 0 ||
    coin.coin.output.value > feeOfWeight({ feeRate, weight: coin.weight }) + (coin.bump ?? 0)
  )
}

/** Ignores the weight limit. */
export const wouldPay = (request: SelectionRequest): boolean =>
  fundWith([...request.preset, ...worthSpending(request)], request.target) !== undefined
