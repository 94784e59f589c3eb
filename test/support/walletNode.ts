import { Context, Effect, Layer, Logger } from "effect"
import { join } from "node:path"
import { Chain } from "../../src/chain/Chain.ts"
import * as SyncStatus from "../../src/chain/SyncStatus.ts"
import * as Mempool from "../../src/mempool/Mempool.ts"
import * as Miner from "../../src/mempool/mining/Miner.ts"
import { AnswerOptions } from "../../src/rpc/AnswerOptions.ts"
import type { Method } from "../../src/rpc/method/methodTable.ts"
import { walletMethods } from "../../src/rpc/methods/wallet/walletMethods.ts"
import * as DataHealth from "../../src/storage/DataHealth.ts"
import { Wallets } from "../../src/wallet/Wallets.ts"
import { chainLayer, temporaryDirectory } from "./chain.ts"
import { callsOn } from "./fakeWallet.ts"
import type { Calls } from "./methodNode.ts"
import { noPeers } from "./peers.ts"

/** The methods of wallets on a regtest chain of their own that has nothing but the genesis block. */
export interface WalletNode {
  readonly chain: typeof Chain.Service
  readonly pool: typeof Mempool.Mempool.Service
  readonly methods: ReadonlyArray<Method>
  /** Calls on the path of a wallet; on `/` where there is no name. */
  readonly on: (wallet?: string) => Calls
}

const OPTIONS: typeof AnswerOptions.Service = {
  nameEncoding: "ascii",
  valueEncoding: "ascii",
  allowExpired: false,
  nameHistory: true,
  nameHashIndex: true
}

/** Makes the methods for a node with these wallets. */
export const walletNode = (wallets: Context.Tag.Service<Wallets>) =>
  Effect.gen(function*() {
    const directory = yield* temporaryDirectory
    const context = yield* Layer.build(
      Miner.layer().pipe(
        Layer.provideMerge(Mempool.layer({ filename: undefined })),
        Layer.provideMerge(SyncStatus.layer({ offline: true })),
        Layer.provideMerge(DataHealth.layer),
        Layer.provideMerge(chainLayer(join(directory))),
        Layer.merge(noPeers),
        Layer.provide(Logger.remove(Logger.defaultLogger))
      )
    )
    const methods = yield* walletMethods.pipe(
      Effect.provideService(Wallets, wallets),
      Effect.provideService(AnswerOptions, OPTIONS),
      Effect.provide(context)
    )
    const node: WalletNode = {
      chain: Context.get(context, Chain),
      pool: Context.get(context, Mempool.Mempool),
      methods,
      on: (wallet) => callsOn(methods, wallet)
    }
    return node
  })
