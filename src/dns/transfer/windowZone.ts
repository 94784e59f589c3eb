import * as Effect from "effect/Effect"
import * as Stream from "effect/Stream"
import { isExpired } from "../../consensus/expiry.ts"
import type { ConsensusParams } from "../../consensus/params.ts"
import type { NameAnswer, NameAnswers } from "../../light/NameAnswers.ts"
import type { Bytes } from "../../protocol/bytes.ts"
import type { Height } from "../../protocol/keys.ts"
import { type StorageFailure, StorageUnavailable } from "../../storage/errors.ts"
import { domainZone } from "../../values/zone.ts"
import { wireNameOfHost } from "../wire/name.ts"
import type { Apex } from "../zone/apex.ts"
import { soaSet } from "../zone/apex.ts"
import { apexPart, DOMAIN_PREFIX, type Messages } from "./transferStreams.ts"
import type { TransferWriter } from "./TransferWriter.ts"
import type { ZoneSerials } from "./ZoneSerials.ts"
import { domainOf, setsOfTree } from "./zoneState.ts"

export interface WindowSource {
  readonly answers: Pick<typeof NameAnswers.Service, "fromWindow" | "height" | "resolve" | "scanByPrefix">
  readonly serials: Pick<typeof ZoneSerials.Service, "serial">
  readonly params: ConsensusParams
  /** The zone's own records with a serial. */
  readonly apex: (serial: number) => Apex
}

/**
 * The whole zone of a light node. Its window has one state, the last: where a block comes meanwhile, the transfer fails,
 * and the secondary tries again.
 */
export const windowZone = (
  { answers, apex: apexAt, params, serials }: WindowSource,
  writer: TransferWriter
): Messages =>
  Stream.unwrap(Effect.gen(function*() {
    const serial = serials.serial()
    const apex = apexAt(serial)
    const height: Height = yield* answers.height
    const living = (found: NameAnswer | undefined): Bytes | undefined =>
      found === undefined || isExpired(found.record, height, params) ? undefined : found.record.value

    /** Writes the sets of a name. */
    const writeName = (found: NameAnswer): Effect.Effect<void, StorageFailure> =>
      Effect.gen(function*() {
        const value = living(found)
        const domain = value === undefined ? undefined : domainOf(found.record.name, value)
        if (domain === undefined) return
        const work = domainZone(domain)
        let step = work.next()
        while (step.done !== true) step = work.next(living(yield* answers.resolve(step.value)))
        for (const set of setsOfTree(wireNameOfHost(step.value.host), step.value.top, apex.ttl)) writer.add(set)
      })

    const last = Effect.suspend(() => {
      if (serials.serial() !== serial || !answers.fromWindow()) {
        return new StorageUnavailable({ file: "the window", doing: "reading", reason: "a block came meanwhile" })
      }
      writer.add(soaSet(apex))
      return Effect.succeed(writer.finish())
    })

    writer.add(soaSet(apex))
    for (const set of apexPart(apex)) writer.add(set)
    return answers.scanByPrefix({ prefix: DOMAIN_PREFIX }).pipe(
      Stream.mapConcatEffect((found) => Effect.map(writeName(found), () => writer.take())),
      Stream.concat(Stream.flatMap(Stream.fromEffect(last), Stream.fromIterable))
    )
  }))
