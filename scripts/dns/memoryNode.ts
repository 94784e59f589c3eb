import { Effect, Layer } from "effect"
import { Chain } from "../../src/chain/Chain.ts"
import { regtestParams } from "../../src/consensus/params.ts"
import type { Forwarder, ZoneSigner } from "../../src/dns/parts.ts"
import * as Responder from "../../src/dns/Responder.ts"
import { makeSigner } from "../../src/dns/sign/signer.ts"
import { newKeySecret, type ZoneKey, zoneKeyOf } from "../../src/dns/sign/zoneKey.ts"
import { wireNameOfHost } from "../../src/dns/wire/name.ts"
import * as LightPart from "../../src/light/LightPart.ts"
import { NameAnswers } from "../../src/light/NameAnswers.ts"
import type { SyncReport } from "../../src/light/syncReport.ts"
import { SyncReporter } from "../../src/light/SyncReporter.ts"
import { CommitSignal } from "../../src/names/CommitSignal.ts"
import { NameDb, type NameEntry } from "../../src/names/NameDb.ts"
import { EMPTY } from "../../src/protocol/bytes.ts"
import * as DataHealth from "../../src/storage/DataHealth.ts"
import { askWhile } from "../../test/support/askNames.ts"
import { noTree } from "../../test/support/noTree.ts"

// The responder of DNS over names in memory: everything of svcd but the chain and the file of the names.

/** The value of a name, both as text in which each character is a byte; `undefined` if there is none. */
export type ValueOf = (name: string) => string | undefined

const HEIGHT = 100

const REPORT: SyncReport = {
  phase: "ready",
  proof: "full",
  height: HEIGHT,
  headers: HEIGHT,
  synced: true,
  percent: 100,
  secondsLeft: 0
}

const answersOf = (valueOf: ValueOf) => {
  const recordOf = (name: string): NameEntry | undefined => {
    const value = valueOf(name)
    if (value === undefined) return undefined
    const place = { height: HEIGHT, txid: EMPTY, vout: 0, address: EMPTY, op: "name_update", amount: 0 } as const
    return { name: Buffer.from(name, "latin1"), value: Buffer.from(value, "latin1"), ...place }
  }
  return Layer.mock(NameAnswers, {
    fromWindow: () => false,
    atOnce: (name) => ({ record: recordOf(name), tipHeight: HEIGHT }),
    proofOfAbsence: () => "full",
    resolve: (name) =>
      Effect.sync(() => {
        const record = recordOf(Buffer.from(name).toString("latin1"))
        return record && { record, proof: "full" as const }
      }),
    height: Effect.succeed(HEIGHT),
    complete: Effect.succeed(true),
    ask: askWhile(() => true)
  })
}

/** A responder of the one zone that counts nothing. */
export const PLAIN_RESPONDER: Responder.ResponderOptions = {
  servers: [],
  suffixes: [],
  requireProof: "work",
  ttl: 600,
  version: "0",
  serial: () => 1,
  counters: { answered: () => {}, took: () => {}, cacheHit: () => {}, cacheBytes: () => {} }
}

/** A new key, and the zone's signer with it. */
export const newSigner = (): { readonly signer: ZoneSigner; readonly key: ZoneKey } => {
  const key = zoneKeyOf(newKeySecret(), 0)
  if (key === undefined) throw new Error("a new secret is not on the curve")
  const keys = [key]
  const now = (): number => Math.floor(Date.now() / 1000)
  return { signer: makeSigner({ zone: wireNameOfHost("bit."), keys: () => keys, now, onSigned: () => {} }), key }
}

export interface MemoryNode {
  readonly valueOf: ValueOf
  readonly signer?: ZoneSigner | undefined
  readonly forwarder?: Forwarder | undefined
}

export const memoryResponder = ({ forwarder, signer, valueOf }: MemoryNode): Layer.Layer<Responder.Responder> =>
  Responder.layer({ ...PLAIN_RESPONDER, signer, forwarder }).pipe(
    Layer.provide(answersOf(valueOf)),
    Layer.provide(DataHealth.layer),
    Layer.provide(LightPart.layerWhole),
    Layer.provide(Layer.mock(Chain, { params: regtestParams, tree: noTree })),
    Layer.provide(Layer.mock(SyncReporter, { report: Effect.succeed(REPORT) })),
    Layer.provide(Layer.mock(NameDb, {
      commits: Effect.succeed(new CommitSignal()),
      atOnce: () => undefined,
      follower: {
        name: "names",
        cursor: Effect.succeed(undefined),
        apply: () => Effect.void,
        rewind: () => Effect.void
      }
    }))
  )
