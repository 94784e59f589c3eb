import { Effect, Layer } from "effect"
import { SyncStatus } from "../../../../src/chain/SyncStatus.ts"
import { NameNotFound } from "../../../../src/names/errors.ts"
import { NameDb } from "../../../../src/names/NameDb.ts"
import type { NameEntry } from "../../../../src/names/NameEntry.ts"
import { equal } from "../../../../src/protocol/bytes.ts"
import { printable } from "../../../../src/protocol/nameText.ts"
import { nameWalletMethods } from "../../../../src/rpc/methods/wallet/nameWalletMethods.ts"
import { NodeOptions } from "../../../../src/rpc/NodeOptions.ts"
import * as DataHealth from "../../../../src/storage/DataHealth.ts"
import { callsOn, type FakeWallet, fakeWalletsLayer } from "../../../support/fakeWallet.ts"
import type { Calls } from "../../../support/methodNode.ts"
import { wholeAnswers } from "../../../support/wholeAnswers.ts"
import { chain, noFollower, TIP } from "./paying.ts"

const options = Layer.succeed(NodeOptions, {
  nameEncoding: "ascii",
  valueEncoding: "ascii",
  allowExpired: false,
  nameHistory: true,
  nameHashIndex: true
})

const namesOf = (records: ReadonlyArray<NameEntry>) =>
  Layer.mock(NameDb, {
    recent: () => undefined,
    follower: noFollower,
    cursor: Effect.succeed(TIP),
    resolve: (name) => {
      const record = records.find((record) => equal(record.name, name))
      return record === undefined
        ? Effect.fail(new NameNotFound({ requested: printable(name) }))
        : Effect.succeed(record)
    }
  })

/**
 * The name methods on some wallets, at a height of 200. `records` are the names of the chain, which is complete unless
 * it is `syncing`.
 */
export const namesOn = (
  wallets: ReadonlyArray<Pick<FakeWallet, "wallet">>,
  records: ReadonlyArray<NameEntry> = [],
  syncing = false
): Effect.Effect<Calls> =>
  Effect.map(
    Effect.provide(
      nameWalletMethods,
      Layer.provideMerge(
        wholeAnswers,
        Layer.mergeAll(
          chain,
          options,
          namesOf(records),
          fakeWalletsLayer(wallets.map(({ wallet }) => wallet)),
          Layer.mock(SyncStatus, { syncing: Effect.succeed(syncing), initialDownload: Effect.succeed(syncing) }),
          DataHealth.layer
        )
      )
    ),
    (methods) => callsOn(methods)
  )
