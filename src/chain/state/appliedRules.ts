import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import { readFileSync } from "node:fs"
import { join } from "node:path"
import { replaceFileNow } from "../../base/atomicFile.ts"
import { codeOf } from "../../base/errorCode.ts"
import { breaksTimewarp } from "../../consensus/header.ts"
import type { ConsensusParams } from "../../consensus/params.ts"
import type { Activation } from "../../consensus/readerParams.ts"
import type { Height } from "../../protocol/keys.ts"
import { guarded } from "../../storage/Database.ts"
import { StorageCorrupted } from "../../storage/errors.ts"
import { ValidatedByOtherRules } from "../errors.ts"
import type { BlockIndex } from "../index/BlockIndex.ts"
import type { ActiveChain } from "./ActiveChain.ts"
import { missedRule, RULES } from "./missedRule.ts"

// The file RULES in the directory of a chain state: from which height each rule is applied. Blocks are checked once, so
// under rules that begin earlier, a start might continue a chain that it would refuse. The reference node refuses that
// for segwit alone (upstream `validation.cpp`, `Chainstate::NeedsRedownload`).

const rulesFile = (directory: string): string => join(directory, "RULES")

/** The start height of each rule, `null` for never. Releases may know different rules. */
const Heights = Schema.Record({ key: Schema.String, value: Schema.NullOr(Schema.NonNegativeInt) })

const decode = Schema.decodeUnknownOption(Schema.parseJson(Heights))

const textOf = (file: string): string | undefined => {
  try {
    return readFileSync(file, "utf8")
  } catch (cause) {
    if (codeOf(cause) === "ENOENT") return undefined
    throw cause
  }
}

/** The stored heights; `undefined` if a release did not store them. Throws `StorageFailure`. */
const readRules = (directory: string): Activation | undefined => {
  const file = rulesFile(directory)
  const text = guarded({ file, doing: "reading", remedy: "" }, () => textOf(file))
  if (text === undefined) return undefined
  const heights = Option.getOrUndefined(decode(text))
  if (heights === undefined) {
    const remedy = "Delete it, and start with the activation heights of before, or with -reindex-chainstate"
    throw new StorageCorrupted({ file, found: "it does not say from which height on each rule was applied", remedy })
  }
  const of = (rule: keyof Activation): number => heights[rule] ?? Infinity
  return {
    bip16: of("bip16"),
    bip34: of("bip34"),
    bip65: of("bip65"),
    bip66: of("bip66"),
    csv: of("csv"),
    segwit: of("segwit"),
    taproot: of("taproot")
  }
}

/** Stores the heights that apply to a chain state from now on. Throws `StorageUnavailable`. */
export const writeRules = (directory: string, activation: Activation): void => {
  const file = rulesFile(directory)
  const heights = Object.fromEntries(
    RULES.map((rule) => [rule, Number.isFinite(activation[rule]) ? activation[rule] : null])
  )
  guarded({ file, doing: "writing", remedy: "" }, () => replaceFileNow(file, `${JSON.stringify(heights, null, 2)}\n`))
}

export interface LoadedChain {
  readonly directory: string
  readonly index: BlockIndex
  readonly active: ActiveChain
}

const highestHeader = (index: BlockIndex): Height => {
  let highest = 0
  index.each((id) => highest = Math.max(highest, index.height(id)))
  return highest
}

/** The first block of the best chain that breaks BIP 94. Nothing is stored about this rule, as the headers show it. */
const firstTimewarp = ({ active, index }: LoadedChain, params: ConsensusParams): Height | undefined => {
  if (!params.limitsTimewarp) return undefined
  for (let height = params.retargetInterval; height <= active.height; height += params.retargetInterval) {
    const [time, prevTime] = [index.time(active.at(height)), index.time(active.at(height - 1))]
    if (breaksTimewarp({ height, time, prevTime }, params)) return height
  }
  return undefined
}

/** Stores the rules of this start, or returns why a chain state checked under others is unusable. */
export const applyRules = (chain: LoadedChain, params: ConsensusParams): ValidatedByOtherRules | undefined => {
  const { active, directory, index } = chain
  const warped = firstTimewarp(chain, params)
  if (warped !== undefined) {
    const reason = `this start applies it from height ${params.retargetInterval} on, and block ${warped} breaks it`
    return new ValidatedByOtherRules({ directory, rule: "bip94", reason })
  }
  const [before, now] = [readRules(directory), params.activation]
  if (before !== undefined) {
    if (RULES.every((rule) => before[rule] === now[rule])) return undefined
    const missed = missedRule({ tip: active.height, headers: highestHeader(index) }, { before, now })
    if (missed !== undefined) return new ValidatedByOtherRules({ directory, ...missed })
  }
  writeRules(directory, now)
  return undefined
}
