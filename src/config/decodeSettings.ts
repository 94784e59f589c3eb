import * as Either from "effect/Either"
import { alertProblems } from "./alertSettings.ts"
import { readArgv } from "./argv.ts"
import { contradictions } from "./contradictions.ts"
import { translatedFlag } from "./coreFlags.ts"
import { refusing, settingsDecoder } from "./decode.ts"
import { gather, type Gathered, type SettingsInput } from "./gather.ts"
import { inForce, type Origin } from "./inForce.ts"
import { OPTIONS } from "./options.ts"
import type { GivenSettings, Settings } from "./settings.ts"
import { UsageError } from "./UsageError.ts"

const decodeGiven = settingsDecoder(OPTIONS)

const problemsOf = (given: GivenSettings): ReadonlyArray<string> => {
  const problems = alertProblems(given)
  if (problems.length > 0) return problems
  const lacksIndex = given.peers.peerBlockFilters && given.chain.blockFilterIndex === "0"
  return lacksIndex ? ["Cannot set -peerblockfilters without -blockfilterindex."] : []
}

export const settingsOf = (given: GivenSettings, origin: Origin): Either.Either<Settings, UsageError> => {
  const problems = problemsOf(given)
  return problems.length > 0 ? Either.left(new UsageError({ problems })) : Either.right(inForce(given, origin))
}

export const decodeGathered = (gathered: Gathered, input: SettingsInput): Either.Either<Settings, UsageError> =>
  Either.gen(function*() {
    const given = yield* decodeGiven(gathered, input)
    yield* refusing(contradictions(given), gathered.source)
    const isDefault: Origin["isDefault"] = (name) => gathered.source.get(name)?.from === "default"
    return yield* settingsOf(given, { isDefault, cores: input.cores })
  })

export const decodeSettings = (input: SettingsInput): Either.Either<Settings, UsageError> => {
  const { given, problems } = readArgv(input.argv, OPTIONS)
  if (problems.length > 0) return Either.left(new UsageError({ problems: problems.map(translatedFlag) }))
  return Either.flatMap(gather(OPTIONS, given, input), (gathered) => decodeGathered(gathered, input))
}
