import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import type { DnsSettings } from "../../config/dnsOptions.ts"
import type { ConsensusParams } from "../../consensus/params.ts"
import type { LightPart } from "../../light/LightPart.ts"
import { NameAnswers } from "../../light/NameAnswers.ts"
import type { NameDb } from "../../names/NameDb.ts"
import type { StorageFailure } from "../../storage/errors.ts"
import { version } from "../../version.ts"
import { wireNameOfHost } from "../wire/name.ts"
import { makeApex } from "../zone/apex.ts"
import { BIT_ORIGIN } from "../zone/suffix.ts"
import { notifySecondaries } from "./notify.ts"
import type { TransferKey } from "./tsig.ts"
import * as Serials from "./ZoneSerials.ts"
import { zoneTip } from "./zoneTip.ts"
import * as Transfers from "./ZoneTransfers.ts"

/** The parts of zone transfer, from the settings of a node. */

export interface TransferLayerOptions {
  readonly settings: Pick<DnsSettings, "notify" | "servers" | "transfer" | "tsig" | "ttl">
  readonly params: ConsensusParams
  /** Paths in the data directory. */
  readonly file: (name: string) => string
  readonly counted: Transfers.ZoneTransfersOptions["counted"]
}

const keysOf = ({ tsig }: Pick<DnsSettings, "tsig">): ReadonlyArray<TransferKey> =>
  tsig.map(({ algorithm, name, secret }) => ({ name: wireNameOfHost(name), algorithm, secret }))

const apexOf = ({ servers, ttl }: Pick<DnsSettings, "servers" | "ttl">) =>
  makeApex({ origin: BIT_ORIGIN, servers: servers.map(wireNameOfHost), ttl })

/**
 * What the records depend on besides the names. Another version may make other records of the same values, so after an
 * upgrade secondaries transfer the whole zone once, too.
 */
const madeWith = ({ servers, ttl }: Pick<DnsSettings, "servers" | "ttl">): string =>
  JSON.stringify([version, servers, ttl])

/** The serials of the zone. A node has them without transfers, too. */
export const serialsLayer = (
  { file, settings }: Pick<TransferLayerOptions, "file" | "settings">
): Layer.Layer<Serials.ZoneSerials, StorageFailure, LightPart | NameDb> =>
  Layer.unwrapEffect(
    Effect.map(zoneTip, (tip) => Serials.layer({ filename: file("dns/serials.json"), made: madeWith(settings), tip }))
  )

/** Transfers and notices, until the layer closes. */
export const transfersLayer = ({ counted, file, params, settings }: TransferLayerOptions) => {
  const { notify, transfer } = settings
  const apex = apexOf(settings)
  const keys = keysOf(settings)
  const notices = Layer.scopedDiscard(Effect.gen(function*() {
    const answers = yield* NameAnswers
    const { secondaries } = yield* Transfers.ZoneTransfers
    yield* notifySecondaries({
      targets: notify.map(({ address, key }) => ({
        address,
        key: key === undefined ? undefined : keys.find(({ name }) => name === wireNameOfHost(key))
      })),
      apex,
      serials: yield* Serials.ZoneSerials,
      complete: Effect.orElseSucceed(answers.complete, () => false),
      secondaries
    })
  }))
  const transfers = Transfers.layer({ namesFile: file("names.db"), params, rules: transfer, keys, apex, counted })
  return Layer.provideMerge(notices, transfers)
}
