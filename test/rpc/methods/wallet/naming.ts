import { Effect, Layer } from "effect"
import { SyncStatus } from "../../../../src/chain/SyncStatus.ts"
import { NameAnswers } from "../../../../src/light/NameAnswers.ts"
import type { SyncReport } from "../../../../src/light/syncReport.ts"
import { SyncReporter } from "../../../../src/light/SyncReporter.ts"
import { NameNotFound, requestedName } from "../../../../src/names/errors.ts"
import { NameDb } from "../../../../src/names/NameDb.ts"
import type { NameEntry } from "../../../../src/names/NameEntry.ts"
import { equal } from "../../../../src/protocol/bytes.ts"
import { AnswerOptions } from "../../../../src/rpc/AnswerOptions.ts"
import { nameWalletMethods } from "../../../../src/rpc/methods/wallet/nameWalletMethods.ts"
import * as DataHealth from "../../../../src/storage/DataHealth.ts"
import { callsOn, type FakeWallet, fakeWalletsLayer } from "../../../support/fakeWallet.ts"
import type { Calls } from "../../../support/methodNode.ts"
import { wholeAnswers } from "../../../support/wholeAnswers.ts"
import { chain, noFollower, TIP } from "./paying.ts"

const options = Layer.succeed(AnswerOptions, {
  nameEncoding: "ascii",
  valueEncoding: "ascii",
  allowExpired: false,
  nameHistory: true,
  nameHashIndex: true
})

const namesOf = (records: ReadonlyArray<NameEntry>) =>
  Layer.mock(NameDb, {
    atOnce: () => undefined,
    follower: noFollower,
    cursor: Effect.succeed(TIP),
    resolve: (name) => {
      const record = records.find((record) => equal(record.name, name))
      return record === undefined
        ? Effect.fail(new NameNotFound(requestedName(name)))
        : Effect.succeed(record)
    }
  })

const windowAnswers = Layer.mock(NameAnswers, {
  fromWindow: () => true,
  proofOfAbsence: () => "signatures",
  atOnce: () => undefined
})

/** The report of a light start whose window is not complete. */
const filling = Layer.mock(SyncReporter, {
  report: Effect.succeed<SyncReport>({
    phase: "window",
    proof: "work",
    height: 150,
    headers: 200,
    synced: false,
    percent: 50,
    secondsLeft: 10,
    window: { blocks: 65, of: 130, names: 3, unchecked: 3 }
  })
})

/**
 * The name methods on some wallets, at a height of 200. `records` are the names of the chain, which is complete unless
 * it is `syncing`; with "window", a light start answers. The chain is that of regtest unless another is given.
 */
export const namesOn = (
  wallets: ReadonlyArray<Pick<FakeWallet, "wallet">>,
  records: ReadonlyArray<NameEntry> = [],
  syncing: boolean | "window" = false,
  chainOf = chain
): Effect.Effect<Calls> =>
  Effect.map(
    Effect.provide(
      nameWalletMethods,
      Layer.provideMerge(
        wholeAnswers,
        Layer.mergeAll(
          chainOf,
          options,
          namesOf(records),
          fakeWalletsLayer(wallets.map(({ wallet }) => wallet)),
          Layer.mock(SyncStatus, {
            syncing: Effect.succeed(syncing !== false),
            initialDownload: Effect.succeed(syncing !== false)
          }),
          DataHealth.layer
        )
      ).pipe((layers) =>
        syncing === "window"
          ? Layer.mergeAll(layers, windowAnswers, filling)
          : layers
      )
    ),
    (methods) => callsOn(methods)
  )
